// The clocks-event bits that a sample of `throttle_bits` holds, and what they are called. Bits that
// only say "idle" or "as asked" are not throttling: they cost no speed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/metrics.h"

namespace stoker::query {

struct ThrottleReason {
  uint64_t bit = 0;
  std::string_view name;                  // "power_cap"; the name on every wire
  std::string_view words;                 // "the power cap"; for sentences
  std::optional<ledger::Metric> seconds;  // the card's own counter of it, where there is one
};

// The reasons that cost speed, the plainest cause first.
std::span<const ThrottleReason> ThrottleReasons();
constexpr uint64_t kThrottling = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;
// Names of the reasons in `bits` that cost speed.
std::vector<std::string> ThrottleNames(uint64_t bits);
// "power_cap" -> "the power cap"; an unknown name is returned as it is.
std::string_view ThrottleWords(std::string_view name);

}  // namespace stoker::query
