#include "explain/curves.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/text.h"

namespace stoker::explain {
namespace {

constexpr size_t kMostPoints = 2000;

bool Contains(const std::string& text, const char* word) {
  return text.find(word) != std::string::npos;
}

bool StartsWithAny(const std::string& text, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return text.rfind(word, 0) == 0; });
}

// Averages neighbours so that a step-by-step log stays cheap to smooth.
Curve Thin(Curve curve) {
  const size_t n = curve.x.size();
  if (n <= kMostPoints) return curve;
  const size_t group = (n + kMostPoints - 1) / kMostPoints;
  Curve out;
  out.by_step = curve.by_step;
  out.bad_x = curve.bad_x;
  for (size_t from = 0; from < n; from += group) {
    const size_t to = std::min(n, from + group);
    double x = 0, y = 0;
    for (size_t i = from; i < to; ++i) {
      x += curve.x[i];
      y += curve.y[i];
    }
    out.x.push_back(x / static_cast<double>(to - from));
    out.y.push_back(y / static_cast<double>(to - from));
    out.at.push_back(curve.at[to - 1]);
  }
  return out;
}

}  // namespace

Curve MakeCurve(const query::MetricCurve& curve) {
  Curve out;
  const auto& points = curve.points;
  const bool epochs = std::all_of(points.begin(), points.end(),
                                  [](const ledger::MetricPoint& p) { return p.epoch.has_value(); });
  const bool steps = std::all_of(points.begin(), points.end(),
                                 [](const ledger::MetricPoint& p) { return p.step.has_value(); });
  out.by_step = !epochs;
  std::map<double, std::pair<double, WallTime>> by_x;
  for (size_t i = 0; i < points.size(); ++i) {
    const ledger::MetricPoint& p = points[i];
    const double x = epochs  ? *p.epoch
                     : steps ? static_cast<double>(*p.step)
                             : static_cast<double>(i + 1);
    if (!std::isfinite(x)) continue;
    if (std::isfinite(p.value)) {
      by_x[x] = {p.value, p.at};
    } else {
      out.bad_x = std::min(out.bad_x.value_or(x), x);
    }
  }
  for (const auto& [x, point] : by_x) {
    out.x.push_back(x);
    out.y.push_back(point.first);
    out.at.push_back(point.second);
  }
  return Thin(std::move(out));
}

bool IsTrainLoss(const std::string& name) {
  const std::string lower = ToLower(name);
  if (!Contains(lower, "loss")) return false;
  return StartsWithAny(lower, {"train"}) || lower == "loss";
}

bool IsValLoss(const std::string& name) {
  const std::string lower = ToLower(name);
  return Contains(lower, "loss") && StartsWithAny(lower, {"val", "eval", "dev/", "dev_"});
}

Curve Combine(const std::vector<Curve>& curves) {
  Curve out;
  struct Shared {
    double sum = 0;
    size_t count = 0;
    WallTime at;
  };
  std::map<double, Shared> shared;
  for (const Curve& curve : curves) {
    if (curve.y.empty()) return out;
    const auto [low, high] = std::minmax_element(curve.y.begin(), curve.y.end());
    const double range = *high > *low ? *high - *low : 1;
    if (!std::isfinite(range)) return Curve{};
    for (size_t i = 0; i < curve.x.size(); ++i) {
      Shared& s = shared[curve.x[i]];
      s.sum += (curve.y[i] - *low) / range;
      s.at = std::max(s.at, curve.at[i]);
      ++s.count;
    }
    out.by_step |= curve.by_step;
  }
  for (const auto& [x, s] : shared) {
    if (s.count != curves.size()) continue;
    out.x.push_back(x);
    out.y.push_back(s.sum / static_cast<double>(s.count));
    out.at.push_back(s.at);
  }
  if (out.x.size() < 2) return Curve{};
  return out;
}

}  // namespace stoker::explain
