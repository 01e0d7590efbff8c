#include "ledger/metrics.h"

#include <gtest/gtest.h>

#include <set>

namespace stoker::ledger {
namespace {

TEST(MetricsTest, EveryMetricIsFoundByNameAndNumber) {
  std::set<std::string_view> names;
  for (const MetricInfo& info : AllMetrics()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_EQ(FindMetric(info.name), info.metric);
    EXPECT_EQ(MetricFromId(static_cast<int64_t>(info.metric)), info.metric);
    EXPECT_EQ(&Info(info.metric), &info);
    EXPECT_FALSE(info.sentence.empty());
    EXPECT_GT(info.scale, 0);
  }
  EXPECT_GE(names.size(), 30u);
}

TEST(MetricsTest, UnknownOnesAreNot) {
  EXPECT_FALSE(FindMetric("power"));
  EXPECT_FALSE(FindMetric(""));
  EXPECT_FALSE(MetricFromId(0));
  EXPECT_FALSE(MetricFromId(65'000));
}

TEST(MetricsTest, UnitsAreInTheNames) {
  EXPECT_EQ(Info(Metric::kPowerW).unit, "W");
  EXPECT_EQ(Info(Metric::kEnergyJ).kind, MetricKind::kCounter);
  EXPECT_EQ(Info(Metric::kCoreBusyRatio).scope, Scope::kCore);
  EXPECT_EQ(ScopeName(Scope::kDisk), "disk");
}

}  // namespace
}  // namespace stoker::ledger
