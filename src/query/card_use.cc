#include "query/card_use.h"

#include <algorithm>
#include <cstdint>

#include "query/throttle.h"

namespace stoker::query {
namespace {

using ledger::Sample;

// No card of today draws more; a faster rise is a counter of another unit or a damaged one.
constexpr double kMostJoulesPerS = 5000;

struct Stats {
  int64_t count = 0;
  double sum = 0, min = 0, max = 0, last = 0;
  std::optional<double> Mean() const {
    return count > 0 ? std::optional<double>(sum / static_cast<double>(count)) : std::nullopt;
  }
  std::optional<double> IfAny(double value) const {
    return count > 0 ? std::optional<double>(value) : std::nullopt;
  }
};

bool Inside(const Sample& sample, Window window) {
  return sample.at >= window.from && sample.at <= window.to;
}

Stats StatsOf(const std::vector<Sample>& samples, Window window) {
  Stats stats;
  for (const Sample& s : samples) {
    if (s.absence != Absence::kNone || !Inside(s, window)) continue;
    stats.min = stats.count == 0 ? s.value : std::min(stats.min, s.value);
    stats.max = stats.count == 0 ? s.value : std::max(stats.max, s.value);
    stats.sum += s.value;
    stats.last = s.value;
    ++stats.count;
  }
  return stats;
}

// A read is an instant at which busy or power was asked for; it counts once.
void CountReads(const CardSamples& samples, Window window, CardUse& use) {
  size_t b = 0, p = 0;
  const auto& busy = samples.busy;
  const auto& power = samples.power;
  while (b < busy.size() || p < power.size()) {
    const bool take_busy = b < busy.size() && (p == power.size() || busy[b].at <= power[p].at);
    const WallTime at = take_busy ? busy[b].at : power[p].at;
    bool answered = false;
    const bool inside = at >= window.from && at <= window.to;
    for (; b < busy.size() && busy[b].at == at; ++b) answered |= busy[b].absence == Absence::kNone;
    for (; p < power.size() && power[p].at == at; ++p)
      answered |= power[p].absence == Absence::kNone;
    if (inside) ++(answered ? use.samples : use.unread);
  }
}

ThrottleUse ByBits(const ThrottleReason& reason, const std::vector<Sample>& bits, Window window) {
  ThrottleUse use;
  use.reason = reason.name;
  for (const Sample& s : bits) {
    if (s.absence != Absence::kNone || !Inside(s, window) || s.value < 0) continue;
    if (!(static_cast<uint64_t>(s.value) & reason.bit)) continue;
    const double at_s = static_cast<double>((s.at - window.from).count()) / 1000;
    if (use.samples == 0) use.first_s = at_s;
    use.last_s = at_s;
    ++use.samples;
  }
  return use;
}

void AddThrottle(const CardSamples& samples, Window window, CardUse& use) {
  for (const Sample& s : samples.throttle) {
    if (s.absence != Absence::kNone || !Inside(s, window) || s.value < 0) continue;
    use.throttled_samples += (static_cast<uint64_t>(s.value) & kThrottling) ? 1 : 0;
  }
  const auto reasons = ThrottleReasons();
  for (size_t i = 0; i < reasons.size(); ++i) {
    ThrottleUse reason = ByBits(reasons[i], samples.throttle, window);
    if (i < samples.throttled_s.size() && !samples.throttled_s[i].empty()) {
      reason.seconds = CounterRise(samples.throttled_s[i], window, 1.0).value;
    }
    // The counters also see what fell between two reads.
    if (reason.samples > 0 || reason.seconds.value_or(0) > 0) use.throttle.push_back(reason);
  }
}

}  // namespace

CardEnergy EnergyOfCard(const CardSamples& samples, Window window) {
  CardEnergy energy;
  const Sum integral = IntegrateGauge(samples.power, window);
  const Sum counter = CounterRise(samples.energy, window, kMostJoulesPerS);
  energy.integral_j = integral.value;
  energy.counter_j = counter.value;
  energy.joules = integral.value;
  energy.gap_s = integral.gap_s;
  if (!counter.value) return energy;
  // What the first and the last read leave over at the edges is filled in at the mean power.
  const double mean_w = *counter.value / counter.covered_s;
  const double edge_s = std::min(counter.gap_s, 4 * MedianStep(samples.energy).value_or(0));
  const double filled_j = *counter.value + mean_w * edge_s;
  if (integral.value && counter.covered_s < 0.9 * integral.covered_s) return energy;
  energy.counter_j = filled_j;
  energy.joules = filled_j;
  energy.gap_s = std::max(0.0, counter.gap_s - edge_s);
  return energy;
}

CardUse UseOfCard(const CardSamples& samples, Window window) {
  CardUse use;
  CountReads(samples, window, use);
  const Stats busy = StatsOf(samples.busy, window);
  const Stats power = StatsOf(samples.power, window);
  const Stats temperature = StatsOf(samples.temperature, window);
  const Stats margin = StatsOf(samples.margin, window);
  const Stats memory = StatsOf(samples.memory, window);
  const Stats limit = StatsOf(samples.limit, window);
  use.busy_mean_ratio = busy.Mean();
  use.power_mean_w = power.Mean();
  use.power_peak_w = power.IfAny(power.max);
  use.temperature_mean_c = temperature.Mean();
  use.temperature_max_c = temperature.IfAny(temperature.max);
  use.margin_min_c = margin.IfAny(margin.min);
  use.memory_peak_bytes = memory.IfAny(memory.max);
  use.limit_w = limit.IfAny(limit.last);
  use.period_s = MedianStep(samples.power.empty() ? samples.busy : samples.power);
  const CardEnergy energy = EnergyOfCard(samples, window);
  use.energy_j = energy.joules;
  use.energy_counter_j = energy.counter_j;
  use.energy_integral_j = energy.integral_j;
  use.energy_gap_s = energy.gap_s;
  AddThrottle(samples, window, use);
  return use;
}

UseTotal TotalOf(const std::vector<CardUse>& cards) {
  UseTotal total;
  double busy = 0, power = 0, energy = 0;
  int64_t busy_n = 0, power_n = 0, energy_n = 0;
  for (const CardUse& card : cards) {
    total.samples += card.samples;
    total.unread += card.unread;
    total.throttled_samples += card.throttled_samples;
    if (card.busy_mean_ratio) {
      busy += *card.busy_mean_ratio * static_cast<double>(card.samples);
      busy_n += card.samples;
    }
    if (card.power_mean_w) {
      power += *card.power_mean_w * static_cast<double>(card.samples);
      power_n += card.samples;
    }
    if (card.power_peak_w) {
      total.power_peak_w = std::max(total.power_peak_w.value_or(0), *card.power_peak_w);
    }
    if (card.energy_j) {
      energy += *card.energy_j;
      ++energy_n;
    }
  }
  if (busy_n > 0) total.busy_mean_ratio = busy / static_cast<double>(busy_n);
  if (power_n > 0) total.power_mean_w = power / static_cast<double>(power_n);
  if (energy_n > 0) total.gpu_energy_j = energy;
  return total;
}

}  // namespace stoker::query
