// A run that another trainer left as files, turned into the events of a run log. Readers are
// liberal: a torn last row is dropped, padded headers, CRLF, missing columns and NaN are fine.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runlog/run_event.h"

namespace stoker::runlog {

struct ForeignEvent {
  std::optional<double> seconds;  // after the start of the run, where the files say so
  RunEvent event;
};

struct ForeignRun {
  std::string trainer;               // "ultralytics"
  std::string name;                  // the trainer's own name of the run; may be empty
  std::vector<std::string> command;  // as far as the files tell; may be empty
  std::optional<double> seconds;     // length of the run, where the files say so
  std::vector<ForeignEvent> events;
  int dropped_rows = 0;  // rows that could not be read
};

// Ultralytics: results.csv with args.yaml (or opt.yaml) beside. Epochs are numbered as the file
// does. kNotFound where `dir` has no results.csv.
Result<ForeignRun> ReadUltralytics(const std::string& dir);
// The same from the files' text; `args` may be empty.
Result<ForeignRun> ParseUltralytics(std::string_view results, std::string_view args,
                                    const std::string& where);

}  // namespace stoker::runlog
