// Jobs, one job, checkpoints and events as text.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/file.h"
#include "base/text.h"
#include "explain/words.h"
#include "report/text.h"
#include "report/text_parts.h"

namespace stoker::report {
namespace {

using ledger::CheckpointState;
using query::JobView;

constexpr size_t kLastEvents = 8;

Cell KeptCell(const ledger::Job& job) {
  if (job.checkpoints_seen == 0) return {};
  const bool all = job.checkpoints_safe >= job.checkpoints_seen;
  return {fmt::format("{}/{}", job.checkpoints_safe, job.checkpoints_seen),
          all ? Tone::kGood : Tone::kNotice};
}

std::string ProgressText(const JobView& view) {
  std::string text = EpochsText(view.job);
  if (view.eta_s && *view.eta_s >= 1 && view.job.state == ledger::JobState::kRunning) {
    text += fmt::format(", {} left", DurationText(*view.eta_s));
  }
  return text;
}

std::string EndText(const ledger::Job& job) {
  if (job.signal) return fmt::format("signal {}", *job.signal);
  if (job.exit_code && *job.exit_code != 0) return fmt::format("exit {}", *job.exit_code);
  return "";
}

Tone CheckpointTone(CheckpointState state) {
  if (state == CheckpointState::kSafe) return Tone::kGood;
  if (state == CheckpointState::kDamaged) return Tone::kBad;
  const bool past = state == CheckpointState::kSuperseded || state == CheckpointState::kGone;
  return past ? Tone::kDim : Tone::kNotice;
}

std::string CopiesText(const query::CheckpointView& view) {
  std::vector<std::string> copies;
  for (const ledger::Copy& copy : view.copies) {
    std::string text = Printable(copy.store) + ":" + Printable(copy.key);
    if (!copy.verified_at) text += " (not verified)";
    copies.push_back(std::move(text));
  }
  return Join(copies, ", ");
}

void AddFact(std::string& out, const char* name, const std::string& value, const TextStyle& style) {
  if (value.empty()) return;
  const std::vector<std::string> lines = Wrap(value, style.width - 14);
  for (size_t i = 0; i < lines.size(); ++i) {
    out += "  " + Toned(Fit(i == 0 ? name : "", 12), Tone::kDim, style) + lines[i] + "\n";
  }
}

std::string FactsText(const query::JobDetail& detail, const TextStyle& style) {
  const ledger::Job& job = detail.view.job;
  std::string out;
  AddFact(out, "command", CommandLine(job), style);
  AddFact(out, "folder", Printable(job.cwd), style);
  AddFact(out, "user", Printable(job.user), style);
  AddFact(out, "cards", job.gpus.empty() ? "none" : "GPU " + GpuRanges(job.gpus), style);
  AddFact(out, "started", job.started_at ? SecondOf(*job.started_at) + " UTC" : "not yet", style);
  if (job.ended_at) AddFact(out, "ended", SecondOf(*job.ended_at) + " UTC", style);
  if (job.started_at) AddFact(out, "time", DurationText(detail.view.wall_s), style);
  AddFact(out, "epochs", ProgressText(detail.view), style);
  AddFact(out, "best", BestText(job.best, true), style);
  AddFact(out, "energy", EnergyText(detail.view.gpu_energy_j), style);
  AddFact(out, "why", Printable(job.reason), style);
  AddFact(out, "run log", Printable(job.run_log), style);
  return out;
}

std::string AttemptsText(const query::JobDetail& detail, const TextStyle& style) {
  if (detail.attempts.size() < 2) return "";
  Table table({{"ATTEMPT", true}, {"STARTED"}, {"ENDED"}, {"END"}});
  for (const ledger::Attempt& a : detail.attempts) {
    const std::string end = a.signal      ? fmt::format("signal {}", *a.signal)
                            : a.exit_code ? fmt::format("exit {}", *a.exit_code)
                                          : "";
    table.Add({{std::to_string(a.number)},
               {SecondOf(a.started_at)},
               {a.ended_at ? SecondOf(*a.ended_at) : ""},
               {end}});
  }
  return Title("Attempts", style) + table.Render(style, 2);
}

std::string CurvesText(const query::JobDetail& detail, const TextStyle& style) {
  Table table({{"METRIC", false, true},
               {"FIRST", true},
               {"LOWEST", true},
               {"HIGHEST", true},
               {"LAST", true},
               {"POINTS", true}});
  for (const query::MetricCurve& curve : detail.curves) {
    if (curve.points.empty()) continue;
    double low = NAN, high = NAN;
    for (const ledger::MetricPoint& p : curve.points) {
      low = std::fmin(low, p.value);
      high = std::fmax(high, p.value);
    }
    const auto value = [](double v) { return Cell{explain::MetricValue(v)}; };
    table.Add({{Printable(curve.name)},
               value(curve.points.front().value),
               value(low),
               value(high),
               value(curve.points.back().value),
               {FormatCount(static_cast<double>(curve.points.size())), Tone::kDim}});
  }
  return table.empty() ? "" : Title("Metrics", style) + table.Render(style, 2);
}

}  // namespace

std::string JobsText(const std::vector<JobView>& jobs, const TextStyle& style) {
  if (jobs.empty()) return "no jobs yet: stoker run -- COMMAND starts one\n";
  Table table({{"ID", true},
               {"STATE"},
               {"NAME", false, true},
               {"GPUS", false, true},
               {"STARTED"},
               {"TIME", true},
               {"EPOCH", true},
               {"BEST", true},
               {"ENERGY", true},
               {"KEPT", true},
               {"END"}});
  for (const JobView& view : jobs) {
    const ledger::Job& job = view.job;
    table.Add({{std::to_string(job.id)},
               {std::string(ledger::JobStateName(job.state)), StateTone(job.state)},
               {Name(job), Tone::kBold},
               {GpuRanges(job.gpus)},
               {MinuteOf(job.started_at), Tone::kDim},
               {job.started_at ? DurationText(view.wall_s) : ""},
               {ProgressText(view)},
               {BestText(job.best, false)},
               {EnergyText(view.gpu_energy_j)},
               KeptCell(job),
               {EndText(job), Tone::kBad}});
  }
  return table.Render(style);
}

std::string JobText(const query::JobDetail& detail, const TextStyle& style) {
  const ledger::Job& job = detail.view.job;
  std::string out = Toned(fmt::format("#{}  {}", job.id, Name(job)), Tone::kBold, style) + "  " +
                    Toned(ledger::JobStateName(job.state), StateTone(job.state), style);
  if (const std::string end = EndText(job); !end.empty())
    out += "  " + Toned(end, Tone::kBad, style);
  out += "\n" + FactsText(detail, style) + AttemptsText(detail, style) + CurvesText(detail, style);
  if (!detail.checkpoints.empty()) {
    out += Title("Checkpoints", style) + CheckpointsText(detail.checkpoints, style);
  }
  if (!detail.events.empty()) {
    const size_t from = detail.events.size() - std::min(kLastEvents, detail.events.size());
    const std::vector<ledger::Event> last(detail.events.begin() + static_cast<std::ptrdiff_t>(from),
                                          detail.events.end());
    out += Title(from > 0 ? fmt::format("Last {} of {} events", last.size(), detail.events.size())
                          : std::string("Events"),
                 style) +
           EventsText(last, style);
  }
  return out;
}

std::string CheckpointsText(const std::vector<query::CheckpointView>& checkpoints,
                            const TextStyle& style) {
  if (checkpoints.empty()) return "no checkpoints seen yet\n";
  Table table({{"ID", true},
               {"JOB", true},
               {"STATE"},
               {"ROLE"},
               {"EPOCH", true},
               {"SIZE", true},
               {"SEEN"},
               {"FILE", false, true},
               {"COPY", false, true}});
  for (const query::CheckpointView& view : checkpoints) {
    const ledger::Checkpoint& c = view.checkpoint;
    const std::string role = c.role == ledger::CheckpointRole::kUnknown
                                 ? ""
                                 : std::string(ledger::CheckpointRoleName(c.role));
    std::string copy = CopiesText(view);
    if (!c.reason.empty()) copy = Printable(c.reason);
    table.Add({{std::to_string(c.id)},
               {std::to_string(c.job), Tone::kDim},
               {std::string(ledger::CheckpointStateName(c.state)), CheckpointTone(c.state)},
               {role},
               {c.epoch ? explain::EpochName(*c.epoch) : ""},
               {FormatBytes(static_cast<double>(c.bytes))},
               {MinuteOf(c.seen_at), Tone::kDim},
               {Printable(BaseName(c.path)) + (c.pinned ? " (pinned)" : ""), Tone::kBold},
               {copy, Tone::kDim}});
  }
  return table.Render(style);
}

std::string EventsText(const std::vector<ledger::Event>& events, const TextStyle& style) {
  if (events.empty()) return "nothing happened\n";
  Table table({{""}, {""}, {""}, {"", false, true}});
  for (const ledger::Event& event : events) {
    const std::string severity(ledger::SeverityName(event.severity));
    table.Add({{SecondOf(event.at), Tone::kDim},
               {event.job ? "#" + std::to_string(*event.job) : "", Tone::kAccent},
               {Printable(event.kind), SeverityTone(severity)},
               {Printable(event.text), SeverityTone(severity)}});
  }
  return table.Render(style);
}

}  // namespace stoker::report
