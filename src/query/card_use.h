// What one card did in a window, from its samples. Pure.
#pragma once

#include <optional>
#include <vector>

#include "ledger/ledger.h"
#include "query/integrate.h"
#include "query/views.h"

namespace stoker::query {

// The samples of one card around a window, each in time order. Counters reach a little past both
// edges; everything else is cut to the window by UseOfCard().
struct CardSamples {
  std::vector<ledger::Sample> busy, power, energy, temperature, margin, memory, limit, throttle;
  std::vector<std::vector<ledger::Sample>> throttled_s;  // as ThrottleReasons(); empty: no counter
};

// Energy of the card over `window`: its counter where that covers the window as well as its power
// readings do, else the integral of power.
struct CardEnergy {
  std::optional<double> joules, counter_j, integral_j;
  double gap_s = 0;
};
CardEnergy EnergyOfCard(const CardSamples& samples, Window window);

CardUse UseOfCard(const CardSamples& samples, Window window);

// Sums and means over all reads of all cards.
UseTotal TotalOf(const std::vector<CardUse>& cards);

}  // namespace stoker::query
