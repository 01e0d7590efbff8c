#include "sim/card_model.h"

#include <algorithm>
#include <cmath>

namespace stoker::sim {
namespace {

constexpr uint64_t kGpuIdle = 0x1, kPowerCap = 0x4, kHwSlowdown = 0x8, kSwThermal = 0x20,
                   kHwThermal = 0x40;

// Power grows a little faster than the square of the clock, voltage and frequency together.
constexpr double kPowerOfClock = 2.4;
// The driver eases off over the last degrees before the threshold; the hardware acts beyond it.
constexpr double kSoftBandC = 2;
constexpr double kHardSlowdown = 0.25;  // share of the dynamic power that is left then
constexpr double kAverageS = 0.4;       // time constant of the one-second mean

}  // namespace

Load operator+(const Load& a, const Load& b) {
  Load sum;
  sum.busy_ratio = 1 - (1 - a.busy_ratio) * (1 - b.busy_ratio);
  sum.memory_busy_ratio = 1 - (1 - a.memory_busy_ratio) * (1 - b.memory_busy_ratio);
  sum.power_ratio = std::min(1.0, a.power_ratio + b.power_ratio);
  sum.memory_bytes = a.memory_bytes + b.memory_bytes;
  return sum;
}

CardState StartState(const CardSpec& spec) {
  CardState state;
  state.temperature_c = spec.ambient_c + spec.thermal_resistance_c_per_w * spec.idle_w;
  state.power_average_w = spec.idle_w;
  state.limit_w = spec.limit_w;
  return state;
}

CardView Look(const CardSpec& spec, const CardState& state, const Load& load) {
  CardView view;
  view.load = load;
  const double dynamic = std::max(0.0, spec.draw_max_w - spec.idle_w) * load.power_ratio;
  const double to_limit = std::max(0.0, state.limit_w - spec.idle_w);
  double allowed = std::min(dynamic, to_limit);
  const bool works = load.busy_ratio > 0 || load.power_ratio > 0;
  if (works && dynamic > to_limit) view.reasons |= kPowerCap;
  const double margin = spec.slowdown_c - state.temperature_c;
  if (works && margin < 0) {
    view.reasons |= kHwThermal | kHwSlowdown;
    allowed = std::min(allowed, dynamic * kHardSlowdown);
  } else if (works && margin < kSoftBandC) {
    const double soft = to_limit * margin / kSoftBandC;
    if (soft < allowed) view.reasons |= kSwThermal;
    allowed = std::min(allowed, soft);
  }
  view.power_w = spec.idle_w + allowed;
  if (!works) {
    view.reasons |= kGpuIdle;
    view.sm_clock_mhz = spec.sm_clock_idle_mhz;
    view.memory_clock_mhz = spec.memory_clock_idle_mhz;
    return view;
  }
  const double ratio = dynamic > 0 ? std::pow(allowed / dynamic, 1 / kPowerOfClock) : 1;
  view.sm_clock_mhz = std::max(spec.sm_clock_idle_mhz, spec.sm_clock_max_mhz * ratio);
  view.memory_clock_mhz = spec.memory_clock_max_mhz;
  return view;
}

void Step(const CardSpec& spec, const Load& load, double seconds, CardState& state) {
  const CardView view = Look(spec, state, load);
  const double settled = spec.ambient_c + spec.thermal_resistance_c_per_w * view.power_w;
  // Both follow the closed form, so that a long step is no less stable than a short one.
  state.temperature_c +=
      (settled - state.temperature_c) * -std::expm1(-seconds / spec.time_constant_s);
  state.power_average_w +=
      (view.power_w - state.power_average_w) * -std::expm1(-seconds / kAverageS);
  state.energy_mj += view.power_w * seconds * 1000;
  const auto ns = static_cast<uint64_t>(std::llround(seconds * 1e9));
  if (view.reasons & kPowerCap) state.power_cap_ns += ns;
  if (view.reasons & kSwThermal) state.sw_thermal_ns += ns;
  if (view.reasons & kHwThermal) state.hw_thermal_ns += ns;
}

double Noise(int card, int quantity, int64_t sim_ns) {
  uint64_t x = static_cast<uint64_t>(sim_ns / 100'000'000) * 0x9e3779b97f4a7c15 +
               static_cast<uint64_t>(card) * 0xbf58476d1ce4e5b9 +
               static_cast<uint64_t>(quantity) * 0x94d049bb133111eb;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  x ^= x >> 31;
  return static_cast<double>(x >> 11) / static_cast<double>(uint64_t{1} << 52) - 1;
}

}  // namespace stoker::sim
