#include "query/rhythm.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace stoker::query {
namespace {

constexpr double kLeastStep = 0.1, kMostStep = 60;  // s
constexpr size_t kMostSteps = 1'000'000;
constexpr size_t kLeastWork = 30;  // steps
// Where reads lie further apart than this, a pause and a lone low read look the same.
constexpr double kMostStepForStalls = 5;  // s
constexpr double kLeastStall = 1;         // s
constexpr double kLow = 0.5;              // of the 90th percentile of power, and of the most memory
constexpr double kHold = 2;               // s: how long a read stands for what follows
constexpr double kHoldMemory = 30;        // s: read more rarely
constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();

double Quantile(std::vector<double> values, double share) {
  const size_t at =
      std::min(values.size() - 1, static_cast<size_t>(share * static_cast<double>(values.size())));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

std::optional<double> MedianOf(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

struct Mean {
  double sum = 0;
  int64_t count = 0;
  void Add(float value) {
    if (std::isnan(value)) return;
    sum += value;
    ++count;
  }
  std::optional<double> value() const {
    return count > 0 ? std::optional<double>(sum / static_cast<double>(count)) : std::nullopt;
  }
};

}  // namespace

WallTime RhythmBuilder::TimeOf(size_t step) const {
  return window_.from + Millis(std::llround(static_cast<double>(step) * step_s_ * 1000));
}

RhythmBuilder::Line RhythmBuilder::OnGrid(const std::vector<ledger::Sample>& samples,
                                          double hold_s) const {
  Line line(power_.size(), kNothing);
  for (const ledger::Sample& s : samples) {
    if (s.absence != Absence::kNone || s.at < window_.from || s.at > window_.to) continue;
    const double at_s = static_cast<double>((s.at - window_.from).count()) / 1000;
    line[std::min(line.size() - 1, static_cast<size_t>(at_s / step_s_))] =
        static_cast<float>(s.value);
  }
  const auto hold = static_cast<size_t>(std::max(2.0, hold_s / step_s_));
  size_t known = line.size();
  for (size_t i = 0; i < line.size(); ++i) {
    if (!std::isnan(line[i])) {
      known = i;
    } else if (known < i && i - known <= hold) {
      line[i] = line[known];
    }
  }
  return line;
}

void RhythmBuilder::Add(int gpu, const CardSamples& samples) {
  if (step_s_ == 0) {
    const double step = MedianStep(samples.power).value_or(1);
    step_s_ = std::max(std::clamp(step, kLeastStep, kMostStep),
                       window_.seconds() / static_cast<double>(kMostSteps));
    const auto steps = static_cast<size_t>(window_.seconds() / step_s_) + 1;
    answered_.resize(steps);
    power_.resize(steps);
    memory_.resize(steps);
  }
  gpus_.push_back(gpu);
  const Line power = OnGrid(samples.power, kHold);
  const Line memory = OnGrid(samples.memory, kHoldMemory);
  for (size_t i = 0; i < power.size(); ++i) {
    if (!std::isnan(power[i])) {
      power_[i] += power[i];
      ++answered_[i];
    }
    if (!std::isnan(memory[i])) memory_[i] += memory[i];
  }
  busy_.push_back(OnGrid(samples.busy, kHold));
}

// The steps at which all cards answered, from the first to the last at which the job held at least
// half of the memory that it held at most: what lies before is start-up, what lies behind is over.
std::vector<size_t> RhythmBuilder::Working() const {
  const double most = *std::max_element(memory_.begin(), memory_.end());
  std::vector<size_t> out;
  for (size_t i = 0; i < power_.size(); ++i) {
    if (Whole(i)) out.push_back(i);
  }
  if (most <= 0) return out;
  const auto held = [&](size_t i) { return memory_[i] >= kLow * most; };
  const auto first = std::find_if(out.begin(), out.end(), held);
  const auto last = std::find_if(out.rbegin(), out.rend(), held).base();
  return first < last ? std::vector<size_t>(first, last) : std::vector<size_t>{};
}

std::optional<Rhythm> RhythmBuilder::Finish() const {
  if (power_.empty()) return std::nullopt;
  const std::vector<size_t> work = Working();
  if (work.size() < kLeastWork) return std::nullopt;
  Rhythm out;
  out.from = TimeOf(work.front());
  out.to = TimeOf(work.back() + 1);
  out.step_s = step_s_;
  std::vector<double> power;
  power.reserve(work.size());
  Mean busy;
  for (const size_t i : work) {
    power.push_back(power_[i]);
    out.power_mean_w += power_[i] / static_cast<double>(work.size());
    for (const Line& card : busy_) busy.Add(card[i]);
  }
  out.busy_mean_ratio = busy.value();
  out.power_p90_w = Quantile(std::move(power), 0.9);
  if (step_s_ <= kMostStepForStalls) FindStalls(work.front(), work.back(), out);
  return out;
}

void RhythmBuilder::FindStalls(size_t first, size_t last, Rhythm& out) const {
  const auto low = [&](size_t i) { return Whole(i) && power_[i] < kLow * out.power_p90_w; };
  std::vector<double> lengths, periods;
  std::vector<size_t> steps;
  for (size_t i = first; i <= last; ++i) {
    if (!low(i)) continue;
    size_t end = i;
    while (end <= last && low(end)) ++end;
    const double length = static_cast<double>(end - i) * step_s_;
    // What never rises again is the end of the work, not a pause in it.
    if (end <= last && length >= kLeastStall) {
      if (!out.stalls.empty()) {
        periods.push_back(static_cast<double>((TimeOf(i) - out.stalls.back().from).count()) / 1000);
      }
      lengths.push_back(length);
      out.stalls.push_back({TimeOf(i), TimeOf(end)});
      out.stalled_s += length;
      for (size_t k = i; k < end; ++k) steps.push_back(k);
    }
    i = end;
  }
  out.stall_median_s = MedianOf(std::move(lengths));
  out.stall_period_s = MedianOf(std::move(periods));
  if (!steps.empty()) DescribeStalls(steps, out);
}

void RhythmBuilder::DescribeStalls(const std::vector<size_t>& steps, Rhythm& out) const {
  Mean power;
  for (const size_t i : steps) power.Add(static_cast<float>(power_[i]));
  out.stall_power_w = power.value();
  for (size_t card = 0; card < busy_.size(); ++card) {
    Mean busy;
    for (const size_t i : steps) busy.Add(busy_[card][i]);
    if (busy.value()) out.stall_busy_ratio.emplace_back(gpus_[card], *busy.value());
  }
}

}  // namespace stoker::query
