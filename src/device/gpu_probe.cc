#include "device/gpu_probe.h"

#include <fmt/format.h>

#include <array>

namespace stoker::device {

std::vector<std::string> ThrottleReasonNames(ThrottleBits bits) {
  struct Named {
    ThrottleBits bit;
    const char* name;
  };
  static constexpr std::array<Named, 9> kNames = {{{kReasonGpuIdle, "gpu_idle"},
                                                   {kReasonAppClocks, "app_clocks"},
                                                   {kReasonPowerCap, "power_cap"},
                                                   {kReasonHwSlowdown, "hw_slowdown"},
                                                   {kReasonSyncBoost, "sync_boost"},
                                                   {kReasonSwThermal, "sw_thermal"},
                                                   {kReasonHwThermal, "hw_thermal"},
                                                   {kReasonPowerBrake, "power_brake"},
                                                   {kReasonDisplayClocks, "display_clocks"}}};
  std::vector<std::string> names;
  for (const Named& named : kNames) {
    if (bits & named.bit) names.emplace_back(named.name);
    bits &= ~named.bit;
  }
  for (int shift = 0; shift < 64; ++shift) {
    const ThrottleBits bit = ThrottleBits{1} << shift;
    if (bits & bit) names.push_back(fmt::format("{:#x}", bit));
  }
  return names;
}

}  // namespace stoker::device
