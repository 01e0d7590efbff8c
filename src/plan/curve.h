// Throughput against a card's watts: a concave, rising, piecewise-linear curve through measured
// points, relative to full power. Never extrapolated below the lowest measured point.
#pragma once

#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace stoker::plan {

struct CurvePoint {
  double power_w = 0;   // draw, not limit: a limit that does not bind says nothing
  double relative = 0;  // throughput there over throughput at the highest point, 0 to 1
};

class Curve {
 public:
  // kInvalid for fewer than two points, a point outside (0, 1], or power that does not rise with
  // throughput. Points below the concave hull are measurement noise and are lifted onto it; with
  // fewer than four points an offset exponential 1 - b*exp(-(p - p0)/s) fills the spaces.
  static Result<Curve> Fit(std::vector<CurvePoint> points);

  double RelativeAt(double power_w) const;  // REQUIRES: power_w >= lowest_w()
  double PowerAt(double relative) const;    // REQUIRES: relative >= lowest_relative()
  double lowest_w() const { return points_.front().power_w; }
  double highest_w() const { return points_.back().power_w; }
  double lowest_relative() const { return points_.front().relative; }
  const std::vector<CurvePoint>& points() const { return points_; }

  // The draw at which a running card gives the most throughput per watt above a parked one: below
  // this share of the budget it is better to run fewer cards than to cap further. The lowest
  // measured power where the curve does not bend before it.
  double BreakEvenW(double parked_w) const;

 private:
  explicit Curve(std::vector<CurvePoint> points) : points_(std::move(points)) {}
  std::vector<CurvePoint> points_;  // rising in both
};

}  // namespace stoker::plan
