// Running numbers of a training run.
#pragma once

#include <cstdint>

#include "base/units.h"

namespace stoker::train {

// Weighted mean; 0 where nothing was added.
class Mean {
 public:
  void Add(double value, double weight = 1) {
    sum_ += value * weight;
    weight_ += weight;
  }
  double value() const { return weight_ > 0 ? sum_ / weight_ : 0; }
  double weight() const { return weight_; }
  void Reset() { *this = Mean(); }

 private:
  double sum_ = 0;
  double weight_ = 0;
};

// Units a second over everything that was added.
class Rate {
 public:
  void Add(double units, Seconds time) {
    units_ += units;
    time_ += time;
  }
  double per_s() const { return time_.count() > 0 ? units_ / time_.count() : 0; }

 private:
  double units_ = 0;
  Seconds time_{0};
};

}  // namespace stoker::train
