#include "explain/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "explain/rules.h"
#include "explain/words.h"

namespace stoker::explain {
namespace {

constexpr double kNearlyEqual = 0.03;
constexpr std::string_view kThroughput = "throughput/";
constexpr std::string_view kPerSecond = "_per_s";

std::optional<double> Median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Times and steps from one epoch to the next, of the curve that tells most epochs.
void AddEpochs(const std::vector<query::MetricCurve>& curves, Side& side) {
  std::vector<double> times, steps;
  for (const query::MetricCurve& curve : curves) {
    std::vector<double> curve_times, curve_steps;
    for (size_t i = 1; i < curve.points.size(); ++i) {
      const ledger::MetricPoint& a = curve.points[i - 1];
      const ledger::MetricPoint& b = curve.points[i];
      if (!a.epoch || !b.epoch || *b.epoch - *a.epoch != 1 || b.at <= a.at) continue;
      curve_times.push_back(static_cast<double>((b.at - a.at).count()) / 1000);
      if (a.step && b.step && *b.step > *a.step) {
        curve_steps.push_back(static_cast<double>(*b.step - *a.step));
      }
    }
    if (curve_times.size() > times.size()) times = std::move(curve_times);
    if (curve_steps.size() > steps.size()) steps = std::move(curve_steps);
  }
  side.epoch_s = Median(std::move(times));
  side.steps_per_epoch = Median(std::move(steps));
}

std::string Pair(const std::string& a, const std::string& b) {
  return fmt::format("{} against {}", b, a);
}

// How much faster `b` is, and what the perfect b would have been.
void FindScaling(const Side& a, const Side& b, Findings& out) {
  if (a.cards == b.cards || a.cards < 1 || b.cards < 1 || !a.epoch_s || !b.epoch_s) return;
  const double speed_up = *a.epoch_s / *b.epoch_s;
  const double cards = static_cast<double>(b.cards) / a.cards;
  const double ideal_s = *a.epoch_s / cards;
  const double lost_s = *b.epoch_s - ideal_s;
  Finding finding{"scaling", kInfo, "", {}, ""};
  if (speed_up / cards < 0.9) finding.severity = kNotice;
  finding.numbers = {{"speed_up", speed_up},
                     {"efficiency_ratio", speed_up / cards},
                     {"ideal_epoch_s", ideal_s},
                     {"lost_s_per_epoch", lost_s}};
  finding.text = fmt::format(
      "{} on {} did an epoch in {}, {} on {} in {}: {:.1f} times as fast, {} of what the cards "
      "could give. The perfect epoch would take {}; {} of each is lost",
      Printable(b.name), Count(b.cards, "card", "cards"), FormatDuration(Seconds(*b.epoch_s)),
      Printable(a.name), Count(a.cards, "card", "cards"), FormatDuration(Seconds(*a.epoch_s)),
      speed_up, Percent(speed_up / cards), FormatDuration(Seconds(ideal_s)),
      FormatDuration(Seconds(std::max(0.0, lost_s))));
  if (b.steps_per_epoch && *b.steps_per_epoch > 0) {
    const double lost_ms = 1000 * lost_s / *b.steps_per_epoch;
    finding.numbers.emplace_back("lost_ms_per_step", lost_ms);
    finding.text += fmt::format(", {:.1f} ms a step", lost_ms);
  }
  finding.text += ".";
  const double error_a = a.epoch_error_s.value_or(0), error_b = b.epoch_error_s.value_or(0);
  if (error_a > 0 || error_b > 0) {
    const double least = (*a.epoch_s - error_a) / (*b.epoch_s + error_b);
    const double most = (*a.epoch_s + error_a) / (*b.epoch_s - error_b);
    finding.numbers.emplace_back("speed_up_least", least);
    finding.numbers.emplace_back("speed_up_most", most);
    finding.text += fmt::format(
        " The times are rounded: {:.2f} to {:.2f} times would show the same.", least, most);
  }
  finding.cannot_tell =
      "What the lost time was: data, imbalance between the cards, exposed transfer or validation; "
      "arms of an experiment tell (stoker compare --arms).";
  out.push_back(std::move(finding));
}

// The gate before any explanation by watts: where waiting was added, a unit must cost more energy.
// Where it costs less, the two windows did not measure the same thing.
void FindContradiction(const Side& a, const Side& b, Findings& out) {
  const auto cost_a = a.j_per_unit(), cost_b = b.j_per_unit();
  if (!cost_a || !cost_b || a.unit != b.unit || a.cards == b.cards || !a.epoch_s || !b.epoch_s) {
    return;
  }
  const double ideal_s = *a.epoch_s * a.cards / b.cards;
  const double waited_s = *b.epoch_s - ideal_s;
  if (waited_s < kNearlyEqual * *b.epoch_s || *cost_b > (1 - kNearlyEqual) * *cost_a) return;
  // What a waiting card would have to draw for both means to be true.
  const double waiting_w =
      (*b.power_w / b.cards * *b.epoch_s - *a.power_w / a.cards * ideal_s) / waited_s;
  Finding finding{"windows-contradict", kWarning, "", {}, ""};
  finding.numbers = {{"a_j_per_unit", *cost_a},
                     {"b_j_per_unit", *cost_b},
                     {"waited_s_per_epoch", waited_s},
                     {"waiting_power_w", waiting_w}};
  finding.text = fmt::format(
      "These windows contradict each other: a {} cost {:.3f} J in {} and {:.3f} J in {}, though "
      "the latter waited {} longer in each epoch. If waiting were all that was added, a waiting "
      "card would have drawn {:.0f} W. Watts explain nothing here.",
      a.unit, *cost_a, Printable(a.name), *cost_b, Printable(b.name),
      FormatDuration(Seconds(waited_s)), waiting_w);
  finding.cannot_tell =
      "Which window is off: start-up or validation inside one of them, other clocks, or reads too "
      "far apart for epochs this short. Energy counters read at the edges of a phase would settle "
      "it.";
  out.push_back(std::move(finding));
}

// Two runs that look alike in the busy column and are not.
void FindBusyHidesIt(const Side& a, const Side& b, Findings& out) {
  if (!a.rhythm || !b.rhythm || !a.rhythm->busy_mean_ratio || !b.rhythm->busy_mean_ratio) return;
  if (a.cards != b.cards) return;
  const double busy_a = *a.rhythm->busy_mean_ratio, busy_b = *b.rhythm->busy_mean_ratio;
  const double power_a = a.rhythm->power_mean_w, power_b = b.rhythm->power_mean_w;
  if (power_a <= 0 || std::abs(busy_b - busy_a) > 0.05) return;
  if (std::abs(power_b / power_a - 1) < 0.1) return;
  Finding finding{"busy-hides-it", kWarning, "", {}, ""};
  finding.numbers = {{"a_busy_mean_ratio", busy_a},
                     {"b_busy_mean_ratio", busy_b},
                     {"a_power_mean_w", power_a},
                     {"b_power_mean_w", power_b}};
  finding.text = fmt::format(
      "Busy hardly differs ({:.1f} against {:.1f} %), but {} drew {} on average at work and {} "
      "drew {}: one of them waited, and busy counts waiting inside a kernel.",
      100 * busy_b, 100 * busy_a, Printable(b.name), Watt(power_b), Printable(a.name),
      Watt(power_a));
  for (const auto& [side, letter] : {std::pair(&a, "a"), std::pair(&b, "b")}) {
    const query::Rhythm& rhythm = *side->rhythm;
    if (!rhythm.stall_median_s || !rhythm.stall_period_s) continue;
    finding.text +=
        fmt::format(" {} stopped for {} every {}, {} of its working time.", Printable(side->name),
                    FormatDuration(Seconds(*rhythm.stall_median_s)),
                    FormatDuration(Seconds(*rhythm.stall_period_s)),
                    Percent(rhythm.stalled_s / rhythm.work_s()));
    const std::string prefix = std::string(letter) + "_";
    finding.numbers.emplace_back(prefix + "stall_median_s", *rhythm.stall_median_s);
    finding.numbers.emplace_back(prefix + "stall_period_s", *rhythm.stall_period_s);
  }
  finding.cannot_tell = "What the waiting was for; the run logs' phases, or arms, would.";
  out.push_back(std::move(finding));
}

void FindCheaper(const Side& a, const Side& b, Findings& out) {
  const auto cost_a = a.j_per_unit(), cost_b = b.j_per_unit();
  if (!cost_a || !cost_b || a.unit != b.unit) return;
  Finding finding{"energy-per-unit", kInfo, "", {}, ""};
  finding.numbers = {{"a_j_per_unit", *cost_a}, {"b_j_per_unit", *cost_b}};
  finding.text =
      fmt::format("A {} cost {} in {}: {:+.0f} %.", a.unit,
                  Pair(fmt::format("{:.3f} J", *cost_a), fmt::format("{:.3f} J", *cost_b)),
                  Pair(Printable(a.name), Printable(b.name)), 100 * (*cost_b / *cost_a - 1));
  finding.cannot_tell = "The host's share: these are the cards' watts alone.";
  out.push_back(std::move(finding));
}

bool HasAll(const Arms& arms, std::initializer_list<const char*> names) {
  return std::all_of(names.begin(), names.end(), [&](const char* n) { return arms.contains(n); });
}

Decomposition Chain(const Arms& arms) {
  const auto at = [&](const char* name) { return arms.at(name); };
  Decomposition out;
  out.total_ms = at("B") - at("A");
  out.shares = {
      {"contention", "cards in each other's way: PCIe, launches, memory, heat", at("E") - at("A'")},
      {"data_wait", "waiting for input, on average", at("D") - at("E")},
      {"imbalance", "waiting for the slowest card", at("G") - at("D")},
      {"sync", "transfer that computing did not hide", at("B") - at("G")},
      {"own_data_wait", "input waits that one card has as well", at("A'") - at("A")}};
  if (arms.contains("F")) {
    const double compute = at("F") - at("E");
    out.shares[2] = {"compute_jitter", "waiting for the slowest card to compute", compute};
    out.shares.insert(
        out.shares.begin() + 3,
        {"data_jitter", "waiting for the card whose input came last", at("G") - at("D") - compute});
  }
  out.cannot_tell = "What lies outside a step: validation, checkpoints, start-up.";
  return out;
}

Decomposition EvenSplit(const Arms& arms) {
  const double b = arms.at("B"), c = arms.at("C"), d = arms.at("D"), e = arms.at("E");
  Decomposition out;
  out.total_ms = b - e;
  out.shares = {{"data_wait", "waiting for input", 0.5 * ((b - c) + (d - e))},
                {"sync", "waiting for each other and for transfer", 0.5 * ((b - d) + (c - e))}};
  out.interaction_ms = b - c - d + e;
  out.cannot_tell =
      "Waiting for the slowest card from exposed transfer: that takes the arm with only a barrier "
      "(G).";
  return out;
}

}  // namespace

std::optional<double> Side::j_per_unit() const {
  if (!power_w || !units_per_s || *units_per_s <= 0) return std::nullopt;
  return *power_w / *units_per_s;
}

std::optional<double> Side::step_ms() const {
  if (!epoch_s || !steps_per_epoch || *steps_per_epoch <= 0) return std::nullopt;
  return 1000 * *epoch_s / *steps_per_epoch;
}

Side SideOf(const Explanation& explanation) {
  const ledger::Job& job = explanation.detail.view.job;
  const query::UseTotal& total = explanation.use.total;
  Side side;
  side.job = job.id;
  side.name = job.name.empty() ? "job " + std::to_string(job.id) : job.name;
  side.cards = static_cast<int>(explanation.use.cards.size());
  side.busy_ratio = total.busy_mean_ratio;
  if (total.power_mean_w) side.power_w = *total.power_mean_w * side.cards;
  side.energy_j = total.gpu_energy_j;
  side.rhythm = explanation.use.rhythm;
  AddEpochs(explanation.detail.curves, side);
  for (const query::MetricCurve& curve : explanation.detail.curves) {
    const std::string_view name = curve.name;
    if (!name.starts_with(kThroughput) || !name.ends_with(kPerSecond)) continue;
    std::vector<double> rates;
    for (const ledger::MetricPoint& p : curve.points) {
      if (std::isfinite(p.value)) rates.push_back(p.value);
    }
    side.units_per_s = Median(std::move(rates));
    side.unit =
        name.substr(kThroughput.size(), name.size() - kThroughput.size() - kPerSecond.size());
  }
  return side;
}

Comparison Compare(std::vector<Side> sides) {
  Comparison out;
  for (size_t i = 1; i < sides.size(); ++i) {
    const bool fewer_first = sides[0].cards <= sides[i].cards;
    const Side& fewer = fewer_first ? sides[0] : sides[i];
    const Side& more = fewer_first ? sides[i] : sides[0];
    FindContradiction(fewer, more, out.findings);
    FindBusyHidesIt(sides[0], sides[i], out.findings);
    FindScaling(fewer, more, out.findings);
    FindCheaper(sides[0], sides[i], out.findings);
  }
  std::stable_sort(out.findings.begin(), out.findings.end(), [](const auto& a, const auto& b) {
    return SeverityRank(a.severity) < SeverityRank(b.severity);
  });
  out.sides = std::move(sides);
  return out;
}

std::optional<Decomposition> Decompose(const Arms& arms) {
  if (HasAll(arms, {"A", "A'", "B", "D", "E", "G"})) return Chain(arms);
  if (HasAll(arms, {"B", "C", "D", "E"})) return EvenSplit(arms);
  return std::nullopt;
}

}  // namespace stoker::explain
