// The learning rate over a run: a straight climb, then half a cosine (SGDR, arXiv 1608.03983,
// without restarts).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace stoker::train {

struct Schedule {
  double peak = 0.1;
  double last_part = 0.01;  // the rate at the end, as a part of the peak
  int64_t warmup_steps = 0;
  int64_t steps = 1;  // all, warm-up included
};

// For the step with this number, counted from 0 over the whole run.
inline double LearningRate(const Schedule& schedule, int64_t step) {
  if (step < schedule.warmup_steps) {
    return schedule.peak * static_cast<double>(step + 1) /
           static_cast<double>(schedule.warmup_steps);
  }
  const auto left =
      static_cast<double>(std::max<int64_t>(1, schedule.steps - schedule.warmup_steps));
  const double part = std::min(1.0, static_cast<double>(step - schedule.warmup_steps) / left);
  const double cosine = (1 + std::cos(part * std::numbers::pi)) / 2;
  return schedule.peak * (schedule.last_part + (1 - schedule.last_part) * cosine);
}

}  // namespace stoker::train
