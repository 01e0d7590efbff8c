#include "plan/curve.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace stoker::plan {
namespace {

double Slope(const CurvePoint& a, const CurvePoint& b) {
  return (b.relative - a.relative) / (b.power_w - a.power_w);
}

// Upper concave hull, left to right: a point under the line between its neighbours goes.
std::vector<CurvePoint> ConcaveHull(const std::vector<CurvePoint>& points) {
  std::vector<CurvePoint> hull;
  for (const CurvePoint& p : points) {
    while (hull.size() >= 2 && Slope(hull[hull.size() - 2], hull.back()) <= Slope(hull.back(), p)) {
      hull.pop_back();
    }
    hull.push_back(p);
  }
  return hull;
}

// Shape of the offset exponential between two points: a third one fixes the bend, without it the
// median of public sweeps is taken (a scale of 0.22 of full power).
double FitScale(const std::vector<CurvePoint>& points) {
  const double full_w = points.back().power_w;
  if (points.size() < 3) return 0.22 * full_w;
  const CurvePoint &a = points[0], &b = points[1], &c = points[2];
  const double wanted = (b.relative - a.relative) / (c.relative - a.relative);
  double low = 0.02 * full_w, high = 50 * full_w;
  for (int i = 0; i < 100; ++i) {
    const double s = std::sqrt(low * high);
    const double got =
        (1 - std::exp(-(b.power_w - a.power_w) / s)) / (1 - std::exp(-(c.power_w - a.power_w) / s));
    (got > wanted ? low : high) = s;
  }
  return std::sqrt(low * high);
}

std::vector<CurvePoint> FillByExponential(const std::vector<CurvePoint>& points) {
  constexpr int kSteps = 16;
  const double scale = FitScale(points);
  const CurvePoint &a = points.front(), &c = points.back();
  const double whole = 1 - std::exp(-(c.power_w - a.power_w) / scale);
  std::vector<CurvePoint> out;
  for (int i = 0; i <= kSteps; ++i) {
    const double p = a.power_w + (c.power_w - a.power_w) * i / kSteps;
    const double share = (1 - std::exp(-(p - a.power_w) / scale)) / whole;
    out.push_back({p, a.relative + (c.relative - a.relative) * share});
  }
  return out;
}

}  // namespace

Result<Curve> Curve::Fit(std::vector<CurvePoint> points) {
  if (points.size() < 2) return Invalid("a curve needs two points or more", "curve");
  std::sort(points.begin(), points.end(),
            [](const CurvePoint& a, const CurvePoint& b) { return a.power_w < b.power_w; });
  for (size_t i = 0; i < points.size(); ++i) {
    const CurvePoint& p = points[i];
    if (!(p.power_w > 0) || !(p.relative > 0) || p.relative > 1.0001) {
      return Invalid("power_w must be above 0 and relative within 0 to 1", "curve");
    }
    if (i > 0 && p.power_w <= points[i - 1].power_w)
      return Invalid("two points at the same power_w", "curve");
    // A dip is noise: more power never makes a card slower.
    if (i > 0) points[i].relative = std::max(p.relative, points[i - 1].relative);
  }
  std::vector<CurvePoint> hull = ConcaveHull(points);
  if (hull.back().relative <= hull.front().relative) {
    return Invalid("throughput does not rise with power: the limit did not bind", "curve",
                   "measure at lower limits");
  }
  // Plateaus at the top make the inverse ambiguous: the least power that gives the throughput
  // counts.
  while (hull.size() > 2 && hull[hull.size() - 2].relative >= hull.back().relative) hull.pop_back();
  if (points.size() < 4) hull = FillByExponential(hull);
  return Curve(std::move(hull));
}

double Curve::RelativeAt(double power_w) const {
  STOKER_CHECK(power_w >= lowest_w() * (1 - 1e-9));
  if (power_w >= highest_w()) return points_.back().relative;
  for (size_t i = 1; i < points_.size(); ++i) {
    if (power_w <= points_[i].power_w) {
      return points_[i - 1].relative +
             Slope(points_[i - 1], points_[i]) * (power_w - points_[i - 1].power_w);
    }
  }
  return points_.back().relative;
}

double Curve::PowerAt(double relative) const {
  STOKER_CHECK(relative >= lowest_relative() * (1 - 1e-9));
  if (relative >= points_.back().relative) return highest_w();
  for (size_t i = 1; i < points_.size(); ++i) {
    if (relative <= points_[i].relative) {
      return points_[i - 1].power_w +
             (relative - points_[i - 1].relative) / Slope(points_[i - 1], points_[i]);
    }
  }
  return highest_w();
}

double Curve::BreakEvenW(double parked_w) const {
  const auto gain = [&](const CurvePoint& p) { return p.relative / (p.power_w - parked_w); };
  const auto best = std::max_element(
      points_.begin(), points_.end(),
      [&](const auto& a, const auto& b) { return a.power_w <= parked_w || gain(a) < gain(b); });
  return best->power_w;
}

}  // namespace stoker::plan
