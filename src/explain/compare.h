// Jobs held against each other: one card against eight, recipe against recipe, and arms of an
// experiment whose differences have names. Pure; says where the numbers contradict each other
// rather than explaining them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "explain/explain.h"

namespace stoker::explain {

// What of a job can be held against another.
struct Side {
  int64_t job = 0;
  std::string name;
  int cards = 0;
  std::string unit;                           // "photo"; empty: the run told no rate
  std::optional<double> epoch_s;              // median time from the end of an epoch to the next
  std::optional<double> epoch_error_s;        // of epoch_s, where it was rounded
  std::optional<double> steps_per_epoch;      // optimiser steps
  std::optional<double> units_per_s;          // median of what the run told
  std::optional<double> busy_ratio, power_w;  // power: mean of all cards together
  std::optional<double> energy_j;
  std::optional<query::Rhythm> rhythm;

  std::optional<double> j_per_unit() const;
  std::optional<double> step_ms() const;
};

Side SideOf(const Explanation& explanation);

struct Comparison {
  std::vector<Side> sides;        // the first is what the others are held against
  std::vector<Finding> findings;  // most important first
};

Comparison Compare(std::vector<Side> sides);

// Median step times in ms of arms of one experiment, by their letters: A one card, real input;
// A' one card, cached input; B all cards; C all cards, cached; D all cards, gradients not
// exchanged; E the same, cached; F cached with only a barrier; G real input with only a barrier.
using Arms = std::map<std::string, double>;
inline constexpr const char* kArmNames[] = {"A", "A'", "B", "C", "D", "E", "F", "G"};

struct Share {
  std::string id;    // "contention", "data_wait", "imbalance", "sync", "own_data_wait", …
  std::string what;  // in words
  double ms = 0;     // a step
};
struct Decomposition {
  std::vector<Share> shares;  // sum up to total_ms exactly
  double total_ms = 0;        // what is explained: B - A, or B - E of the four arms B, C, D, E
  std::optional<double> interaction_ms;  // of those four: below 0 waits hide each other
  std::string cannot_tell;
};
// With A, A', B, D, E and G the exact chain; with B, C, D and E the even split of the two causes.
// Nullopt where neither set is whole.
std::optional<Decomposition> Decompose(const Arms& arms);

}  // namespace stoker::explain
