#include "query/rhythm.h"

#include <gtest/gtest.h>

namespace stoker::query {
namespace {

using ledger::Sample;

WallTime At(double seconds) { return WallTime{static_cast<int64_t>(seconds * 1000)}; }

// 300 s at 1 Hz: start-up to 50 s, then work with a pause of 10 s every 40 s, over at 280 s. In a
// pause card 0 is idle and the other one spins.
CardSamples Paused(bool writer) {
  CardSamples s;
  for (int t = 0; t < 300; ++t) {
    const bool works = t >= 50 && t < 280;
    const bool pause = works && (t - 50) % 40 >= 30;
    s.memory.push_back({At(t), works ? 40e9 : 1e9});
    s.power.push_back({At(t), !works ? 60.0 : pause ? 150.0 : 500.0});
    s.busy.push_back({At(t), !works || (pause && writer) ? 0.0 : 1.0});
  }
  return s;
}

std::optional<Rhythm> RhythmOf(const std::vector<CardSamples>& cards, double to = 300) {
  RhythmBuilder builder({At(0), At(to)});
  for (size_t i = 0; i < cards.size(); ++i) builder.Add(static_cast<int>(i), cards[i]);
  return builder.Finish();
}

TEST(RhythmTest, PausesAreCountedInTheWorkingTimeAlone) {
  const auto rhythm = RhythmOf({Paused(true), Paused(false)});
  ASSERT_TRUE(rhythm);
  EXPECT_EQ(rhythm->from, At(50));
  EXPECT_EQ(rhythm->to, At(280));
  EXPECT_EQ(rhythm->stalls.size(), 5u);
  EXPECT_NEAR(*rhythm->stall_median_s, 10, 1e-9);
  EXPECT_NEAR(*rhythm->stall_period_s, 40, 1e-9);
  EXPECT_NEAR(rhythm->stalled_s, 50, 1e-9);
  EXPECT_NEAR(*rhythm->stall_power_w, 300, 1e-3);
  EXPECT_NEAR(rhythm->power_mean_w, (180 * 1000 + 50 * 300) / 230.0, 1e-6);
  EXPECT_NEAR(*rhythm->busy_mean_ratio, (180 + 25) / 230.0, 1e-6);
}

TEST(RhythmTest, TheCardThatTheOthersWaitForIsTheOneThatIsNotBusy) {
  const auto rhythm = RhythmOf({Paused(true), Paused(false)});
  ASSERT_EQ(rhythm->stall_busy_ratio.size(), 2u);
  EXPECT_EQ(rhythm->stall_busy_ratio[0], std::make_pair(0, 0.0));
  EXPECT_EQ(rhythm->stall_busy_ratio[1], std::make_pair(1, 1.0));
}

TEST(RhythmTest, OfTwoPeriodsTheMedianLiesBetween) {
  CardSamples s;
  for (int t = 0; t < 300; ++t) {
    const bool pause = (t >= 50 && t < 60) || (t >= 150 && t < 160) || (t >= 200 && t < 210);
    s.power.push_back({At(t), pause ? 100.0 : 500.0});
  }
  EXPECT_NEAR(*RhythmOf({s})->stall_period_s, 75, 1e-9);
}

TEST(RhythmTest, ASteadyRunHasNone) {
  CardSamples s;
  for (int t = 0; t < 300; ++t) s.power.push_back({At(t), 500.0});
  const auto rhythm = RhythmOf({s});
  ASSERT_TRUE(rhythm);
  EXPECT_TRUE(rhythm->stalls.empty());
  EXPECT_FALSE(rhythm->busy_mean_ratio);
}

TEST(RhythmTest, UnreadTimeIsNoPause) {
  CardSamples s;
  for (int t = 0; t < 300; ++t) {
    s.power.push_back(t >= 100 && t < 150 ? Sample{At(t), 0, Absence::kTimeout}
                                          : Sample{At(t), 500.0});
  }
  EXPECT_TRUE(RhythmOf({s})->stalls.empty());
}

TEST(RhythmTest, RareReadsTellNoPauses) {
  CardSamples s;
  for (int i = 0; i < 60; ++i) s.power.push_back({At(30.0 * i), i % 5 == 4 ? 50.0 : 500.0});
  const auto rhythm = RhythmOf({s}, 1800);
  ASSERT_TRUE(rhythm);
  EXPECT_TRUE(rhythm->stalls.empty());
}

TEST(RhythmTest, TooLittleSaysNothing) {
  CardSamples s;
  for (int t = 0; t < 20; ++t) s.power.push_back({At(t), 500.0});
  EXPECT_FALSE(RhythmOf({s}, 20));
  EXPECT_FALSE(RhythmBuilder({At(0), At(10)}).Finish());
}

}  // namespace
}  // namespace stoker::query
