#include "query/integrate.h"

#include <gtest/gtest.h>

namespace stoker::query {
namespace {

using ledger::Sample;

WallTime At(double seconds) { return WallTime{static_cast<int64_t>(seconds * 1000)}; }
Window Between(double from, double to) { return {At(from), At(to)}; }

std::vector<Sample> Steady(double watts, double from, double to, double step) {
  std::vector<Sample> out;
  for (double t = from; t <= to; t += step) out.push_back({At(t), watts});
  return out;
}

TEST(IntegrateTest, SteadyPowerIsPowerTimesTime) {
  const Sum sum = IntegrateGauge(Steady(400, 0, 3600, 30), Between(0, 3600));
  EXPECT_NEAR(*sum.value, 400 * 3600, 1e-6);
  EXPECT_NEAR(sum.gap_s, 0, 1e-9);
}

TEST(IntegrateTest, EachSampleStandsForOnePeriodAfterAGap) {
  auto samples = Steady(100, 0, 59, 1);
  const auto later = Steady(100, 600, 659, 1);
  samples.insert(samples.end(), later.begin(), later.end());
  const Sum sum = IntegrateGauge(samples, Between(0, 660));
  EXPECT_NEAR(*sum.value, 100 * 120, 1e-6);
  EXPECT_NEAR(sum.gap_s, 540, 1e-6);
}

TEST(IntegrateTest, AbsentReadsAreGapsNotZeros) {
  auto samples = Steady(100, 0, 99, 1);
  for (size_t i = 50; i < 75; ++i) samples[i].absence = Absence::kTimeout;
  const Sum sum = IntegrateGauge(samples, Between(0, 100));
  EXPECT_NEAR(*sum.value, 100 * 75, 1e-6);
  EXPECT_NEAR(sum.gap_s, 25, 1e-6);
}

TEST(IntegrateTest, OneSampleSaysNothing) {
  EXPECT_FALSE(IntegrateGauge({{At(1), 300}}, Between(0, 2)).value.has_value());
  EXPECT_FALSE(IntegrateGauge({}, Between(0, 2)).value.has_value());
}

TEST(CounterTest, EdgesCountInProportion) {
  std::vector<Sample> counter;
  for (int t = 0; t <= 20; ++t) counter.push_back({At(t), 1000.0 + 50 * t});
  const Sum sum = CounterRise(counter, Between(4.5, 10.25), 5000);
  EXPECT_NEAR(*sum.value, 50 * 5.75, 1e-6);
  EXPECT_NEAR(sum.covered_s, 5.75, 1e-6);
}

TEST(CounterTest, RisesAcrossAGapAreStillKnown) {
  const std::vector<Sample> counter = {{At(0), 0}, {At(1), 100}, {At(1001), 100'100}};
  EXPECT_NEAR(*CounterRise(counter, Between(0, 1001), 5000).value, 100'100, 1e-6);
}

TEST(CounterTest, AResetBeginsAgainAtZero) {
  const std::vector<Sample> counter = {
      {At(0), 9000}, {At(1), 9100}, {At(2), 40}, {At(3), 140}, {At(4), 240}};
  const Sum sum = CounterRise(counter, Between(0, 4), 5000);
  EXPECT_NEAR(*sum.value, 100 + 40 + 100 + 100, 1e-6);
  EXPECT_EQ(sum.resets, 1);
}

TEST(CounterTest, ASmallStepBackOfALargeCounterIsNotTakenForAReset) {
  const std::vector<Sample> counter = {{At(0), 5e9}, {At(1), 5e9 - 1}, {At(2), 5e9 + 99}};
  const Sum sum = CounterRise(counter, Between(0, 2), 5000);
  EXPECT_NEAR(*sum.value, 100, 1e-6);
  EXPECT_NEAR(sum.gap_s, 1, 1e-6);
}

TEST(CounterTest, AnImpossibleLeapIsLeftOut) {
  const std::vector<Sample> counter = {
      {At(0), 0}, {At(1), 100}, {At(2), 1e12}, {At(3), 1e12 + 100}};
  const Sum sum = CounterRise(counter, Between(0, 3), 5000);
  EXPECT_NEAR(*sum.value, 200, 1e-6);
  EXPECT_NEAR(sum.covered_s, 2, 1e-6);
}

TEST(CounterTest, NothingOutsideTheWindowCounts) {
  const std::vector<Sample> counter = {{At(0), 0}, {At(1), 100}};
  EXPECT_FALSE(CounterRise(counter, Between(5, 9), 5000).value.has_value());
  EXPECT_FALSE(CounterRise({{At(5), 7}}, Between(0, 9), 5000).value.has_value());
}

TEST(MedianStepTest, IsThePeriodOfMostReads) {
  EXPECT_FALSE(MedianStep({{At(0), 1}}).has_value());
  EXPECT_NEAR(*MedianStep({{At(0), 1}, {At(1), 1}, {At(2), 1}, {At(90), 1}}), 1, 1e-9);
}

}  // namespace
}  // namespace stoker::query
