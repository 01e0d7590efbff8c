// Tells a trend from noise in one curve of a run. Pure arithmetic, no words.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace stoker::explain {

// A curve that fell, reached its lowest point and then rose by more than its noise can do.
struct Turn {
  size_t at = 0;               // index of the lowest point of the smoothed curve
  size_t first = 0, last = 0;  // indices between which the lowest point lies, given the noise
  double rise = 0;             // of the trend, from the lowest point to the end
  double fall = 0;             // of the smoothed curve, from its highest point before to the lowest
  double noise = 0;            // standard deviation of single points around the trend
  double strength = 0;         // rise in standard errors
};

// Local linear smoothing with a triangular window `half` points to each side.
std::vector<double> Smooth(const std::vector<double>& y, size_t half);
size_t SmoothingFor(size_t points);  // the half-width used here

// Nullopt where there is no turn, or none that can be told from noise: fewer than 12 points, a rise
// under five standard errors (errors that remember their past are counted as such), or a curve that
// wanders like a random walk, whose rises mean nothing. All values must be finite.
std::optional<Turn> FindTurn(const std::vector<double>& y);

// The index from which the curve stays as good as its end: within `tolerance` of the final smoothed
// value. Equal to y.size() where even the last point is not.
size_t FlatSince(const std::vector<double>& smoothed, double tolerance);

}  // namespace stoker::explain
