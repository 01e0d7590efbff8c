#include "collect/own_cost.h"

#include <gtest/gtest.h>

#include "base/durable_file.h"
#include "base/file.h"

namespace stoker::collect {
namespace {

TEST(OwnCostTest, TheFirstReadHasMemoryAlone) {
  OwnCost cost;
  const auto first = cost.Read(MonoTime{1'000'000'000});
  EXPECT_GT(first.memory->value, 1e6);
  EXPECT_EQ(first.cpu_ratio.absence(), Absence::kNotYet);
  const auto second = cost.Read(MonoTime{2'000'000'000});
  ASSERT_TRUE(second.cpu_ratio);
  EXPECT_GE(*second.cpu_ratio, 0);
}

TEST(OwnCostTest, OddFilesAreAReason) {
  const TempDir dir = TempDir::Make().value();
  for (const char* text : {"", "12", "12 x 3", "12 -5 3"}) {
    ASSERT_TRUE(WriteDurably(dir.path() + "/statm", text));
    OwnCost cost(dir.path());
    EXPECT_EQ(cost.Read(MonoTime{1}).memory.absence(), Absence::kError) << text;
  }
  OwnCost nowhere(dir.path() + "/nowhere");
  EXPECT_EQ(nowhere.Read(MonoTime{1}).memory.absence(), Absence::kError);
}

}  // namespace
}  // namespace stoker::collect
