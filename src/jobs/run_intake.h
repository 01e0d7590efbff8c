// Turns lines of a run log into changes of the ledger. Bounded: a run that logs a flood keeps its
// shape, its best and its last values, and the record says how many points were passed over.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "ledger/ledger.h"
#include "runlog/run_event.h"
#include "runlog/tail.h"

namespace stoker::jobs {

// How far a run log has been read and what must be known to read on. The first part is the mark
// that is committed with what was read; the second is found again in the ledger.
struct RunState {
  std::string tail;  // runlog's own mark
  int64_t bad_lines = 0;
  int64_t thinned = 0;
  bool restarted = false;   // told once that the file was replaced
  bool unreadable = false;  // told once

  std::string said_metric;
  std::optional<bool> said_higher;
  std::set<std::string> names;  // of metrics, which may judge the run
  std::map<std::string, WallTime> open_phases;
};

std::string FormatRunState(const RunState& state);
// Damage reads as the start of the file.
RunState ParseRunState(const std::string& mark);

// What one transaction changes.
struct Changes {
  bool job = false;
  bool mark = false;
  std::vector<ledger::Attempt> attempts;
  std::vector<ledger::MetricPoint> metrics;
  std::vector<ledger::Phase> phases;
  std::vector<ledger::Event> events;
  bool empty() const { return !job && !mark && attempts.empty() && events.empty(); }
};

ledger::Event JobEvent(const ledger::Job& job, WallTime at, std::string kind,
                       ledger::Severity severity, std::string text, std::string data_json = "{}");

// Takes one batch into `job`, `state` and `changes`, and judges the run anew where it must; for
// that it may read the ledger. `now` stamps lines without a time of their own.
Status TakeBatch(const runlog::TailBatch& batch, WallTime now, ledger::Ledger& ledger,
                 ledger::Job& job, RunState& state, Changes& changes);

// What a `plan` line says of the judge, from the plan as it was kept.
void RecallPlan(const std::string& plan_json, RunState& state);

}  // namespace stoker::jobs
