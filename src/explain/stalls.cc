// Pauses of all cards together: what a mean, and the busy column, hide.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "explain/rules.h"
#include "explain/words.h"

namespace stoker::explain {
namespace {

constexpr size_t kLeastStalls = 2;
constexpr double kWorthSaying = 0.01, kNoticeable = 0.03, kMuch = 0.10;  // of the working time
constexpr double kApart = 0.5;  // busy of one card under that of the others

std::string Span(double seconds) { return FormatDuration(Seconds(seconds)); }

// The phase of the run log in which most of the stalls lie, and how many do.
std::pair<std::string, size_t> PhaseOf(const query::Rhythm& rhythm,
                                       const std::vector<ledger::Phase>& phases) {
  std::map<std::string, size_t> counts;
  for (const auto& stall : rhythm.stalls) {
    const WallTime middle = stall.from + (stall.to - stall.from) / 2;
    for (const ledger::Phase& phase : phases) {
      if (phase.began_at <= middle && phase.ended_at && middle < *phase.ended_at) {
        ++counts[phase.name];
      }
    }
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == counts.end()) return {};
  return *most;
}

// One card at rest while the others spin is the one that they wait for.
std::string WaitedFor(const query::Rhythm& rhythm, Finding& finding) {
  const auto& busy = rhythm.stall_busy_ratio;
  if (busy.size() < 3) return "";
  const auto least = std::min_element(
      busy.begin(), busy.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  double others = 0;
  for (const auto& [gpu, ratio] : busy) others += gpu == least->first ? 0 : ratio;
  others /= static_cast<double>(busy.size() - 1);
  if (least->second > others - kApart) return "";
  finding.numbers.emplace_back("waited_for_gpu", least->first);
  finding.numbers.emplace_back("waited_for_busy_ratio", least->second);
  return fmt::format(
      " GPU {} read {} busy then and the others {}: they spun inside a collective while it did "
      "something alone, such as writing a checkpoint.",
      least->first, Percent(least->second), Percent(others));
}

}  // namespace

void FindStalls(const Facts& facts, Findings& out) {
  const auto& rhythm = facts.use.rhythm;
  if (!rhythm || rhythm->stalls.size() < kLeastStalls || rhythm->work_s() <= 0) return;
  const double share = rhythm->stalled_s / rhythm->work_s();
  if (share < kWorthSaying) return;
  Finding finding{"stalls", kInfo, "", {}, ""};
  if (share >= kNoticeable) finding.severity = kNotice;
  if (share >= kMuch) finding.severity = kWarning;
  const double n = static_cast<double>(rhythm->stalls.size());
  finding.numbers = {{"stalls", n},
                     {"stalled_s", rhythm->stalled_s},
                     {"stalled_share_ratio", share},
                     {"stall_median_s", *rhythm->stall_median_s},
                     {"power_mean_w", rhythm->power_mean_w},
                     {"power_p90_w", rhythm->power_p90_w}};
  finding.text = fmt::format(
      "The work stopped {} for {} (median){}: {} of the working time. ", Count(n, "time", "times"),
      Span(*rhythm->stall_median_s),
      rhythm->stall_period_s ? fmt::format(", every {}", Span(*rhythm->stall_period_s)) : "",
      Percent(share));
  if (rhythm->stall_period_s) {
    finding.numbers.emplace_back("stall_period_s", *rhythm->stall_period_s);
  }
  finding.text +=
      fmt::format("All cards together drew {} meanwhile and {} at work; over it all {} on average",
                  Watt(rhythm->stall_power_w.value_or(0)), Watt(rhythm->power_p90_w),
                  Watt(rhythm->power_mean_w));
  if (rhythm->busy_mean_ratio) {
    finding.text += fmt::format(" while busy read {}", Percent(*rhythm->busy_mean_ratio));
    finding.numbers.emplace_back("busy_mean_ratio", *rhythm->busy_mean_ratio);
  }
  finding.text += "." + WaitedFor(*rhythm, finding);
  const auto [phase, inside] = PhaseOf(*rhythm, facts.detail.phases);
  if (inside * 2 > rhythm->stalls.size()) {
    finding.text += fmt::format(" {} of them lay in the phase {}.", inside, Printable(phase));
    finding.numbers.emplace_back("in_phase", static_cast<double>(inside));
  } else {
    finding.cannot_tell =
        "What the pauses were for: a run log with its phases (checkpoint, validate) names them.";
  }
  out.push_back(std::move(finding));
}

}  // namespace stoker::explain
