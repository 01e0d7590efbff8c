#include "query/throttle.h"

#include <gtest/gtest.h>

namespace stoker::query {
namespace {

TEST(ThrottleTest, OnlyReasonsThatCostSpeedAreNamed) {
  EXPECT_TRUE(ThrottleNames(0x1).empty());                 // idle
  EXPECT_TRUE(ThrottleNames(0x2 | 0x10 | 0x100).empty());  // as asked for
  EXPECT_EQ(ThrottleNames(0x4 | 0x1 | 0x40), (std::vector<std::string>{"power_cap", "hw_thermal"}));
}

TEST(ThrottleTest, TheMaskIsTheSumOfTheReasons) {
  uint64_t bits = 0;
  for (const ThrottleReason& reason : ThrottleReasons()) bits |= reason.bit;
  EXPECT_EQ(bits, kThrottling);
}

TEST(ThrottleTest, WordsForSentences) {
  EXPECT_EQ(ThrottleWords("power_cap"), "the power cap");
  EXPECT_EQ(ThrottleWords("0x200"), "0x200");
}

}  // namespace
}  // namespace stoker::query
