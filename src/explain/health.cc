#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/text.h"
#include "explain/rules.h"
#include "explain/words.h"
#include "query/throttle.h"

namespace stoker::explain {
namespace {

using query::CardUse;

struct ReasonSum {
  int64_t samples = 0;
  std::optional<double> seconds, first_s, last_s;
  std::vector<int> gpus;
};

std::map<std::string, ReasonSum> SumReasons(const std::vector<CardUse>& cards) {
  std::map<std::string, ReasonSum> sums;
  for (const CardUse& card : cards) {
    for (const query::ThrottleUse& use : card.throttle) {
      ReasonSum& sum = sums[use.reason];
      sum.samples += use.samples;
      sum.gpus.push_back(card.gpu);
      if (use.seconds) sum.seconds = sum.seconds.value_or(0) + *use.seconds;
      if (use.first_s) sum.first_s = std::min(sum.first_s.value_or(*use.first_s), *use.first_s);
      if (use.last_s) sum.last_s = std::max(sum.last_s.value_or(*use.last_s), *use.last_s);
    }
  }
  return sums;
}

std::string Span(double seconds) { return FormatDuration(Seconds(std::max(0.0, seconds))); }

std::string ReasonSentence(const std::string& name, const ReasonSum& sum, const Facts& facts) {
  std::string text = fmt::format("{} on {} of {}", query::ThrottleWords(name),
                                 Count(static_cast<double>(sum.samples), "read", "reads"),
                                 GpuNames(sum.gpus, facts.use.cards.size()));
  if (sum.seconds) text += fmt::format(" ({} by the cards' own counters)", Span(*sum.seconds));
  if (!sum.first_s) return text + ", between two reads";
  const double wall = facts.detail.view.wall_s;
  if (*sum.last_s <= std::max(120.0, 0.01 * wall)) {
    return text + fmt::format(", all in the first {}", Span(std::ceil(*sum.last_s)));
  }
  return text + fmt::format(", from {} to {} into the run", Span(*sum.first_s), Span(*sum.last_s));
}

double ThrottledShare(const Facts& facts) {
  const query::UseTotal& total = facts.use.total;
  double share = static_cast<double>(total.throttled_samples) /
                 static_cast<double>(std::max<int64_t>(1, total.samples));
  // A counter that ran longer than the flags say is believed.
  const double card_s = facts.detail.view.wall_s * static_cast<double>(facts.use.cards.size());
  for (const auto& [name, sum] : SumReasons(facts.use.cards)) {
    if (sum.seconds && card_s > 0) share = std::max(share, *sum.seconds / card_s);
  }
  return share;
}

std::optional<double> Median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void FindThrottle(const Facts& facts, Findings& out) {
  const auto reasons = SumReasons(facts.use.cards);
  if (reasons.empty() || facts.use.total.samples == 0) return;
  const double share = ThrottledShare(facts);
  Finding finding{"throttled", kInfo, "", {}, ""};
  finding.numbers = {{"throttled_samples", static_cast<double>(facts.use.total.throttled_samples)},
                     {"throttled_share_ratio", share}};
  std::vector<std::string> sentences;
  bool counted = true, heat = false;
  for (const auto& [name, sum] : reasons) {
    sentences.push_back(ReasonSentence(name, sum, facts));
    finding.numbers.emplace_back(name + "_samples", static_cast<double>(sum.samples));
    if (sum.seconds) finding.numbers.emplace_back(name + "_s", *sum.seconds);
    counted &= sum.seconds.has_value();
    heat |= name == "hw_thermal" || name == "sw_thermal";
  }
  finding.text = fmt::format("Cards were held back on {} of {} reads ({}): {}.",
                             FormatCount(static_cast<double>(facts.use.total.throttled_samples)),
                             FormatCount(static_cast<double>(facts.use.total.samples)),
                             Percent(share), Join(sentences, "; "));
  if (share > 0.005 || heat) finding.severity = kNotice;
  if (share > 0.05) finding.severity = kWarning;
  if (!counted) {
    finding.cannot_tell =
        "How long it lasted between two reads: a flag is an instant, and not every reason has a "
        "counter.";
  }
  out.push_back(std::move(finding));
}

void FindWarmCards(const Facts& facts, Findings& out) {
  std::vector<double> means;
  for (const CardUse& card : facts.use.cards) {
    if (card.temperature_mean_c && card.samples >= kLeastSamples) {
      means.push_back(*card.temperature_mean_c);
    }
  }
  if (means.size() < 3) return;
  const double median = *Median(means);
  constexpr double kWarmerC = 5;
  std::vector<int> warm;
  std::vector<std::string> parts;
  std::optional<double> margin;
  double most = 0;
  for (const CardUse& card : facts.use.cards) {
    if (!card.temperature_mean_c || card.samples < kLeastSamples) continue;
    const double above = *card.temperature_mean_c - median;
    if (above < kWarmerC) continue;
    warm.push_back(card.gpu);
    parts.push_back(fmt::format("{:.0f} °C at most", card.temperature_max_c.value_or(0)));
    most = std::max(most, above);
    if (card.margin_min_c)
      margin = std::min(margin.value_or(*card.margin_min_c), *card.margin_min_c);
  }
  // Half of the box being warmer than the other half is a chassis, not a card.
  if (warm.empty() || warm.size() * 2 > means.size()) return;
  Finding finding{
      "warm-cards", kInfo, "", {{"median_temperature_c", median}, {"above_c", most}}, ""};
  finding.text =
      fmt::format("{} ran up to {:.0f} °C warmer than the middle of the job's cards ({})",
                  GpuNames(warm, facts.use.cards.size()), most, JoinAnd(parts));
  if (margin) {
    finding.text += fmt::format("; the least margin left before slowing was {:.0f} °C", *margin);
    finding.numbers.emplace_back("margin_min_c", *margin);
    if (*margin < 5) finding.severity = kNotice;
  }
  finding.text += ".";
  finding.cannot_tell =
      "Place in the chassis, dust, a fan or the card itself: swapping two cards tells.";
  out.push_back(std::move(finding));
}

void FindUnread(const Facts& facts, Findings& out) {
  std::vector<int> few, unread;
  int64_t missing = 0, asked = 0;
  double gap_s = 0;
  for (const CardUse& card : facts.use.cards) {
    if (card.samples < kLeastSamples) few.push_back(card.gpu);
    if (card.unread > 0) unread.push_back(card.gpu);
    missing += card.unread;
    asked += card.unread + card.samples;
    gap_s = std::max(gap_s, card.energy_gap_s);
  }
  if (!few.empty()) {
    Finding finding{"too-few-samples", kNotice, "", {}, ""};
    finding.text = fmt::format(
        "{} {} read fewer than {} times during this job, so means, watts and "
        "energy of it say little.",
        GpuNames(few, facts.use.cards.size()), few.size() == 1 ? "was" : "were", kLeastSamples);
    finding.numbers = {{"cards", static_cast<double>(few.size())},
                       {"samples", static_cast<double>(facts.use.total.samples)}};
    finding.cannot_tell = "What those cards did in the time between.";
    out.push_back(std::move(finding));
    return;
  }
  const double wall = facts.detail.view.wall_s;
  const double lost = asked > 0 ? static_cast<double>(missing) / static_cast<double>(asked) : 0;
  if (lost < 0.005 && (wall <= 0 || gap_s < 0.02 * wall || gap_s < 60)) return;
  Finding finding{"unread", lost > 0.05 || gap_s > 0.2 * wall ? kWarning : kNotice, "", {}, ""};
  if (missing > 0) {
    finding.text = fmt::format(
        "{} of {} reads gave no answer ({}). ", FormatCount(static_cast<double>(missing)),
        FormatCount(static_cast<double>(asked)), GpuNames(unread, facts.use.cards.size()));
  }
  if (gap_s >= 60) {
    finding.text +=
        fmt::format("Up to {} of the run stand without a reading of energy. ", Span(gap_s));
  }
  finding.text += "Figures speak for the time that was read.";
  finding.numbers = {{"unread", static_cast<double>(missing)}, {"energy_gap_s", gap_s}};
  finding.cannot_tell = "What the cards did while nobody read them.";
  out.push_back(std::move(finding));
}

void FindEnergyDisagreement(const Facts& facts, Findings& out) {
  double counter = 0, integral = 0;
  std::vector<int> gpus;
  for (const CardUse& card : facts.use.cards) {
    if (!card.energy_counter_j || !card.energy_integral_j || *card.energy_counter_j <= 0) continue;
    // The counter runs on while nobody reads the power: only whole readings can be compared.
    const double read_s = static_cast<double>(card.samples) * card.period_s.value_or(0);
    if (card.samples < 6 * kLeastSamples || read_s < 0.98 * facts.detail.view.wall_s) continue;
    if (std::abs(*card.energy_integral_j / *card.energy_counter_j - 1) < 0.05) continue;
    counter += *card.energy_counter_j;
    integral += *card.energy_integral_j;
    gpus.push_back(card.gpu);
  }
  if (gpus.empty()) return;
  Finding finding{"energy-disagrees", kNotice, "", {}, ""};
  finding.text = fmt::format(
      "{}: the energy counter says {}, power over time says {} ({:+.0f} %). The counter is used.",
      GpuNames(gpus, facts.use.cards.size()), FormatEnergy(Joules(counter)),
      FormatEnergy(Joules(integral)), 100 * (integral / counter - 1));
  finding.numbers = {{"energy_counter_j", counter}, {"energy_integral_j", integral}};
  finding.cannot_tell = "Which of the two is nearer the truth: only a meter at the plug knows.";
  out.push_back(std::move(finding));
}

void FindSharedCards(const Facts& facts, Findings& out) {
  std::vector<int> gpus;
  std::set<int64_t> jobs;
  for (const CardUse& card : facts.use.cards) {
    if (card.shared_with.empty()) continue;
    gpus.push_back(card.gpu);
    jobs.insert(card.shared_with.begin(), card.shared_with.end());
  }
  if (gpus.empty()) return;
  constexpr size_t kNamed = 8;
  std::vector<std::string> names;
  for (const int64_t job : jobs) {
    if (names.size() < kNamed) names.push_back(std::to_string(job));
  }
  if (jobs.size() > kNamed) names.push_back(fmt::format("{} more", jobs.size() - kNamed));
  Finding finding{"shared-cards", kNotice, "", {{"jobs", static_cast<double>(jobs.size())}}, ""};
  finding.text = fmt::format(
      "{} {} shared with job{} {} in the same time: watts, energy and busy time "
      "are the card's, not this job's alone.",
      GpuNames(gpus, facts.use.cards.size()), gpus.size() == 1 ? "was" : "were",
      jobs.size() == 1 ? "" : "s", JoinAnd(names));
  finding.cannot_tell = "Which job drew which watts.";
  out.push_back(std::move(finding));
}

}  // namespace stoker::explain
