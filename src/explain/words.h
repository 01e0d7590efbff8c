// Numbers and lists as the sentences of findings need them.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"

namespace stoker::explain {

std::string Percent(double ratio);                               // "86 %", "0.24 %"
std::string Watt(double watts);                                  // "415 W", "3.32 kW"
std::string MetricValue(double value);                           // "0.527", "12.4", "not a number"
std::string EpochName(double epoch);                             // "412", "0.5"
std::string TimeOfDay(WallTime time);                            // "2026-10-18 19:44 UTC"
std::string Count(double n, const char* one, const char* many);  // "1 card", "1,030 cards"
std::string JoinAnd(const std::vector<std::string>& parts);      // "a, b and c"
std::string GpuNames(std::vector<int> gpus, size_t of);          // "GPUs 2 and 7"; "all 8 cards"

}  // namespace stoker::explain
