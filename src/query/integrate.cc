#include "query/integrate.h"

#include <algorithm>

namespace stoker::query {
namespace {

using ledger::Sample;

double SecondsBetween(WallTime from, WallTime to) {
  return static_cast<double>((to - from).count()) / 1000;
}

bool Has(const Sample& sample) { return sample.absence == Absence::kNone; }

}  // namespace

std::optional<double> MedianStep(const std::vector<Sample>& samples) {
  if (samples.size() < 2) return std::nullopt;
  std::vector<int64_t> steps;
  steps.reserve(samples.size() - 1);
  for (size_t i = 1; i < samples.size(); ++i) {
    steps.push_back((samples[i].at - samples[i - 1].at).count());
  }
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  return *middle > 0 ? std::optional<double>(static_cast<double>(*middle) / 1000) : std::nullopt;
}

Sum IntegrateGauge(const std::vector<Sample>& samples, Window window) {
  Sum sum;
  std::vector<Sample> inside;
  for (const Sample& s : samples) {
    if (s.at >= window.from && s.at <= window.to) inside.push_back(s);
  }
  const std::optional<double> period = MedianStep(inside);
  if (!period) {
    sum.gap_s = window.seconds();
    return sum;
  }
  double total = 0;
  for (size_t i = 0; i < inside.size(); ++i) {
    if (!Has(inside[i])) continue;
    const bool last = i + 1 == inside.size();
    const double step = SecondsBetween(inside[i].at, last ? window.to : inside[i + 1].at);
    double stands_s = step > 2 * *period ? *period : step;
    // The first read comes a moment after the start; it speaks for that moment too.
    const double head = SecondsBetween(window.from, inside[i].at);
    if (i == 0 && head <= 2 * *period) stands_s += head;
    total += inside[i].value * stands_s;
    sum.covered_s += stands_s;
  }
  if (sum.covered_s > 0) sum.value = total;
  sum.gap_s = std::max(0.0, window.seconds() - sum.covered_s);
  return sum;
}

Sum CounterRise(const std::vector<Sample>& samples, Window window, double most_per_s) {
  Sum sum;
  double total = 0;
  const Sample* before = nullptr;
  for (const Sample& sample : samples) {
    if (!Has(sample)) continue;
    const Sample* earlier = before;
    before = &sample;
    if (earlier == nullptr || sample.at <= earlier->at) continue;
    const WallTime from = std::max(earlier->at, window.from);
    const WallTime to = std::min(sample.at, window.to);
    if (to <= from) continue;
    const bool reset = sample.value < earlier->value;
    const double rise = reset ? sample.value : sample.value - earlier->value;
    const double step_s = SecondsBetween(earlier->at, sample.at);
    // One read's worth of slack: counters move in jumps of their own.
    if (rise < 0 || rise > most_per_s * (step_s + 1)) continue;
    sum.resets += reset ? 1 : 0;
    const double inside_s = SecondsBetween(from, to);
    total += rise * inside_s / step_s;
    sum.covered_s += inside_s;
  }
  if (sum.covered_s > 0) sum.value = total;
  sum.gap_s = std::max(0.0, window.seconds() - sum.covered_s);
  return sum;
}

}  // namespace stoker::query
