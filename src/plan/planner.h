// Compares today with capping, parking and both under a budget. Pure: the same problem gives the
// same plans. Every plan carries what was assumed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/problem.h"

namespace stoker::plan {

enum class PlanKind { kToday, kCap, kPark, kMixed };
std::string_view PlanKindName(PlanKind kind);  // "today", "cap", "park", "mixed"

struct Plan {
  std::string name;  // "today (7-1)", "cap 532 W", "park 6-1", "mixed 6-1 at 498 W"
  PlanKind kind = PlanKind::kToday;
  int targets = 0, drafters = 0, parked = 0;
  double cap_w = 0;          // power limit of a target
  double drafter_cap_w = 0;  // of a drafter; the same where there is none
  double throughput_per_s = 0;
  double relative = 1;  // of today's throughput
  double gpu_w = 0;
  double wall_w = 0;  // with host and power supplies
  std::optional<double> eta_s;
  std::optional<double> energy_j;  // of the cards until done
  double units_per_j = 0;
  bool fits = true;     // under the budget
  bool pareto = false;  // no other topology and caps give as much for less
};

struct Budget {
  std::optional<double> gpu_w;  // of the cards together
};

struct PlanSet {
  std::vector<Plan> plans;       // today first, then by falling throughput
  std::optional<size_t> chosen;  // the fastest that fits
  double break_even_w = 0;       // Curve::BreakEvenW
  std::string sentence;          // what an operator would send
  std::vector<std::string> assumed;
};

// Budget of the cards that leaves `wall_w` at the plug.
double CardBudget(const Problem& problem, double wall_w);

// kInvalid where the curve cannot be used.
Result<PlanSet> MakePlans(const Problem& problem, const Budget& budget);

// Throughput of two stages with rates `first` and `second` and a buffer of `slots` between them
// whose service times have the squared coefficient of variation `variation` (heavy-traffic
// reflected Brownian approximation); and the buffer's mean occupancy, 0 to 1.
double PipelineThroughput(double first, double second, double slots, double variation);
double QueueOccupancy(double first, double second, double slots, double variation);

}  // namespace stoker::plan
