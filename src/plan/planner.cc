#include "plan/planner.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace stoker::plan {
namespace {

// Drift of the buffer over its noise; 0 where the stages are balanced.
double Drift(double first, double second, double slots, double variation) {
  return 2 * (first - second) * (slots + 2) / ((first + second) * variation);
}

// One topology on one problem.
class Model {
 public:
  Model(const Problem& problem, const Curve& curve) : p_(problem), curve_(curve) {
    target_rate_ = p_.throughput_per_s / p_.targets;
    if (p_.drafters > 0) {
      drafter_rate_ = p_.drafter_capacity_per_s.value_or(p_.throughput_per_s) / p_.drafters;
    }
  }

  // Throughput with every stage at these relative rates.
  double Throughput(int targets, double target_relative, double drafter_relative) const {
    const double first = targets * target_rate_ * target_relative;
    if (p_.drafters == 0) return first;
    const double second = p_.drafters * drafter_rate_ * drafter_relative;
    if (p_.queue_slots && p_.service_variation && *p_.service_variation > 0) {
      return PipelineThroughput(first, second, *p_.queue_slots, *p_.service_variation);
    }
    return std::min(first, second);
  }

  // Draw of a card that delivers `needed` of its full rate under a cap of `cap_w`: at work it draws
  // the cap, in between it waits.
  double CardW(double needed, double cap_w) const {
    const double full = curve_.RelativeAt(std::max(cap_w, curve_.lowest_w()));
    const double duty = std::clamp(needed / full, 0.0, 1.0);
    return p_.waiting_w + duty * (std::min(cap_w, p_.busy_w) - p_.waiting_w);
  }

  double GpuW(int targets, double throughput, double cap_w, double drafter_cap_w) const {
    double watts = targets * CardW(throughput / (targets * target_rate_), cap_w);
    if (p_.drafters > 0) {
      watts += p_.drafters * CardW(throughput / (p_.drafters * drafter_rate_), drafter_cap_w);
    }
    return watts + (p_.cards - targets - p_.drafters) * p_.idle_w;
  }

  Plan Make(PlanKind kind, int targets, double cap_w, double drafter_cap_w) const {
    Plan plan;
    plan.kind = kind;
    plan.targets = targets;
    plan.drafters = p_.drafters;
    plan.parked = p_.cards - targets - p_.drafters;
    plan.cap_w = cap_w;
    plan.drafter_cap_w = drafter_cap_w;
    plan.throughput_per_s =
        Throughput(targets, curve_.RelativeAt(cap_w), curve_.RelativeAt(drafter_cap_w));
    plan.relative = plan.throughput_per_s / p_.throughput_per_s;
    plan.gpu_w = GpuW(targets, plan.throughput_per_s, cap_w, drafter_cap_w);
    plan.wall_w = (plan.gpu_w + p_.host_w) / p_.psu_efficiency;
    plan.units_per_j = plan.throughput_per_s / plan.gpu_w;
    if (p_.remaining_units) {
      const double lost = targets == p_.targets ? 0 : p_.restart_lost_units;
      plan.eta_s = (*p_.remaining_units + lost) / plan.throughput_per_s;
      plan.energy_j = plan.gpu_w * *plan.eta_s;
    }
    return plan;
  }

  // The lowest cap that still delivers `needed` of a card's full rate.
  double PacedCap(double needed) const {
    const double lowest = std::max(curve_.lowest_w(), p_.min_limit_w);
    return std::max(lowest, curve_.PowerAt(std::max(needed, curve_.lowest_relative())));
  }

  // Both stages paced to the fastest throughput that the watts allow on this topology; nullopt
  // where even the lowest measured caps draw more.
  std::optional<Plan> Paced(PlanKind kind, int targets, double gpu_w) const {
    const auto at = [&](double x) {
      const double drafter =
          p_.drafters > 0 ? PacedCap(x / (p_.drafters * drafter_rate_)) : full_w();
      return Make(kind, targets, PacedCap(x / (targets * target_rate_)), drafter);
    };
    double high = Throughput(targets, 1, 1), low = 0;
    if (at(high).gpu_w <= gpu_w) return at(high);
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      (at(middle).gpu_w <= gpu_w ? low : high) = middle;
    }
    Plan plan = at(low);
    if (low <= 0 || plan.gpu_w > gpu_w * 1.0001) return std::nullopt;
    return plan;
  }

  // The same cap on every running card, as high as the watts allow.
  std::optional<Plan> CapAll(double gpu_w) const {
    double low = std::max(curve_.lowest_w(), p_.min_limit_w), high = full_w();
    if (Make(PlanKind::kCap, p_.targets, low, low).gpu_w > gpu_w) return std::nullopt;
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      (Make(PlanKind::kCap, p_.targets, middle, middle).gpu_w <= gpu_w ? low : high) = middle;
    }
    return Make(PlanKind::kCap, p_.targets, low, low);
  }

  double full_w() const { return std::min(p_.busy_w, p_.limit_w); }

  // The most that any topology gives for these watts.
  double Frontier(double gpu_w) const {
    double best = 0;
    for (int targets = 1; targets <= p_.cards - p_.drafters && targets <= p_.targets; ++targets) {
      if (const auto plan = Paced(PlanKind::kMixed, targets, gpu_w))
        best = std::max(best, plan->throughput_per_s);
    }
    return best;
  }

 private:
  const Problem& p_;
  const Curve& curve_;
  double target_rate_ = 0;  // of one card at full power
  double drafter_rate_ = 0;
};

std::string Topology(const Plan& plan) {
  return plan.drafters > 0 ? fmt::format("{}-{}", plan.targets, plan.drafters)
                           : fmt::format("{} cards", plan.targets);
}

std::string NameOf(const Plan& plan) {
  const bool paced = plan.drafters > 0 && std::abs(plan.cap_w - plan.drafter_cap_w) >= 1;
  const std::string caps = paced ? fmt::format("{:.0f}/{:.0f} W", plan.cap_w, plan.drafter_cap_w)
                                 : fmt::format("{:.0f} W", plan.cap_w);
  switch (plan.kind) {
    case PlanKind::kToday:
      return "today (" + Topology(plan) + ")";
    case PlanKind::kCap:
      return "cap " + caps;
    case PlanKind::kPark:
      return "park " + Topology(plan);
    case PlanKind::kMixed:
      return "mixed " + Topology(plan) + " at " + caps;
  }
  return {};
}

std::vector<Plan> ListPlans(const Problem& problem, const Curve& curve, const Model& model,
                            const Budget& budget) {
  std::vector<Plan> plans;
  const double full = model.full_w();
  plans.push_back(model.Make(PlanKind::kToday, problem.targets, full, full));
  for (int targets = problem.targets - 1; targets >= 1; --targets) {
    plans.push_back(model.Make(PlanKind::kPark, targets, full, full));
  }
  if (!budget.gpu_w) {
    for (const CurvePoint& point : curve.points()) {
      const double cap = std::max(point.power_w, problem.min_limit_w);
      if (cap < full) plans.push_back(model.Make(PlanKind::kCap, problem.targets, cap, cap));
    }
    return plans;
  }
  if (plans.front().gpu_w <= *budget.gpu_w) return plans;
  if (const auto cap = model.CapAll(*budget.gpu_w)) plans.push_back(*cap);
  for (int targets = problem.targets; targets >= 1; --targets) {
    const auto mixed = model.Paced(PlanKind::kMixed, targets, *budget.gpu_w);
    if (!mixed) continue;
    // On the full topology with one cap for all, this is the cap plan again.
    if (targets == problem.targets && std::abs(mixed->cap_w - mixed->drafter_cap_w) < 1) continue;
    if (targets == problem.targets && problem.drafters == 0) continue;
    plans.push_back(*mixed);
  }
  return plans;
}

std::string Watts(double w) {
  return w >= 1000 ? fmt::format("{:.2f} kW", w / 1000) : fmt::format("{:.0f} W", w);
}

std::string Describe(const Plan& plan) {
  const auto caps = [&] {
    return plan.drafters > 0 && std::abs(plan.cap_w - plan.drafter_cap_w) >= 1
               ? fmt::format("targets at {:.0f} W and drafters at {:.0f} W", plan.cap_w,
                             plan.drafter_cap_w)
               : fmt::format("every running card at {:.0f} W", plan.cap_w);
  };
  switch (plan.kind) {
    case PlanKind::kToday:
      return "change nothing";
    case PlanKind::kCap:
      return fmt::format("cap {}, no restart", caps());
    case PlanKind::kPark:
      return fmt::format("run {} and park {}", Topology(plan), plan.parked);
    case PlanKind::kMixed:
      return plan.parked > 0
                 ? fmt::format("run {}, park {}, {}", Topology(plan), plan.parked, caps())
                 : fmt::format("cap {}, no restart", caps());
  }
  return {};
}

std::string Sentence(const Problem& problem, const PlanSet& set, const Budget& budget) {
  if (!budget.gpu_w) return {};
  if (!set.chosen) {
    return fmt::format("No plan that was measured stays under {}: measure lower caps first.",
                       Watts(*budget.gpu_w));
  }
  const Plan& best = set.plans[*set.chosen];
  const Plan& today = set.plans.front();
  std::string text =
      fmt::format("To stay under {}: {}: {} {}/s ({:+.1f} %), {} ({:+.0f} W)", Watts(*budget.gpu_w),
                  Describe(best), FormatCount(best.throughput_per_s), problem.unit,
                  (best.relative - 1) * 100, Watts(best.gpu_w), best.gpu_w - today.gpu_w);
  if (best.eta_s) text += fmt::format(", done in {:.2f} days", *best.eta_s / 86400);
  for (const Plan& plan : set.plans) {
    if (plan.kind == PlanKind::kPark && plan.fits && best.kind != PlanKind::kPark) {
      text +=
          fmt::format("; parking alone ({}) would leave {} {}/s ({:+.1f} %)", Topology(plan),
                      FormatCount(plan.throughput_per_s), problem.unit, (plan.relative - 1) * 100);
      break;
    }
  }
  return text + ".";
}

}  // namespace

std::string_view PlanKindName(PlanKind kind) {
  switch (kind) {
    case PlanKind::kToday:
      return "today";
    case PlanKind::kCap:
      return "cap";
    case PlanKind::kPark:
      return "park";
    case PlanKind::kMixed:
      return "mixed";
  }
  return "today";
}

double PipelineThroughput(double first, double second, double slots, double variation) {
  const double a = Drift(first, second, slots, variation);
  // The limit of d / (1 - e^-a) for balanced stages.
  const double loss = std::abs(a) < 1e-6 ? (first + second) * variation / (2 * (slots + 2))
                                         : (first - second) / (1 - std::exp(-a));
  return std::max(0.0, first - loss);
}

double QueueOccupancy(double first, double second, double slots, double variation) {
  const double a = Drift(first, second, slots, variation);
  if (std::abs(a) < 1e-6) return 0.5;
  return std::clamp(1 / (1 - std::exp(-a)) - 1 / a, 0.0, 1.0);
}

double CardBudget(const Problem& problem, double wall_w) {
  return wall_w * problem.psu_efficiency - problem.host_w;
}

Result<PlanSet> MakePlans(const Problem& problem, const Budget& budget) {
  STOKER_ASSIGN(const Curve curve, Curve::Fit(problem.curve));
  const Model model(problem, curve);
  PlanSet set;
  set.assumed = problem.assumed;
  set.break_even_w = curve.BreakEvenW(problem.idle_w);
  set.plans = ListPlans(problem, curve, model, budget);
  for (Plan& plan : set.plans) {
    plan.name = NameOf(plan);
    plan.fits = !budget.gpu_w || plan.gpu_w <= *budget.gpu_w * 1.0005;
    plan.pareto = model.Frontier(plan.gpu_w) <= plan.throughput_per_s * 1.001;
  }
  std::stable_sort(set.plans.begin() + 1, set.plans.end(), [](const Plan& a, const Plan& b) {
    return a.throughput_per_s > b.throughput_per_s;
  });
  for (size_t i = 0; i < set.plans.size(); ++i) {
    if (set.plans[i].fits &&
        (!set.chosen || set.plans[i].throughput_per_s > set.plans[*set.chosen].throughput_per_s)) {
      set.chosen = i;
    }
  }
  set.sentence = Sentence(problem, set, budget);
  return set;
}

}  // namespace stoker::plan
