#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/file.h"
#include "base/text.h"
#include "explain/words.h"
#include "report/notebook_figures.h"
#include "report/svg_chart.h"
#include "report/text_parts.h"

namespace stoker::report {
namespace {

constexpr int kTimeTicks = 10;

double Ms(WallTime time) { return static_cast<double>(time.ms); }

struct Range {
  double low = NAN, high = NAN;
  void Add(double value) {
    low = std::fmin(low, value);
    high = std::fmax(high, value);
  }
};

Axis JobAxis(const NotebookJob& job) {
  return TimeAxis(job.explanation.use.from, job.explanation.use.to, kTimeTicks);
}

// Milliseconds from one bucket to the next; gaps are wider.
double BucketStep(const std::vector<ledger::Bucket>& buckets) {
  std::vector<double> steps;
  for (size_t i = 1; i < buckets.size(); ++i) {
    steps.push_back(Ms(buckets[i].from) - Ms(buckets[i - 1].from));
  }
  if (steps.empty()) return 0;
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  return *middle;
}

// `scale` turns the stored unit into the one on the axis.
Lane LaneOf(const query::SeriesView& series, double scale) {
  Lane lane;
  lane.label = series.label;
  const double step = BucketStep(series.buckets);
  double before = NAN;
  for (const ledger::Bucket& b : series.buckets) {
    const double x = Ms(b.from) + step / 2;
    if (b.count == 0 || x - before > 2.5 * step) {
      lane.line.push_back({x, NAN});
      lane.band.push_back({x, NAN, NAN});
    }
    before = x;
    if (b.count == 0) continue;
    lane.line.push_back({x, b.mean * scale});
    lane.band.push_back({x, b.min * scale, b.max * scale});
  }
  return lane;
}

std::optional<double> MeanOf(const query::SeriesView& series) {
  double sum = 0;
  int64_t count = 0;
  for (const ledger::Bucket& b : series.buckets) {
    sum += b.mean * static_cast<double>(b.count);
    count += b.count;
  }
  return count > 0 ? std::optional(sum / static_cast<double>(count)) : std::nullopt;
}

Range RangeOf(const std::vector<query::SeriesView>& all, double scale) {
  Range range;
  for (const query::SeriesView& series : all) {
    for (const ledger::Bucket& b : series.buckets) {
      if (b.count == 0) continue;
      range.Add(b.min * scale);
      range.Add(b.max * scale);
    }
  }
  return range;
}

Lanes MakeLanes(const NotebookJob& job, const std::vector<query::SeriesView>& all, double scale,
                const char* tone) {
  Lanes lanes;
  lanes.x = JobAxis(job);
  lanes.tone = tone;
  // A few cards get taller strips, many get flatter ones.
  const int count = static_cast<int>(all.size());
  lanes.lane_height = count <= 2 ? 76 : count <= 4 ? 48 : count <= 10 ? 32 : 22;
  for (const query::SeriesView& series : all) lanes.lanes.push_back(LaneOf(series, scale));
  return lanes;
}

const query::CardUse* UseOf(const NotebookJob& job, const query::SeriesView& series) {
  for (const query::CardUse& card : job.explanation.use.cards) {
    if (card.card == series.series.subject.id) return &card;
  }
  return nullptr;
}

Figure BusyFigure(const NotebookJob& job) {
  Lanes lanes = MakeLanes(job, job.busy, 100, "busy");
  lanes.low = 0;
  lanes.high = 100;
  lanes.filled = true;
  lanes.title = "Share of time busy, by card";
  for (size_t i = 0; i < lanes.lanes.size(); ++i) {
    const auto mean = MeanOf(job.busy[i]);
    if (mean) lanes.lanes[i].note = explain::Percent(*mean);
  }
  return {
      LanesSvg(lanes),
      "Busy: share of time with a kernel running. Each strip runs from 0 to 100 %; the line is the "
      "mean, the shade the lowest and highest read, the number the mean over the run."};
}

Figure PowerFigure(const NotebookJob& job) {
  Lanes lanes = MakeLanes(job, job.power, 1, "power");
  double limit = 0;
  for (const query::CardUse& card : job.explanation.use.cards) {
    limit = std::max(limit, card.limit_w.value_or(0));
  }
  const Range range = RangeOf(job.power, 1);
  const bool below = limit > 0 && !(range.high > limit);
  lanes.low = 0;
  lanes.high = below ? limit : ValueAxis(0, range.high, 4, "").to;
  lanes.filled = true;
  lanes.title = "Board power in watts, by card";
  for (size_t i = 0; i < lanes.lanes.size(); ++i) {
    const auto mean = MeanOf(job.power[i]);
    if (mean) lanes.lanes[i].note = explain::Watt(*mean);
  }
  return {LanesSvg(lanes),
          fmt::format("Board power. Each strip runs from 0 to {}{}; the number is the "
                      "mean over the run.",
                      explain::Watt(lanes.high), below ? ", the power limit" : "")};
}

Figure TemperatureFigure(const NotebookJob& job) {
  Lanes lanes = MakeLanes(job, job.temperature, 1, "heat");
  const Range range = RangeOf(job.temperature, 1);
  lanes.low = std::floor(range.low / 10) * 10;
  lanes.high = std::max(lanes.low + 10, std::ceil(range.high / 10) * 10);
  lanes.title = "Temperature in degrees Celsius, by card";
  for (size_t i = 0; i < lanes.lanes.size(); ++i) {
    const query::CardUse* use = UseOf(job, job.temperature[i]);
    if (use == nullptr || !use->temperature_max_c) continue;
    lanes.lanes[i].note = fmt::format("{:.0f} °C max", *use->temperature_max_c);
  }
  return {
      LanesSvg(lanes),
      fmt::format("Temperature of the GPU. Each strip runs from {:.0f} to {:.0f} °C; the number is "
                  "the highest read.",
                  lanes.low, lanes.high)};
}

Figure CpuFigure(const NotebookJob& job) {
  Lanes lanes = MakeLanes(job, job.cpu, 100, "cpu");
  lanes.low = 0;
  lanes.high = 100;
  lanes.filled = true;
  lanes.title = "Share of time the host's cores worked";
  for (size_t i = 0; i < lanes.lanes.size(); ++i) {
    const auto mean = MeanOf(job.cpu[i]);
    if (mean) lanes.lanes[i].note = explain::Percent(*mean);
  }
  return {
      LanesSvg(lanes),
      "The host's cores, all together: share of time they worked, of all programs. 0 to 100 %."};
}

std::string PhaseTone(const std::string& name) {
  if (name == "startup") return "startup";
  if (name == "train") return "train";
  if (name == "validate") return "validate";
  return name == "checkpoint" ? "best" : "other";
}

constexpr size_t kMostPhases = 5;

// One row a phase, with its share of the run. Stretches that would touch on paper become one bar:
// six hundred epochs are not six hundred stripes.
std::vector<TimelineRow> PhaseRows(const NotebookJob& job, double pixel_ms) {
  std::vector<TimelineRow> rows;
  std::vector<double> sums;
  for (const ledger::Phase& phase : job.explanation.detail.phases) {
    const double from = Ms(phase.began_at);
    const double to = std::max(from, Ms(phase.ended_at.value_or(job.explanation.use.to)));
    size_t i = 0;
    while (i < rows.size() && rows[i].label != phase.name) ++i;
    if (i == rows.size()) {
      if (rows.size() == kMostPhases) continue;
      rows.push_back({phase.name, "", {}, {}});
      sums.push_back(0);
    }
    sums[i] += to - from;
    std::vector<Span>& spans = rows[i].spans;
    if (!spans.empty() && from - spans.back().to < 2 * pixel_ms) {
      Span& bar = spans.back();
      const double busy = bar.share * (bar.to - bar.from) + to - from;
      bar.to = std::max(to, bar.to);
      if (bar.to > bar.from) bar.share = busy / (bar.to - bar.from);
    } else {
      spans.push_back({from, to, PhaseTone(phase.name), phase.name});
    }
  }
  const double whole = Ms(job.explanation.use.to) - Ms(job.explanation.use.from);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].thin = true;
    if (whole > 0) rows[i].note = explain::Percent(sums[i] / whole);
  }
  return rows;
}

TimelineRow CheckpointRow(const NotebookJob& job) {
  TimelineRow row;
  row.label = "kept";
  int safe = 0;
  for (const query::CheckpointView& view : job.explanation.detail.checkpoints) {
    const ledger::Checkpoint& c = view.checkpoint;
    const bool is_safe = c.state == ledger::CheckpointState::kSafe;
    safe += is_safe ? 1 : 0;
    const bool best = c.role == ledger::CheckpointRole::kBest;
    std::string label = BaseName(c.path) + ", " +
                        std::string(ledger::CheckpointStateName(c.state)) + ", " +
                        SecondOf(c.seen_at) + " UTC";
    const char* tone = c.state == ledger::CheckpointState::kDamaged ? "bad"
                       : is_safe                                    ? "best"
                                                                    : "other";
    row.events.push_back({Ms(c.seen_at), tone, std::move(label), best});
  }
  row.note = fmt::format("{} of {} safe", safe, job.explanation.detail.checkpoints.size());
  return row;
}

TimelineRow JobRow(const NotebookJob& job) {
  const ledger::Job& record = job.explanation.detail.view.job;
  TimelineRow row;
  row.label = "job";
  row.note = DurationText(job.explanation.detail.view.wall_s);
  row.spans.push_back(
      {Ms(job.explanation.use.from), Ms(job.explanation.use.to), "job", Name(record)});
  if (record.best && record.best->at) {
    row.events.push_back(
        {Ms(*record.best->at), "best",
         "best " + BestText(record.best, true) + ", " + SecondOf(*record.best->at) + " UTC", true});
  }
  return row;
}

Figure TimelineFigure(const NotebookJob& job) {
  Timeline timeline;
  timeline.title = "The job over time, its phases and checkpoints";
  timeline.x = JobAxis(job);
  timeline.rows.push_back(JobRow(job));
  std::string caption = "The job from start to end";
  const ledger::Job& record = job.explanation.detail.view.job;
  if (record.best && record.best->at) caption += ", with the best epoch marked";
  const double pixels = timeline.width - timeline.left - timeline.right;
  for (TimelineRow& row : PhaseRows(job, (timeline.x.to - timeline.x.from) / pixels)) {
    timeline.rows.push_back(std::move(row));
  }
  if (timeline.rows.size() > 1)
    caption += "; its phases with their share of the time (paler where they took turns)";
  if (!job.explanation.detail.checkpoints.empty()) {
    timeline.rows.push_back(CheckpointRow(job));
    caption +=
        "; each checkpoint when it was seen (green: a verified copy exists, large: the best)";
  }
  return {TimelineSvg(timeline), caption + "."};
}

bool AnyBucket(const std::vector<query::SeriesView>& all) {
  return std::any_of(all.begin(), all.end(), [](const auto& s) {
    return std::any_of(s.buckets.begin(), s.buckets.end(),
                       [](const auto& b) { return b.count > 0; });
  });
}

}  // namespace

std::vector<Figure> MachineFigures(const NotebookJob& job) {
  std::vector<Figure> figures;
  if (!job.explanation.detail.view.job.started_at) return figures;
  figures.push_back(TimelineFigure(job));
  if (AnyBucket(job.busy)) figures.push_back(BusyFigure(job));
  if (AnyBucket(job.power)) figures.push_back(PowerFigure(job));
  if (AnyBucket(job.temperature)) figures.push_back(TemperatureFigure(job));
  if (AnyBucket(job.cpu)) figures.push_back(CpuFigure(job));
  return figures;
}

}  // namespace stoker::report
