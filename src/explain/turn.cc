#include "explain/turn.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace stoker::explain {
namespace {

constexpr size_t kLeastPoints = 12;
constexpr double kLeastStrength = 5;
// A rise must also be seen by eye: twice the scatter of single points.
constexpr double kLeastRiseInNoise = 2;
constexpr double kLeastRiseOfFall = 0.03;
// Neighbouring steps of noise around a trend undo each other (a correlation of -0.5); those of a
// random walk do not (0). Above this value the curve may be a walk.
constexpr double kWalkSteps = -0.3;

// Least squares for four columns by elimination with pivots; false where they are dependent.
using Row = std::array<double, 4>;
bool Solve(const std::vector<Row>& x, const std::vector<double>& y, Row& out) {
  std::array<std::array<double, 5>, 4> a{};
  for (size_t r = 0; r < x.size(); ++r) {
    for (size_t i = 0; i < 4; ++i) {
      for (size_t j = 0; j < 4; ++j) a[i][j] += x[r][i] * x[r][j];
      a[i][4] += x[r][i] * y[r];
    }
  }
  for (size_t i = 0; i < 4; ++i) {
    size_t pivot = i;
    for (size_t r = i + 1; r < 4; ++r) {
      if (std::abs(a[r][i]) > std::abs(a[pivot][i])) pivot = r;
    }
    std::swap(a[i], a[pivot]);
    if (std::abs(a[i][i]) < 1e-12) return false;
    for (size_t r = 0; r < 4; ++r) {
      if (r == i) continue;
      const double factor = a[r][i] / a[i][i];
      for (size_t c = i; c < 5; ++c) a[r][c] -= factor * a[i][c];
    }
  }
  for (size_t i = 0; i < 4; ++i) out[i] = a[i][4] / a[i][i];
  return true;
}

struct Fit {
  double rise = 0;    // of the straight line after the turn, over its whole length
  double noise = 0;   // standard deviation of the residuals
  double memory = 0;  // lag-one autocorrelation of the residuals, corrected for its bias
  double steps = 0;   // lag-one autocorrelation of the steps between residuals
};

double LagOne(const std::vector<double>& y) {
  double sum = 0, lagged = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    sum += y[i] * y[i];
    if (i > 0) lagged += y[i] * y[i - 1];
  }
  return sum > 0 ? lagged / sum : 0;
}

// A parabola before the turn (losses fall ever slower) and a straight line after it, meeting there.
bool FitAround(const std::vector<double>& y, size_t turn, size_t from, Fit& fit) {
  const double scale = static_cast<double>(y.size());
  std::vector<Row> x;
  std::vector<double> values(y.begin() + static_cast<std::ptrdiff_t>(from), y.end());
  for (size_t i = from; i < y.size(); ++i) {
    const double d = (static_cast<double>(i) - static_cast<double>(turn)) / scale;
    x.push_back({1, std::min(d, 0.0), d < 0 ? d * d : 0, std::max(d, 0.0)});
  }
  Row c{};
  if (!Solve(x, values, c)) return false;
  const double n = static_cast<double>(values.size());
  double sum = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t k = 0; k < 4; ++k) values[i] -= c[k] * x[i][k];
    sum += values[i] * values[i];
  }
  fit.rise = c[3] * static_cast<double>(y.size() - 1 - turn) / scale;
  fit.noise = std::sqrt(sum / std::max(1.0, n - 5));
  const double r1 = LagOne(values);
  fit.memory = std::clamp(r1 + 1.5 * (1 + 4 * r1) / n, 0.0, 0.99);
  for (size_t i = 0; i + 1 < values.size(); ++i) values[i] = values[i + 1] - values[i];
  values.pop_back();
  fit.steps = LagOne(values);
  return true;
}

// The rise from its lowest point that a random walk with steps of this size reaches once in a
// hundred times (a Rayleigh law: exp(-3^2 / 2)).
double WalkRise(const std::vector<double>& y, size_t from, size_t turn) {
  double sum = 0;
  for (size_t i = from; i + 1 < y.size(); ++i) sum += (y[i + 1] - y[i]) * (y[i + 1] - y[i]);
  const double step = std::sqrt(sum / static_cast<double>(y.size() - 1 - from));
  return 3 * step * std::sqrt(static_cast<double>(y.size() - 1 - turn));
}

void SetBand(const std::vector<double>& smoothed, size_t half, Turn& turn) {
  const double error = 1.2 * turn.noise / std::sqrt(static_cast<double>(half) + 1);
  const double level = smoothed[turn.at] + 2 * error;
  turn.first = turn.last = turn.at;
  while (turn.first > 0 && smoothed[turn.first - 1] <= level) --turn.first;
  while (turn.last + 1 < smoothed.size() && smoothed[turn.last + 1] <= level) ++turn.last;
}

}  // namespace

std::vector<double> Smooth(const std::vector<double>& y, size_t half) {
  std::vector<double> out(y.size());
  for (size_t i = 0; i < y.size(); ++i) {
    const size_t from = i > half ? i - half : 0;
    const size_t to = std::min(y.size() - 1, i + half);
    double s0 = 0, s1 = 0, s2 = 0, t0 = 0, t1 = 0;
    for (size_t j = from; j <= to; ++j) {
      const double d = static_cast<double>(j) - static_cast<double>(i);
      const double w = 1 - std::abs(d) / (static_cast<double>(half) + 1);
      s0 += w;
      s1 += w * d;
      s2 += w * d * d;
      t0 += w * y[j];
      t1 += w * d * y[j];
    }
    const double det = s0 * s2 - s1 * s1;
    out[i] = det > 1e-9 ? (s2 * t0 - s1 * t1) / det : t0 / s0;
  }
  return out;
}

size_t SmoothingFor(size_t points) { return std::max<size_t>(2, points / 40); }

std::optional<Turn> FindTurn(const std::vector<double>& y) {
  const size_t n = y.size();
  if (n < kLeastPoints) return std::nullopt;
  const size_t half = SmoothingFor(n);
  const std::vector<double> smoothed = Smooth(y, half);
  Turn turn;
  turn.at =
      static_cast<size_t>(std::min_element(smoothed.begin(), smoothed.end()) - smoothed.begin());
  const size_t after = n - 1 - turn.at;
  if (turn.at < 4 || after < std::max<size_t>(4, n / 20)) return std::nullopt;
  const size_t reach = std::max<size_t>(after, 6);
  const size_t from = turn.at > reach ? turn.at - reach : 0;
  Fit fit;
  if (!FitAround(y, turn.at, from, fit)) return std::nullopt;
  turn.rise = fit.rise;
  turn.noise = fit.noise;
  const auto top = std::max_element(smoothed.begin(),
                                    smoothed.begin() + static_cast<std::ptrdiff_t>(turn.at) + 1);
  turn.fall = *top - smoothed[turn.at];
  const double inflation = (1 + fit.memory) / (1 - fit.memory);
  const double error = fit.noise * std::sqrt(12 * inflation / static_cast<double>(after));
  turn.strength = error > 0 ? turn.rise / error : (turn.rise > 0 ? 1e9 : 0);
  // Asked this way round so that a NaN from values too large to square is "no".
  if (!(turn.rise > 0 && turn.strength >= kLeastStrength)) return std::nullopt;
  if (!(turn.rise >= kLeastRiseInNoise * fit.noise && turn.rise >= kLeastRiseOfFall * turn.fall)) {
    return std::nullopt;
  }
  if (fit.steps > kWalkSteps && turn.rise < WalkRise(y, from, turn.at)) return std::nullopt;
  SetBand(smoothed, half, turn);
  return turn;
}

size_t FlatSince(const std::vector<double>& smoothed, double tolerance) {
  size_t since = smoothed.size();
  while (since > 0 && std::abs(smoothed[since - 1] - smoothed.back()) <= tolerance) --since;
  return since;
}

}  // namespace stoker::explain
