#include "query/throttle.h"

namespace stoker::query {
namespace {

using ledger::Metric;

constexpr ThrottleReason kReasons[] = {
    {0x4, "power_cap", "the power cap", Metric::kThrottledPowerS},
    {0x8, "hw_slowdown", "a hardware slowdown", std::nullopt},
    {0x20, "sw_thermal", "heat (slowed by the driver)", Metric::kThrottledSwThermalS},
    {0x40, "hw_thermal", "heat (slowed by the card itself)", Metric::kThrottledHwThermalS},
    {0x80, "power_brake", "the power brake", Metric::kThrottledPowerBrakeS},
};

}  // namespace

std::span<const ThrottleReason> ThrottleReasons() { return kReasons; }

std::vector<std::string> ThrottleNames(uint64_t bits) {
  std::vector<std::string> names;
  for (const ThrottleReason& reason : kReasons) {
    if (bits & reason.bit) names.emplace_back(reason.name);
  }
  return names;
}

std::string_view ThrottleWords(std::string_view name) {
  for (const ThrottleReason& reason : kReasons) {
    if (reason.name == name) return reason.words;
  }
  return name;
}

}  // namespace stoker::query
