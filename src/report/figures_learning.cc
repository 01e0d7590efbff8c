#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "explain/curves.h"
#include "explain/words.h"
#include "report/notebook_figures.h"
#include "report/svg_chart.h"

namespace stoker::report {
namespace {

constexpr size_t kMostPoints = 1600;
constexpr size_t kMostPanels = 6;
constexpr int kEpochTicks = 8;

using query::MetricCurve;

// Points of a curve against epochs, else steps, else their order.
struct Drawn {
  std::vector<Point> points;
  std::string unit;
};

Drawn PointsOf(const MetricCurve& curve) {
  const auto& all = curve.points;
  const bool epochs = std::all_of(all.begin(), all.end(), [](const auto& p) { return p.epoch; });
  const bool steps = std::all_of(all.begin(), all.end(), [](const auto& p) { return p.step; });
  Drawn drawn;
  drawn.unit = epochs ? "epoch" : steps ? "step" : "line";
  for (size_t i = 0; i < all.size(); ++i) {
    const double x = epochs  ? *all[i].epoch
                     : steps ? static_cast<double>(*all[i].step)
                             : static_cast<double>(i + 1);
    drawn.points.push_back({x, all[i].value});
  }
  drawn.points = Thin(drawn.points, kMostPoints);
  return drawn;
}

struct Bounds {
  double x_low = NAN, x_high = NAN, y_low = NAN, y_high = NAN;
  void Add(const std::vector<Point>& points) {
    for (const Point& p : points) {
      if (!std::isfinite(p.x) || !std::isfinite(p.y)) continue;
      x_low = std::fmin(x_low, p.x);
      x_high = std::fmax(x_high, p.x);
      y_low = std::fmin(y_low, p.y);
      y_high = std::fmax(y_high, p.y);
    }
  }
};

void SetAxes(Chart& chart, const std::string& unit, int y_ticks, int x_ticks) {
  Bounds bounds;
  for (const Line& line : chart.lines) bounds.Add(line.points);
  chart.x = TightAxis(bounds.x_low, bounds.x_high, x_ticks, unit);
  chart.y = ValueAxis(bounds.y_low, bounds.y_high, y_ticks, "");
}

const explain::Finding* FindFinding(const NotebookJob& job, const std::string& id) {
  for (const explain::Finding& finding : job.explanation.findings) {
    if (finding.id == id) return &finding;
  }
  return nullptr;
}

std::optional<double> NumberOf(const explain::Finding* finding, const std::string& name) {
  if (finding == nullptr) return std::nullopt;
  for (const auto& [key, value] : finding->numbers) {
    if (key == name && std::isfinite(value)) return value;
  }
  return std::nullopt;
}

// The stretch in which the validation losses turned, where that was found.
std::optional<Zone> OnsetZone(const NotebookJob& job, bool with_label) {
  const explain::Finding* finding = FindFinding(job, "overfit");
  if (finding == nullptr) finding = FindFinding(job, "val-loss-turned");
  const auto onset = NumberOf(finding, "onset_epoch");
  const auto reach = NumberOf(finding, "onset_uncertainty_epochs");
  if (!onset || !reach) return std::nullopt;
  return Zone{*onset - *reach, *onset + *reach, "onset", with_label ? "validation turns" : ""};
}

const MetricCurve* FindCurve(const NotebookJob& job, const std::string& name) {
  for (const MetricCurve& curve : job.explanation.detail.curves) {
    if (curve.name == name && !curve.points.empty()) return &curve;
  }
  return nullptr;
}

std::optional<Figure> JudgeFigure(const NotebookJob& job) {
  const auto& best = job.explanation.detail.view.job.best;
  if (!best) return std::nullopt;
  const MetricCurve* curve = FindCurve(job, best->metric);
  if (curve == nullptr || curve->points.size() < 2) return std::nullopt;
  Drawn drawn = PointsOf(*curve);
  Chart chart;
  chart.height = 270;
  chart.right = 64;
  chart.title = best->metric + " by " + drawn.unit;
  chart.lines.push_back({"judge", "", drawn.points});
  SetAxes(chart, drawn.unit, 6, kEpochTicks);
  std::string caption = best->metric + " by " + drawn.unit;
  if (best->epoch && drawn.unit == "epoch") {
    const double last = chart.x.to;
    if (last > *best->epoch) {
      chart.zones.push_back(
          {*best->epoch, last, "after",
           "after the best: " + explain::Count(last - *best->epoch, "epoch", "epochs")});
    }
    chart.marks.push_back({*best->epoch, best->value, "best",
                           fmt::format("{} at {}", explain::MetricValue(best->value),
                                       explain::EpochName(*best->epoch))});
    caption += fmt::format(", best {} at epoch {}", explain::MetricValue(best->value),
                           explain::EpochName(*best->epoch));
  }
  caption += fmt::format("; it ended at {}.", explain::MetricValue(curve->points.back().value));
  return Figure{ChartSvg(chart), std::move(caption)};
}

// "train/box_loss" and "val/box_loss" share "box_loss".
std::string Stem(const std::string& name) {
  for (const char* prefix : {"train/", "train_", "val/", "val_", "eval/", "eval_", "validation/"}) {
    if (name.rfind(prefix, 0) == 0) return name.substr(std::string_view(prefix).size());
  }
  return name;
}

struct LossPair {
  std::string stem;
  const MetricCurve* train = nullptr;
  const MetricCurve* val = nullptr;
};

std::vector<LossPair> LossPairs(const NotebookJob& job) {
  std::vector<LossPair> pairs;
  for (const MetricCurve& curve : job.explanation.detail.curves) {
    const bool train = explain::IsTrainLoss(curve.name);
    if ((!train && !explain::IsValLoss(curve.name)) || curve.points.size() < 2) continue;
    const std::string stem = Stem(curve.name);
    auto pair =
        std::find_if(pairs.begin(), pairs.end(), [&](const LossPair& p) { return p.stem == stem; });
    if (pair == pairs.end()) {
      if (pairs.size() == kMostPanels) continue;
      pair = pairs.insert(pairs.end(), LossPair{stem});
    }
    (train ? pair->train : pair->val) = &curve;
  }
  return pairs;
}

// Room for one of three pictures in a row.
void MakeSmall(Chart& chart) {
  chart.width = 292;
  chart.height = 178;
  chart.left = 44;
  chart.right = 40;
}

std::string Panel(const std::string& name, const Chart& chart) {
  return "<div class=\"panel\"><h4>" + EscapeHtml(Printable(name)) + "</h4>" + ChartSvg(chart) +
         "</div>\n";
}

std::optional<Figure> LossFigure(const NotebookJob& job) {
  const std::vector<LossPair> pairs = LossPairs(job);
  if (pairs.empty()) return std::nullopt;
  const bool small = pairs.size() > 1;
  Figure figure;
  figure.grid = small;
  const auto onset = OnsetZone(job, !small);
  for (const LossPair& pair : pairs) {
    Chart chart;
    std::string unit;
    const auto add = [&](const MetricCurve* curve, const char* tone, const char* label) {
      if (curve == nullptr) return;
      Drawn drawn = PointsOf(*curve);
      unit = drawn.unit;
      chart.lines.push_back({tone, label, std::move(drawn.points)});
    };
    add(pair.train, "trainloss", "train");
    add(pair.val, "val", "val");
    chart.title = pair.stem + ", train and validation, by " + unit;
    if (small) MakeSmall(chart);
    SetAxes(chart, small ? "" : unit, small ? 4 : 6, small ? 3 : kEpochTicks);
    if (onset && unit == "epoch") chart.zones.push_back(*onset);
    figure.svg += small ? Panel(pair.stem, chart) : ChartSvg(chart);
  }
  figure.caption = "Losses on the training data and on the validation data";
  if (onset) figure.caption += "; shaded: where the validation losses turned, give or take";
  figure.caption += small ? ". By epoch." : ".";
  return figure;
}

std::optional<Figure> OtherFigure(const NotebookJob& job) {
  const auto& best = job.explanation.detail.view.job.best;
  Figure figure;
  figure.grid = true;
  size_t panels = 0, left_out = 0;
  for (const MetricCurve& curve : job.explanation.detail.curves) {
    const bool shown = (best && curve.name == best->metric) || explain::IsTrainLoss(curve.name) ||
                       explain::IsValLoss(curve.name);
    if (shown || curve.points.size() < 2 || curve.name.rfind("lr/", 0) == 0) continue;
    if (panels == kMostPanels) {
      ++left_out;
      continue;
    }
    Drawn drawn = PointsOf(curve);
    Chart chart;
    MakeSmall(chart);
    chart.title = curve.name + " by " + drawn.unit;
    chart.lines.push_back({"judge", "", std::move(drawn.points)});
    SetAxes(chart, "", 4, 3);
    figure.svg += Panel(curve.name, chart);
    ++panels;
  }
  if (panels == 0) return std::nullopt;
  figure.caption = "Other numbers that the run said of itself";
  if (left_out > 0) figure.caption += fmt::format("; {} more are on record", left_out);
  figure.caption += ".";
  return figure;
}

}  // namespace

std::vector<Figure> LearningFigures(const NotebookJob& job) {
  std::vector<Figure> figures;
  if (auto figure = JudgeFigure(job)) figures.push_back(std::move(*figure));
  if (auto figure = LossFigure(job)) figures.push_back(std::move(*figure));
  if (auto figure = OtherFigure(job)) figures.push_back(std::move(*figure));
  return figures;
}

}  // namespace stoker::report
