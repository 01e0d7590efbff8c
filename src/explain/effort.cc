#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "explain/rules.h"
#include "explain/words.h"

namespace stoker::explain {
namespace {

using query::CardUse;

// Below this share of time busy, a card did nothing that its job asked for.
constexpr double kIdleBusy = 0.03;
// An idle card with a loaded context draws up to about this share of its limit.
constexpr double kIdleOfLimit = 0.30;

bool Enough(const CardUse& card) { return card.samples >= kLeastSamples; }

// Watts while busy, as a share of the limit: what one busy second asked of the card.
std::optional<double> BusyPowerShare(const CardUse& card) {
  if (!card.busy_mean_ratio || !card.power_mean_w || !card.limit_w) return std::nullopt;
  if (*card.busy_mean_ratio <= 0 || *card.limit_w <= 0) return std::nullopt;
  return std::min(1.0, *card.power_mean_w / *card.busy_mean_ratio / *card.limit_w);
}

}  // namespace

void FindUse(const Facts& facts, Findings& out) {
  const query::UseTotal& total = facts.use.total;
  if (facts.use.cards.empty()) {
    if (!facts.job().started_at) return;
    Finding finding{"no-cards", kInfo, "This job used no card that Stoker reads.", {}, ""};
    if (facts.use.host.cpu_mean_ratio) {
      finding.text += fmt::format(" While it ran the host's cores were {} busy.",
                                  Percent(*facts.use.host.cpu_mean_ratio));
      finding.numbers.emplace_back("host_cpu_mean_ratio", *facts.use.host.cpu_mean_ratio);
    }
    finding.cannot_tell = "Which part of the host's work was this job's.";
    out.push_back(std::move(finding));
    return;
  }
  if (total.samples == 0) return;
  Finding finding{"use", kInfo, "", {}, ""};
  const double n = static_cast<double>(facts.use.cards.size());
  std::vector<std::string> parts;
  if (total.busy_mean_ratio) parts.push_back(Percent(*total.busy_mean_ratio) + " busy");
  if (total.power_mean_w) parts.push_back(Watt(*total.power_mean_w) + " a card");
  finding.text = fmt::format("{} over {}: on average {}", Count(n, "card", "cards"),
                             FormatDuration(Seconds(facts.detail.view.wall_s)), JoinAnd(parts));
  if (total.power_peak_w) finding.text += fmt::format(", {} at most", Watt(*total.power_peak_w));
  if (total.gpu_energy_j) {
    finding.text += fmt::format("; {} in all", FormatEnergy(Joules(*total.gpu_energy_j)));
    finding.numbers.emplace_back("gpu_energy_j", *total.gpu_energy_j);
  }
  finding.text += fmt::format(" ({} reads).", FormatCount(static_cast<double>(total.samples)));
  finding.numbers.emplace_back("samples", static_cast<double>(total.samples));
  if (total.busy_mean_ratio)
    finding.numbers.emplace_back("busy_mean_ratio", *total.busy_mean_ratio);
  if (total.power_mean_w) finding.numbers.emplace_back("power_mean_w", *total.power_mean_w);
  finding.cannot_tell =
      "How hard the cards worked while busy: busy counts time with a kernel running, not effort.";
  out.push_back(std::move(finding));
}

void FindIdleCards(const Facts& facts, Findings& out) {
  std::vector<int> idle;
  double watts = 0, joules = 0;
  for (const CardUse& card : facts.use.cards) {
    if (!Enough(card) || !card.busy_mean_ratio || *card.busy_mean_ratio >= kIdleBusy) continue;
    const bool cool =
        !card.power_mean_w || !card.limit_w || *card.power_mean_w < kIdleOfLimit * *card.limit_w;
    if (!cool) continue;
    idle.push_back(card.gpu);
    watts += card.power_mean_w.value_or(0);
    joules += card.energy_j.value_or(0);
  }
  if (idle.empty()) return;
  const double n = static_cast<double>(idle.size());
  Finding finding{"idle-cards", kWarning, "", {{"idle_cards", n}}, ""};
  finding.text = fmt::format("{} {} allocated to this job but idle: busy under {}",
                             GpuNames(idle, facts.use.cards.size()), n == 1 ? "was" : "were",
                             Percent(kIdleBusy));
  if (watts > 0) {
    finding.text +=
        fmt::format(" at {} each, {} in all", Watt(watts / n), FormatEnergy(Joules(joules)));
    finding.numbers.emplace_back("idle_power_w", watts / n);
    finding.numbers.emplace_back("idle_energy_j", joules);
  }
  finding.text += ".";
  finding.cannot_tell =
      "Whether the job meant to use them: it may hold memory there or wait for others.";
  out.push_back(std::move(finding));
}

void FindCpuStarved(const Facts& facts, Findings& out) {
  const auto& cpu = facts.use.host.cpu_mean_ratio;
  const auto& busy = facts.use.total.busy_mean_ratio;
  if (!cpu || !busy || facts.use.total.samples < kLeastSamples) return;
  if (*cpu < 0.85 || *busy >= 0.30) return;
  Finding finding{"cpu-starved", kWarning, "", {}, ""};
  finding.text = fmt::format(
      "The host's cores were {} busy while the cards were {} busy: the cards waited for the CPU, "
      "most likely for decoding and augmenting input.",
      Percent(*cpu), Percent(*busy));
  finding.numbers = {{"host_cpu_mean_ratio", *cpu}, {"busy_mean_ratio", *busy}};
  finding.cannot_tell =
      "Which part of the host's work it was; a run on cached, decoded input would tell.";
  out.push_back(std::move(finding));
}

void FindBusyWithoutWork(const Facts& facts, Findings& out) {
  std::vector<int> cards;
  double busy = 0, power = 0, limit = 0;
  for (const CardUse& card : facts.use.cards) {
    const auto share = BusyPowerShare(card);
    if (!Enough(card) || !share || *card.busy_mean_ratio < 0.6 || *share >= 0.55) continue;
    cards.push_back(card.gpu);
    busy += *card.busy_mean_ratio;
    power += *card.power_mean_w;
    limit += *card.limit_w;
  }
  if (cards.empty()) return;
  const double n = static_cast<double>(cards.size());
  Finding finding{"busy-without-work", kNotice, "", {}, ""};
  finding.text = fmt::format(
      "{} {} {} busy but drew {} of {}: time was taken, work was not. Waiting inside a collective "
      "looks like this, and so do many tiny kernels.",
      GpuNames(cards, facts.use.cards.size()), n == 1 ? "was" : "were", Percent(busy / n),
      Watt(power / n), Watt(limit / n));
  finding.numbers = {{"cards", n},
                     {"busy_mean_ratio", busy / n},
                     {"power_mean_w", power / n},
                     {"limit_w", limit / n}};
  finding.cannot_tell =
      "Waiting for data, for other cards, or work bound by memory: all of these draw few watts.";
  out.push_back(std::move(finding));
}

}  // namespace stoker::explain
