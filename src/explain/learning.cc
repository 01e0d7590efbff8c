#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "explain/curves.h"
#include "explain/rules.h"
#include "explain/turn.h"
#include "explain/words.h"

namespace stoker::explain {
namespace {

constexpr double kJoulesPerKwh = 3.6e6;

const query::MetricCurve* FindCurve(const Facts& facts, const std::string& name) {
  for (const query::MetricCurve& curve : facts.detail.curves) {
    if (curve.name == name) return &curve;
  }
  return nullptr;
}

double SecondsBetween(WallTime from, WallTime to) {
  return static_cast<double>((to - from).count()) / 1000;
}

std::string XName(const Curve& curve, size_t i) {
  return (curve.by_step ? "step " : "epoch ") + EpochName(std::round(curve.x[i] * 10) / 10);
}

// The judge's curve turned so that lower is better.
std::optional<Curve> JudgeCurve(const Facts& facts) {
  const auto& best = facts.job().best;
  if (!best) return std::nullopt;
  const query::MetricCurve* points = FindCurve(facts, best->metric);
  if (points == nullptr) return std::nullopt;
  Curve curve = MakeCurve(*points);
  if (best->higher_is_better) {
    for (double& y : curve.y) y = -y;
  }
  return curve;
}

Curve CombineWhere(const Facts& facts, bool (*is_wanted)(const std::string&)) {
  std::vector<Curve> curves;
  for (const query::MetricCurve& curve : facts.detail.curves) {
    if (!is_wanted(curve.name)) continue;
    Curve made = MakeCurve(curve);
    if (made.y.size() >= 2) curves.push_back(std::move(made));
  }
  return curves.empty() ? Curve{} : Combine(curves);
}

// Did the smoothed train loss fall between the epoch of the turn and the end?
bool TrainStillFalls(const Curve& train, double from_x) {
  if (train.y.size() < 5) return false;
  const std::vector<double> smoothed = Smooth(train.y, SmoothingFor(train.y.size()));
  for (size_t i = 0; i < train.x.size(); ++i) {
    if (train.x[i] >= from_x) return smoothed.back() < smoothed[i];
  }
  return false;
}

struct AfterBest {
  double epochs = 0, seconds = 0, share = 0;
  std::optional<double> kwh;
  bool kwh_estimated = false;
};

std::optional<AfterBest> MeasureAfterBest(const Facts& facts) {
  const ledger::Job& job = facts.job();
  const ledger::Best& best = *job.best;
  if (!best.epoch || !job.started_at) return std::nullopt;
  double last_epoch = job.last_epoch.value_or(*best.epoch);
  WallTime last_at = facts.use.to > *job.started_at ? facts.use.to : *job.started_at;
  const query::MetricCurve* points = FindCurve(facts, best.metric);
  if (points != nullptr && !points->points.empty()) {
    last_at = points->points.back().at;
    for (const auto& p : points->points) last_epoch = std::max(last_epoch, p.epoch.value_or(0));
  }
  AfterBest after;
  after.epochs = last_epoch - *best.epoch;
  if (best.at) after.seconds = std::max(0.0, SecondsBetween(*best.at, last_at));
  const double wall = facts.detail.view.wall_s;
  if (wall > 0) after.share = std::min(1.0, after.seconds / wall);
  const query::UseTotal& total = facts.use.total;
  if (total.after_best_energy_j) {
    after.kwh = *total.after_best_energy_j / kJoulesPerKwh;
  } else if (total.gpu_energy_j && wall > 0 && best.at) {
    after.kwh = *total.gpu_energy_j * after.share / kJoulesPerKwh;
    after.kwh_estimated = true;
  }
  return after;
}

std::string BestSentence(const Facts& facts) {
  const ledger::Best& best = *facts.job().best;
  std::string text = fmt::format("The best {} was {}", best.metric, MetricValue(best.value));
  if (best.epoch) text += fmt::format(" at epoch {}", EpochName(*best.epoch));
  if (best.at && facts.job().started_at) {
    const double into_s = SecondsBetween(*facts.job().started_at, *best.at);
    text +=
        fmt::format(", {} into the run ({})", FormatDuration(Seconds(into_s)), TimeOfDay(*best.at));
  }
  return text + ".";
}

std::string AfterSentence(const Facts& facts, const AfterBest& after, double last_value) {
  const bool running = !ledger::IsFinal(facts.job().state);
  if (after.epochs <= 0) return running ? "It is the latest epoch." : "It was the last epoch.";
  std::vector<std::string> cost;
  if (after.seconds > 0) cost.push_back(FormatDuration(Seconds(after.seconds)));
  if (after.kwh) cost.push_back(FormatEnergy(Joules(*after.kwh * kJoulesPerKwh)));
  if (after.share > 0) cost.push_back(Percent(after.share) + " of the run");
  const char* ran = !running ? "ran" : after.epochs == 1 ? "has run" : "have run";
  std::string text = fmt::format("{} {} since", Count(after.epochs, "epoch", "epochs"), ran);
  if (!cost.empty()) text += fmt::format(" ({})", Join(cost, ", "));
  if (std::isfinite(last_value)) {
    text += (running ? ", now at " : ", ending at ") + MetricValue(last_value);
  }
  return text + ".";
}

}  // namespace

void FindBestAndAfter(const Facts& facts, Findings& out) {
  const auto& best = facts.job().best;
  if (!best) return;
  Finding finding{"best-and-after", kInfo, BestSentence(facts), {}, ""};
  finding.numbers = {{"best_value", best->value}};
  if (best->epoch) finding.numbers.emplace_back("best_epoch", *best->epoch);
  if (best->at && facts.job().started_at) {
    finding.numbers.emplace_back("best_after_s",
                                 SecondsBetween(*facts.job().started_at, *best->at));
  }
  const query::MetricCurve* points = FindCurve(facts, best->metric);
  double last_value = NAN;
  if (points != nullptr && !points->points.empty()) last_value = points->points.back().value;
  if (const auto after = MeasureAfterBest(facts)) {
    finding.text += " " + AfterSentence(facts, *after, last_value);
    finding.numbers.emplace_back("after_best_epochs", after->epochs);
    finding.numbers.emplace_back("after_best_s", after->seconds);
    finding.numbers.emplace_back("after_best_share_ratio", after->share);
    if (after->kwh) finding.numbers.emplace_back("after_best_kwh", *after->kwh);
    if (std::isfinite(last_value)) finding.numbers.emplace_back("last_value", last_value);
    // A few epochs past the best are how a best is known; a large part of the run is news.
    if (after->epochs >= 3 && after->share >= 0.15) finding.severity = kNotice;
    if (after->epochs > 0) {
      finding.cannot_tell =
          "Whether more epochs, or another schedule, would have found a better one.";
    }
    if (after->kwh_estimated) {
      finding.cannot_tell += " The energy after the best is its share of the time.";
    }
  }
  out.push_back(std::move(finding));
}

void FindOverfit(const Facts& facts, Findings& out) {
  const Curve val = CombineWhere(facts, IsValLoss);
  const std::optional<Turn> turn = FindTurn(val.y);
  if (!turn) return;
  const Curve train = CombineWhere(facts, IsTrainLoss);
  if (!TrainStillFalls(train, val.x[turn->at])) return;
  const std::optional<Curve> judge = JudgeCurve(facts);
  const bool judge_is_loss = judge && IsValLoss(facts.job().best->metric);
  const std::optional<Turn> judge_turn = judge ? FindTurn(judge->y) : std::nullopt;
  const bool followed = judge_turn.has_value() || judge_is_loss;
  const double onset = val.x[turn->at];
  const double reach = std::max(onset - val.x[turn->first], val.x[turn->last] - onset);
  const char* unit = val.by_step ? "steps" : "epochs";
  Finding finding{
      followed ? "overfit" : "val-loss-turned", followed ? kWarning : kNotice, "", {}, ""};
  finding.text = fmt::format(
      "From about {} (give or take {} {}) the validation loss rose while the train loss kept "
      "falling",
      XName(val, turn->at), EpochName(std::ceil(reach)), unit);
  if (judge_turn && !judge_is_loss) {
    finding.text += fmt::format(", and {} followed it down from about {}", facts.job().best->metric,
                                XName(*judge, judge_turn->at));
    finding.numbers.emplace_back("metric_turn_epoch", judge->x[judge_turn->at]);
  }
  finding.text += followed ? ": the model was learning the training data instead of the task."
                           : ". The metric that judges the run did not follow: the model grew more "
                             "certain of its mistakes, not worse at the task.";
  finding.numbers.insert(
      finding.numbers.begin(),
      {{"onset_epoch", onset},
       {"onset_uncertainty_epochs", std::ceil(reach)},
       {"val_loss_rise_in_noise", turn->noise > 0 ? turn->rise / turn->noise : 0}});
  finding.cannot_tell =
      "Which change of recipe (augmentation, weight decay, more data, a shorter schedule) would "
      "help: "
      "the curves show that it happened, not why.";
  out.push_back(std::move(finding));
}

void FindPlateau(const Facts& facts, Findings& out) {
  const std::optional<Curve> judge = JudgeCurve(facts);
  constexpr size_t kLeast = 20;
  if (!judge || judge->y.size() < kLeast || FindTurn(judge->y)) return;
  const size_t n = judge->y.size();
  const std::vector<double> smoothed = Smooth(judge->y, SmoothingFor(n));
  const auto [low, high] = std::minmax_element(smoothed.begin(), smoothed.end());
  double noise = 0;
  for (size_t i = 0; i < n; ++i) noise += (judge->y[i] - smoothed[i]) * (judge->y[i] - smoothed[i]);
  noise = std::sqrt(noise / static_cast<double>(n));
  const double tolerance = std::max(0.01 * (*high - *low), noise);
  const size_t since = FlatSince(smoothed, tolerance);
  if (since >= n || n - since < std::max<size_t>(10, n / 4) || *high - *low <= 0) return;
  if (smoothed.front() - smoothed.back() < 4 * tolerance) {
    return;  // it never moved by more than its noise: nothing was reached that could be flat
  }
  const double epochs = judge->x.back() - judge->x[since];
  Finding finding{"plateau", kInfo, "", {}, ""};
  finding.text = fmt::format(
      "{} has stayed within {} of its end since {}: the last {} {} ({} of the run) changed it by "
      "no "
      "more than its noise.",
      facts.job().best->metric, MetricValue(tolerance), XName(*judge, since), EpochName(epochs),
      judge->by_step ? "steps" : "epochs",
      Percent(static_cast<double>(n - since) / static_cast<double>(n)));
  finding.numbers = {{"plateau_since_epoch", judge->x[since]},
                     {"plateau_epochs", epochs},
                     {"tolerance", tolerance}};
  finding.cannot_tell =
      "Whether a lower learning rate or a longer schedule would have moved it again.";
  out.push_back(std::move(finding));
}

void FindDiverged(const Facts& facts, Findings& out) {
  for (const query::MetricCurve& points : facts.detail.curves) {
    if (!IsTrainLoss(points.name) && !IsValLoss(points.name)) continue;
    const Curve curve = MakeCurve(points);
    if (curve.bad_x) {
      const char* unit = curve.by_step ? "step" : "epoch";
      Finding finding{"diverged", kWarning, "", {{"first_bad_epoch", *curve.bad_x}}, ""};
      finding.text = fmt::format("{} was not a number from {} {} on: the run diverged there.",
                                 points.name, unit, EpochName(*curve.bad_x));
      // One bad line among good ones is said as that.
      if (!curve.x.empty() && curve.x.back() > *curve.bad_x) {
        finding.text = fmt::format("{} was not a number at {} {}, and finite again later.",
                                   points.name, unit, EpochName(*curve.bad_x));
        finding.severity = kNotice;
      }
      finding.cannot_tell = "What made it so: a learning rate, a bad batch, or a number format.";
      out.push_back(std::move(finding));
      return;
    }
    if (!IsTrainLoss(points.name) || curve.y.size() < 8) continue;
    const std::vector<double> smoothed = Smooth(curve.y, SmoothingFor(curve.y.size()));
    const double low = *std::min_element(smoothed.begin(), smoothed.end());
    if (low > 0 && smoothed.back() > 3 * low && smoothed.back() > smoothed.front()) {
      Finding finding{"diverged", kWarning, "", {{"lowest", low}, {"last", smoothed.back()}}, ""};
      finding.text =
          fmt::format("{} fell to {} and ended at {}, above where it began: the run diverged.",
                      points.name, MetricValue(low), MetricValue(smoothed.back()));
      finding.cannot_tell = "What made it so: a learning rate, a bad batch, or a number format.";
      out.push_back(std::move(finding));
      return;
    }
  }
}

}  // namespace stoker::explain
