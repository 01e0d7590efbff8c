#include "jobs/run_intake.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "runlog/judge.h"

namespace stoker::jobs {
namespace {

using ledger::Event;
using ledger::Job;
using ledger::MetricPoint;
using ledger::Severity;
using runlog::Kind;
using runlog::RunEvent;

constexpr Millis kClockSlack{3'600'000};  // a time further outside the job's own is no time
constexpr size_t kMaxNames = 2000;        // metric names of one job
constexpr size_t kMaxEvents = 500;        // notes and checkpoints of one batch
constexpr size_t kMaxPhases = 1000;       // of one batch
constexpr double kPointsPerSecond = 10;   // of one metric, where a batch has more
constexpr size_t kFewPoints = 200;        // of one metric, always kept
constexpr size_t kManyPoints = 5000;      // of one metric and batch, never exceeded

// Every point of one metric in a batch, before thinning.
struct Points {
  std::vector<MetricPoint> all;
  bool may_judge = false;
};

class Intake {
 public:
  Intake(WallTime now, Job& job, RunState& state, Changes& changes)
      : now_(now), job_(job), state_(state), changes_(changes) {}

  void Line(const std::string& line);
  // The points so far, by name.
  std::map<std::string, Points>& points() { return points_; }
  bool judge_changed() const { return judge_changed_; }
  void KeepPoints();

 private:
  void Bad(const Error& error);
  void Take(const RunEvent& event);
  void Plan(const RunEvent& event);
  void Phase(const RunEvent& event);
  void Numbers(const RunEvent& event);
  void Checkpoint(const RunEvent& event);
  void Point(const std::string& name, double value, const RunEvent& event, bool may_judge);
  void AddEvent(Event event);
  WallTime At(const RunEvent& event) const;

  const WallTime now_;
  Job& job_;
  RunState& state_;
  Changes& changes_;
  std::map<std::string, Points> points_;
  size_t events_ = 0;
  bool judge_changed_ = false;
};

WallTime Intake::At(const RunEvent& event) const {
  const WallTime began = std::min(job_.created_at, job_.started_at.value_or(job_.created_at));
  if (!event.at || *event.at < began - kClockSlack || *event.at > now_ + kClockSlack) return now_;
  return *event.at;
}

void Intake::Line(const std::string& line) {
  if (Trim(line).empty()) return;
  const auto event = runlog::ParseLine(line);
  if (event) return Take(*event);
  if (event.error().code != Code::kUnsupported) Bad(event.error());
}

void Intake::Bad(const Error& error) {
  if (++state_.bad_lines > 1) return;
  changes_.events.push_back(JobEvent(
      job_, now_, "job.runlog_damaged", Severity::kNotice,
      fmt::format("a line of the run log of job {} cannot be read: {}; more such lines are counted "
                  "and told at the end of the job",
                  job_.id, error.what),
      DumpJson({{"reason", error.what}, {"path", job_.run_log}})));
}

void Intake::Take(const RunEvent& event) {
  switch (event.kind) {
    case Kind::kPlan:
      return Plan(event);
    case Kind::kPhase:
      return Phase(event);
    case Kind::kStep:
    case Kind::kEpoch:
      return Numbers(event);
    case Kind::kThroughput:
      return Point("throughput/" + event.unit + "_per_s", *event.per_s, event, false);
    case Kind::kWait:
      for (const auto& [edge, seconds] : event.wait_s)
        Point("wait/" + edge + "_s", seconds, event, false);
      return;
    case Kind::kCheckpoint:
      return Checkpoint(event);
    case Kind::kNote:
      return AddEvent(JobEvent(job_, At(event), "job.note", Severity::kInfo,
                               Printable(Ellipsize(event.text, 2000))));
  }
}

void Intake::AddEvent(Event event) {
  if (++events_ > kMaxEvents) {
    ++state_.thinned;
    return;
  }
  changes_.events.push_back(std::move(event));
}

void Intake::Plan(const RunEvent& event) {
  job_.plan_json = event.plan_json;
  if (event.epochs_planned) job_.epochs_planned = event.epochs_planned;
  changes_.job = true;
  judge_changed_ |=
      state_.said_metric != event.best_metric || state_.said_higher != event.best_higher;
  state_.said_metric = event.best_metric;
  state_.said_higher = event.best_higher;
}

void Intake::Phase(const RunEvent& event) {
  if (changes_.phases.size() >= kMaxPhases) {
    ++state_.thinned;
    return;
  }
  const WallTime at = At(event);
  const auto open = state_.open_phases.find(event.phase);
  if (open != state_.open_phases.end()) {
    // One that begins again has ended.
    changes_.phases.push_back({job_.id, event.phase, open->second, std::max(at, open->second)});
    state_.open_phases.erase(open);
  }
  if (!event.phase_begins) return;
  changes_.phases.push_back({job_.id, event.phase, at, std::nullopt});
  if (state_.open_phases.size() < kMaxNames) state_.open_phases[event.phase] = at;
}

void Intake::Numbers(const RunEvent& event) {
  for (const auto& [name, value] : event.metrics) Point(name, value, event, true);
  if (event.kind != Kind::kEpoch || !event.epoch) return;
  changes_.job |= job_.last_epoch != event.epoch;
  job_.last_epoch = event.epoch;
}

void Intake::Point(const std::string& name, double value, const RunEvent& event, bool may_judge) {
  if (points_.find(name) == points_.end() && state_.names.count(name) == 0 &&
      state_.names.size() + points_.size() >= kMaxNames) {
    ++state_.thinned;
    return;
  }
  Points& points = points_[name];
  points.may_judge |= may_judge;
  points.all.push_back({name, value, event.epoch, event.step, At(event)});
}

void Intake::Checkpoint(const RunEvent& event) {
  // A trainer's relative paths start where it runs.
  std::string path = CleanPath(event.path, job_.cwd);
  const std::string inside = CleanPath(event.path, job_.folder);
  if (!FileExists(path) && FileExists(inside)) path = inside;
  Json data = {{"path", path}, {"role", event.role}};
  if (event.epoch) data["epoch"] = *event.epoch;
  AddEvent(JobEvent(job_, At(event), "checkpoint.written", Severity::kInfo,
                    fmt::format("job {} wrote {}", job_.id, Printable(path)), DumpJson(data)));
}

// As many points of a metric as its time span deserves, evenly chosen, the last one always.
void Intake::KeepPoints() {
  for (auto& [name, points] : points_) {
    const std::vector<MetricPoint>& all = points.all;
    const double seconds = static_cast<double>((all.back().at - all.front().at).count()) / 1000;
    const auto deserved = static_cast<size_t>(
        std::clamp(seconds * kPointsPerSecond, 0.0, static_cast<double>(kManyPoints)));
    const size_t room = std::max(kFewPoints, deserved);
    const size_t stride = (all.size() + room - 1) / room;
    for (size_t i = (all.size() - 1) % stride; i < all.size(); i += stride)
      changes_.metrics.push_back(all[i]);
    state_.thinned += static_cast<int64_t>(all.size() - (all.size() + stride - 1) / stride);
  }
}

void Consider(const runlog::Judge& judge, const std::vector<MetricPoint>& points,
              std::optional<ledger::Best>& best) {
  for (const MetricPoint& p : points) {
    if (std::isnan(p.value)) continue;
    if (!best || judge.Better(p.value, best->value))
      best = {p.name, p.value, judge.higher_is_better, p.epoch, p.at};
  }
}

// Where the judge is a new one, what was recorded earlier is judged again.
Status UpdateBest(ledger::Ledger& ledger, Intake& intake, Job& job, RunState& state,
                  Changes& changes) {
  bool anew = intake.judge_changed();
  for (const auto& [name, points] : intake.points()) {
    if (points.may_judge) anew |= state.names.insert(name).second;
  }
  const auto judge =
      runlog::ChooseJudge(state.said_metric, state.said_higher,
                          std::vector<std::string>(state.names.begin(), state.names.end()));
  if (!judge) return Ok();
  std::optional<ledger::Best> best = job.best;
  const bool other =
      !best || best->metric != judge->metric || best->higher_is_better != judge->higher_is_better;
  if (anew && other) {
    best.reset();
    STOKER_ASSIGN(const auto earlier, ledger.Metrics(job.id, judge->metric));
    Consider(*judge, earlier, best);
  }
  const auto points = intake.points().find(judge->metric);
  if (points != intake.points().end()) Consider(*judge, points->second.all, best);
  const bool same = best.has_value() == job.best.has_value() &&
                    (!best || (best->metric == job.best->metric && best->at == job.best->at &&
                               best->value == job.best->value));
  if (same) return Ok();
  job.best = best;
  changes.job = true;
  return Ok();
}

}  // namespace

Event JobEvent(const Job& job, WallTime at, std::string kind, Severity severity, std::string text,
               std::string data_json) {
  Event event;
  event.at = at;
  event.kind = std::move(kind);
  event.severity = severity;
  event.job = job.id;
  event.text = std::move(text);
  event.data_json = std::move(data_json);
  return event;
}

std::string FormatRunState(const RunState& state) {
  return DumpJson({{"tail", state.tail},
                   {"bad_lines", state.bad_lines},
                   {"thinned", state.thinned},
                   {"restarted", state.restarted},
                   {"unreadable", state.unreadable}});
}

RunState ParseRunState(const std::string& mark) {
  RunState state;
  const auto json = ParseJson(mark.empty() ? "{}" : mark, "mark");
  if (!json) return state;
  state.tail = JsonString(*json, "tail").value_or("");
  state.bad_lines = JsonInt(*json, "bad_lines").value_or(0);
  state.thinned = JsonInt(*json, "thinned").value_or(0);
  state.restarted = JsonBool(*json, "restarted").value_or(false);
  state.unreadable = JsonBool(*json, "unreadable").value_or(false);
  return state;
}

void RecallPlan(const std::string& plan_json, RunState& state) {
  if (plan_json.empty()) return;
  RunEvent event;
  event.kind = Kind::kPlan;
  event.plan_json = plan_json;
  const auto plan = runlog::ParseLine(Trim(runlog::FormatLine(event)));
  if (!plan) return;
  state.said_metric = plan->best_metric;
  state.said_higher = plan->best_higher;
}

Status TakeBatch(const runlog::TailBatch& batch, WallTime now, ledger::Ledger& ledger, Job& job,
                 RunState& state, Changes& changes) {
  if (batch.mark == state.tail) return Ok();
  state.tail = batch.mark;
  changes.mark = true;
  const int64_t thinned_before = state.thinned;
  if (batch.restarted && !state.restarted) {
    state.restarted = true;
    changes.events.push_back(
        JobEvent(job, now, "job.runlog_restarted", Severity::kNotice,
                 fmt::format("the run log of job {} was replaced and is read again", job.id)));
  }
  Intake intake(now, job, state, changes);
  for (const std::string& line : batch.lines) intake.Line(line);
  STOKER_TRY(UpdateBest(ledger, intake, job, state, changes));
  intake.KeepPoints();
  if (state.thinned > 0 && thinned_before == 0) {
    changes.events.push_back(JobEvent(
        job, now, "job.metrics_thinned", Severity::kNotice,
        fmt::format("job {} logs faster than is kept: an even choice of its points goes on "
                    "record, with every best value",
                    job.id)));
  }
  return Ok();
}

}  // namespace stoker::jobs
