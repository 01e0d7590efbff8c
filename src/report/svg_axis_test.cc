#include "report/svg_axis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace stoker::report {
namespace {

std::string Labels(const Axis& axis) {
  std::string out;
  for (const Tick& tick : axis.ticks) out += (out.empty() ? "" : " ") + tick.label;
  return out;
}
WallTime Time(const char* text) { return ParseTime(text).value(); }

TEST(AxisTest, ValueTicksAreRoundNumbers) {
  EXPECT_EQ(Labels(ValueAxis(0, 600, 4, "W")), "0 200 400 600");
  EXPECT_EQ(Labels(ValueAxis(0.03, 0.527, 6, "")), "0.0 0.1 0.2 0.3 0.4 0.5 0.6");
  EXPECT_EQ(Labels(ValueAxis(-3, 7, 5, "")), "-4 -2 0 2 4 6 8");
  EXPECT_EQ(Labels(ValueAxis(0, 12000, 4, "")), "0 5,000 10,000 15,000");
}

TEST(AxisTest, OddRangesStillGiveAnAxis) {
  for (const auto& [low, high] : std::vector<std::pair<double, double>>{
           {5, 5},
           {0, 0},
           {NAN, NAN},
           {-INFINITY, INFINITY},
           {7, 3},
           {1e-300, 2e-300},
           {-std::numeric_limits<double>::max(), std::numeric_limits<double>::max()}}) {
    const Axis axis = ValueAxis(low, high, 5, "");
    EXPECT_LT(axis.from, axis.to) << low << " " << high;
    EXPECT_TRUE(std::isfinite(axis.from) && std::isfinite(axis.to)) << low << " " << high;
    EXPECT_LE(axis.ticks.size(), 100u);
    EXPECT_LT(TightAxis(low, high, 5, "").from, TightAxis(low, high, 5, "").to);
  }
}

TEST(AxisTest, EpochsEndWhereTheyEnd) {
  const Axis axis = TightAxis(1, 600, 8, "epoch");
  EXPECT_EQ(axis.from, 1);
  EXPECT_EQ(axis.to, 600);
  EXPECT_EQ(Labels(axis), "100 200 300 400 500 600");
  EXPECT_EQ(Labels(TightAxis(1, 3, 8, "epoch")), "1 2 3");  // no half epochs
}

TEST(AxisTest, TimesFallOnTheClockAndMidnightNamesTheDay) {
  const Axis night = TimeAxis(Time("2026-10-18T06:35:00Z"), Time("2026-10-19T01:45:18Z"), 10);
  EXPECT_EQ(Labels(night), "08:00 10:00 12:00 14:00 16:00 18:00 20:00 22:00 19 Oct");
  EXPECT_EQ(night.unit, "UTC");
  const Axis minute = TimeAxis(Time("2026-10-18T06:35:07Z"), Time("2026-10-18T06:36:00Z"), 6);
  EXPECT_EQ(Labels(minute), "06:35:10 06:35:20 06:35:30 06:35:40 06:35:50 06:36:00");
  const Axis month = TimeAxis(Time("2026-10-01T12:00:00Z"), Time("2026-10-29T12:00:00Z"), 6);
  EXPECT_LE(month.ticks.size(), 6u);
  EXPECT_GE(month.ticks.size(), 3u);
}

TEST(AxisTest, AnEmptyOrEndlessWindowIsHarmless) {
  EXPECT_LT(TimeAxis(WallTime{5}, WallTime{5}, 10).from, TimeAxis(WallTime{5}, WallTime{5}, 10).to);
  EXPECT_LE(TimeAxis(WallTime{0}, WallTime{4'000'000'000'000'000}, 10).ticks.size(), 102u);
}

}  // namespace
}  // namespace stoker::report
