#include "sim/card_model.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stoker::sim {
namespace {

CardState After(const CardSpec& spec, const Load& load, double seconds) {
  CardState state = StartState(spec);
  for (int i = 0; i < std::lround(seconds * 10); ++i) Step(spec, load, 0.1, state);
  return state;
}

TEST(CardModel, IdleStaysIdle) {
  const CardSpec spec;
  const CardState state = After(spec, {}, 100);
  EXPECT_NEAR(state.power_average_w, spec.idle_w, 1e-6);
  EXPECT_NEAR(state.energy_mj, spec.idle_w * 100 * 1000, 1000);
  EXPECT_NEAR(state.temperature_c, 30 + 0.086 * 45, 0.01);
}

TEST(CardModel, WarmsWithItsTimeConstant) {
  CardSpec spec;
  spec.time_constant_s = 50;
  const Load load = {1, 0, 0.5, 0};
  const double cold = StartState(spec).temperature_c;
  const double settled = After(spec, load, 1000).temperature_c;
  const double at_constant = After(spec, load, 50).temperature_c;
  EXPECT_NEAR((at_constant - cold) / (settled - cold), 1 - std::exp(-1), 0.01);
}

TEST(CardModel, TheWarmNightOfARealBoxLooksAlike) {
  // 415 W made about 65 °C and 520 W about 75 °C on a real chassis.
  const CardSpec spec;
  const auto heat = [&](double watts) {
    const double effort = (watts - spec.idle_w) / (spec.draw_max_w - spec.idle_w);
    return After(spec, {0.86, 0.4, effort, 0}, 600).temperature_c;
  };
  EXPECT_NEAR(heat(415), 65, 2);
  EXPECT_NEAR(heat(520), 75, 2);
}

TEST(CardModel, ALimitHoldsPowerAndLowersClocks) {
  CardSpec spec;
  CardState state = StartState(spec);
  state.limit_w = 200;
  const CardView view = Look(spec, state, {1, 0, 1, 0});
  EXPECT_DOUBLE_EQ(view.power_w, 200);
  EXPECT_EQ(view.reasons, 0x4u);
  EXPECT_LT(view.sm_clock_mhz, spec.sm_clock_max_mhz * 0.7);
  const CardView light = Look(spec, state, {1, 0, 0.1, 0});
  EXPECT_EQ(light.reasons, 0u);
  EXPECT_DOUBLE_EQ(light.sm_clock_mhz, spec.sm_clock_max_mhz);
}

TEST(CardModel, HeatTakesPowerBeforeTheThreshold) {
  CardSpec spec;
  spec.ambient_c = 70;
  const CardState hot = After(spec, {1, 0, 1, 0}, 2000);
  EXPECT_LE(hot.temperature_c, spec.slowdown_c);
  EXPECT_GT(hot.sw_thermal_ns, 1'000'000'000u);
  EXPECT_LT(hot.power_average_w, 500);
}

TEST(CardModel, TwoProcessesOverlap) {
  const Load sum = Load{0.5, 0, 0.7, 10} + Load{0.5, 0, 0.7, 5};
  EXPECT_DOUBLE_EQ(sum.busy_ratio, 0.75);
  EXPECT_DOUBLE_EQ(sum.power_ratio, 1);
  EXPECT_DOUBLE_EQ(sum.memory_bytes, 15);
}

TEST(CardModel, NoiseRepeatsAndStaysInBounds) {
  double sum = 0;
  for (int64_t i = 0; i < 1000; ++i) {
    const double n = Noise(1, 2, i * 100'000'000);
    ASSERT_LE(std::abs(n), 1);
    ASSERT_EQ(n, Noise(1, 2, i * 100'000'000));
    sum += n;
  }
  EXPECT_LT(std::abs(sum / 1000), 0.1);
}

}  // namespace
}  // namespace stoker::sim
