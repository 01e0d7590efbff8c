#include "query/card_use.h"

#include <gtest/gtest.h>

#include "query/throttle.h"

namespace stoker::query {
namespace {

WallTime At(double seconds) { return WallTime{static_cast<int64_t>(seconds * 1000)}; }
Window Between(double from, double to) { return {At(from), At(to)}; }

// 100 s at 1 Hz: 80 % busy, 400 W, a counter that agrees.
CardSamples Plain() {
  CardSamples s;
  for (int t = 0; t <= 100; ++t) {
    s.busy.push_back({At(t), 0.8});
    s.power.push_back({At(t), 400});
    s.energy.push_back({At(t), 1e6 + 400.0 * t});
    s.temperature.push_back({At(t), 60 + t / 10.0});
    s.margin.push_back({At(t), 30 - t / 10.0});
    s.memory.push_back({At(t), 1e9 * t});
    s.limit.push_back({At(t), 600});
    s.throttle.push_back({At(t), 0});
  }
  s.throttled_s.resize(ThrottleReasons().size());
  return s;
}

TEST(CardUseTest, MeansPeaksAndEnergyOfAPlainRun) {
  const CardUse use = UseOfCard(Plain(), Between(0, 100));
  EXPECT_EQ(use.samples, 101);
  EXPECT_EQ(use.unread, 0);
  EXPECT_NEAR(*use.busy_mean_ratio, 0.8, 1e-9);
  EXPECT_NEAR(*use.power_mean_w, 400, 1e-9);
  EXPECT_NEAR(*use.power_peak_w, 400, 1e-9);
  EXPECT_NEAR(*use.energy_j, 40'000, 1e-6);
  EXPECT_NEAR(*use.energy_integral_j, 40'000, 400);
  EXPECT_NEAR(*use.temperature_max_c, 70, 1e-9);
  EXPECT_NEAR(*use.margin_min_c, 20, 1e-9);
  EXPECT_NEAR(*use.memory_peak_bytes, 100e9, 1);
  EXPECT_NEAR(*use.limit_w, 600, 1e-9);
  EXPECT_NEAR(*use.period_s, 1, 1e-9);
}

TEST(CardUseTest, SamplesAreCutToTheWindow) {
  const CardUse use = UseOfCard(Plain(), Between(20, 30));
  EXPECT_EQ(use.samples, 11);
  EXPECT_NEAR(*use.temperature_max_c, 63, 1e-9);
  EXPECT_NEAR(*use.energy_j, 4000, 1e-6);
}

TEST(CardUseTest, AReadThatGaveNothingIsUnreadNotZero) {
  CardSamples s = Plain();
  for (int t = 40; t < 60; ++t) {
    s.busy[t].absence = Absence::kLost;
    s.power[t].absence = Absence::kLost;
  }
  s.busy[70].absence = Absence::kTimeout;  // power still answered: a read
  const CardUse use = UseOfCard(s, Between(0, 100));
  EXPECT_EQ(use.samples, 81);
  EXPECT_EQ(use.unread, 20);
  EXPECT_NEAR(*use.busy_mean_ratio, 0.8, 1e-9);
}

TEST(CardUseTest, ThrottleBySampleAndByTheCardsOwnSeconds) {
  CardSamples s = Plain();
  s.throttle[10].value = 0x4;
  s.throttle[11].value = 0x4 | 0x40;
  s.throttle[12].value = 0x1;   // idle: costs nothing
  s.throttle[13].value = 0x10;  // sync boost: costs nothing
  s.throttled_s[0] = {{At(0), 5.0}, {At(50), 7.5}, {At(100), 7.5}};
  s.throttled_s[4] = {{At(0), 1.0}, {At(100), 1.25}};  // a brake no read saw
  const CardUse use = UseOfCard(s, Between(0, 100));
  EXPECT_EQ(use.throttled_samples, 2);
  ASSERT_EQ(use.throttle.size(), 3u);
  EXPECT_EQ(use.throttle[0].reason, "power_cap");
  EXPECT_EQ(use.throttle[0].samples, 2);
  EXPECT_NEAR(*use.throttle[0].seconds, 2.5, 1e-9);
  EXPECT_NEAR(*use.throttle[0].first_s, 10, 1e-9);
  EXPECT_NEAR(*use.throttle[0].last_s, 11, 1e-9);
  EXPECT_EQ(use.throttle[1].reason, "hw_thermal");
  EXPECT_FALSE(use.throttle[1].seconds.has_value());
  EXPECT_EQ(use.throttle[2].reason, "power_brake");
  EXPECT_EQ(use.throttle[2].samples, 0);
  EXPECT_NEAR(*use.throttle[2].seconds, 0.25, 1e-9);
  EXPECT_FALSE(use.throttle[2].first_s.has_value());
}

TEST(CardUseTest, TheIntegralSpeaksWhereTheCounterCoversLess) {
  CardSamples s = Plain();
  for (size_t i = 20; i < s.energy.size(); ++i) s.energy[i].absence = Absence::kError;
  const CardUse use = UseOfCard(s, Between(0, 100));
  EXPECT_NEAR(*use.energy_j, 40'000, 400);
  EXPECT_EQ(*use.energy_j, *use.energy_integral_j);
}

TEST(CardUseTest, TheCounterBridgesTimeNobodyReadThePower) {
  CardSamples s = Plain();
  for (int t = 30; t < 80; ++t) s.power[t].absence = s.energy[t].absence = Absence::kNotYet;
  const CardUse use = UseOfCard(s, Between(0, 100));
  EXPECT_NEAR(*use.energy_j, 40'000, 1e-6);
  EXPECT_NEAR(*use.energy_integral_j, 20'000, 500);
}

TEST(CardUseTest, AJobOfOneReadHasNoEnergy) {
  CardSamples s;
  s.busy = {{At(1), 0.5}};
  s.power = {{At(1), 100}};
  const CardUse use = UseOfCard(s, Between(0.5, 1.5));
  EXPECT_EQ(use.samples, 1);
  EXPECT_FALSE(use.energy_j.has_value());
}

TEST(CardUseTest, TotalsWeighEachCardByItsReads) {
  CardUse a, b, lost;
  a.samples = 30, a.busy_mean_ratio = 1.0, a.power_mean_w = 300, a.power_peak_w = 310,
  a.energy_j = 1;
  b.samples = 10, b.busy_mean_ratio = 0.0, b.power_mean_w = 100, b.power_peak_w = 110,
  b.energy_j = 2;
  lost.unread = 40;
  const UseTotal total = TotalOf({a, b, lost});
  EXPECT_EQ(total.samples, 40);
  EXPECT_EQ(total.unread, 40);
  EXPECT_NEAR(*total.busy_mean_ratio, 0.75, 1e-9);
  EXPECT_NEAR(*total.power_mean_w, 250, 1e-9);
  EXPECT_NEAR(*total.power_peak_w, 310, 1e-9);
  EXPECT_NEAR(*total.gpu_energy_j, 3, 1e-9);
  EXPECT_FALSE(TotalOf({}).gpu_energy_j.has_value());
}

}  // namespace
}  // namespace stoker::query
