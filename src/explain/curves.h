// The metric curves of a run as the rules need them: in order, finite, short enough to compute
// with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "query/views.h"

namespace stoker::explain {

struct Curve {
  std::vector<double> x;  // epochs; steps where `by_step`
  std::vector<double> y;  // finite
  std::vector<WallTime> at;
  bool by_step = false;
  std::optional<double> bad_x;  // the first x at which the run said NaN or infinity
};

// Sorted by x; where a resumed run says an epoch twice, the later line counts. Runs of more than
// 2,000 points are averaged down.
Curve MakeCurve(const query::MetricCurve& curve);

bool IsTrainLoss(const std::string& name);  // "train/box_loss", "train_loss", "loss"
bool IsValLoss(const std::string& name);    // "val/cls_loss", "eval_loss"

// The mean of several curves over the x they share, each scaled to the range 0 to 1 first, so that
// no loss drowns another. Empty where they share fewer than two points.
Curve Combine(const std::vector<Curve>& curves);

}  // namespace stoker::explain
