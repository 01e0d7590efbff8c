// A sample at its metric's scale, as the stores below the Ledger hand it round, and the arithmetic
// of time ranges.
#pragma once

#include <cstdint>

#include "base/reading.h"

namespace stoker::ledger {

struct RawSample {
  int64_t at = 0;  // milliseconds since 1970
  int64_t value = 0;
  Absence absence = Absence::kNone;
};

// The multiple of `step` at or below `t`.
constexpr int64_t FloorTo(int64_t t, int64_t step) {
  const int64_t rest = t % step;
  return t - (rest < 0 ? rest + step : rest);
}
constexpr int64_t CeilTo(int64_t t, int64_t step) { return FloorTo(t + step - 1, step); }

}  // namespace stoker::ledger
