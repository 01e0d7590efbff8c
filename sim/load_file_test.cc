#include "sim/load_file.h"

#include <gtest/gtest.h>

namespace stoker::sim {
namespace {

TEST(LoadFile, SteadyLoadRoundTrips) {
  const auto file = ParseLoadFile(FormatLoad(77, {0.5, 0.25, 0.6, 1e9}), "load");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->pid, 77);
  EXPECT_EQ(file->At(1e6).power_ratio, 0.6);
  EXPECT_EQ(file->At(0).memory_bytes, 1e9);
}

TEST(LoadFile, PhasesFollowEachOther) {
  const std::string phases =
      R"("memory_bytes":5,"phases":[{"wall_s":10,"busy_ratio":0},{"wall_s":20,"busy_ratio":0.9}])";
  const auto once = ParseLoadFile("{" + phases + "}", "load");
  ASSERT_TRUE(once);
  EXPECT_EQ(once->At(9.9).busy_ratio, 0);
  EXPECT_EQ(once->At(10).busy_ratio, 0.9);
  EXPECT_EQ(once->At(1000).busy_ratio, 0.9);  // the last one stays
  EXPECT_EQ(once->At(15).memory_bytes, 5);    // what a phase does not say holds
  const auto again = ParseLoadFile("{" + phases + R"(,"repeat":true})", "load");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->At(31).busy_ratio, 0);
  EXPECT_EQ(again->At(-5).busy_ratio, 0);
}

TEST(LoadFile, EmptyPhasesAreHarmless) {
  const auto file =
      ParseLoadFile(R"({"busy_ratio":0.5,"phases":[{"wall_s":0}],"repeat":true})", "x");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->At(3).busy_ratio, 0.5);
}

TEST(LoadFile, MistakesAreRefused) {
  EXPECT_FALSE(ParseLoadFile("", "x"));
  EXPECT_FALSE(ParseLoadFile("[]", "x"));
  EXPECT_FALSE(ParseLoadFile(R"({"busy_ratio":2})", "x"));
  EXPECT_FALSE(ParseLoadFile(R"({"busy_ratio":"high"})", "x"));
  EXPECT_FALSE(ParseLoadFile(R"({"memory_bytes":-1})", "x"));
  EXPECT_FALSE(ParseLoadFile(R"({"phases":{}})", "x"));
  EXPECT_FALSE(ParseLoadFile(R"({"phases":[1]})", "x"));
}

}  // namespace
}  // namespace stoker::sim
