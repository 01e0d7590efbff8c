// One line of a run log as plain data. Unknown kinds and unknown fields are kept out without harm;
// format: docs/formats/run-log.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace stoker::runlog {

enum class Kind { kPlan, kPhase, kStep, kEpoch, kThroughput, kWait, kCheckpoint, kNote };
std::string_view KindName(Kind kind);

struct RunEvent {
  Kind kind = Kind::kNote;
  std::optional<WallTime> at;  // "at"; absent: the reader stamps it on arrival
  // plan: {"epochs":600,"unit":"photo","best":{"metric":"val/accuracy","mode":"max"}, …free fields}
  std::string plan_json;
  std::optional<double> epochs_planned;
  std::string best_metric;          // empty: not said
  std::optional<bool> best_higher;  // "mode": "max" or "min"
  // phase
  std::string phase;         // startup, train, validate, checkpoint
  bool phase_begins = true;  // "edge": "begin" or "end"
  // step, epoch
  std::optional<double> epoch;  // 1 after the first epoch; fractions are allowed
  std::optional<int64_t> step;
  std::map<std::string, double>
      metrics;  // slash names; NaN and infinities as the strings JSON needs
  // throughput: units a second; wait: blocked seconds by edge ("input", "collective", …)
  std::string unit;
  std::optional<double> per_s;
  std::map<std::string, double> wait_s;
  // checkpoint
  std::string path;  // absolute, or relative to the job's cwd (see the format page)
  std::string role;  // best, last, periodic, final; empty: not said
  // note
  std::string text;
};

// One line without its newline. kInvalid with the reason, also for a line over 1 MiB; kUnsupported
// for a kind that this version does not know, which a reader passes over.
Result<RunEvent> ParseLine(std::string_view line);
std::string FormatLine(const RunEvent& event);  // one line with its newline

}  // namespace stoker::runlog
