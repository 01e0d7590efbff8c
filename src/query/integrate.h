// Sums over time of sampled values. Every sum says how much of its window it covers, so that a gap
// stays a gap.
#pragma once

#include <optional>
#include <vector>

#include "base/clock.h"
#include "ledger/ledger.h"

namespace stoker::query {

struct Window {
  WallTime from;
  WallTime to;
  double seconds() const {
    return to <= from ? 0.0 : static_cast<double>((to - from).count()) / 1000;
  }
};

struct Sum {
  std::optional<double> value;  // nullopt: nothing can be said
  double covered_s = 0;         // seconds of the window that the value stands for
  double gap_s = 0;             // seconds of the window that nothing stands for
  int resets = 0;               // times a counter began again
};

// The median step between samples in seconds; nullopt for fewer than two.
std::optional<double> MedianStep(const std::vector<ledger::Sample>& samples);

// Value x time of a gauge (watts give joules): each sample stands until the next one; where the
// next one is more than two periods away, for one period only. `samples` in time order, absent ones
// too.
Sum IntegrateGauge(const std::vector<ledger::Sample>& samples, Window window);

// How far a counter moved in the window. Pairs that straddle an edge count in proportion. Where the
// counter fell it began again at zero; a step faster than `most_per_s` is not believed and left
// out.
Sum CounterRise(const std::vector<ledger::Sample>& samples, Window window, double most_per_s);

}  // namespace stoker::query
