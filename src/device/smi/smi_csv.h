// Reads what `nvidia-smi --query-gpu=… --format=csv` printed to a file: any set and order of
// columns, with or without units, "[N/A]" and its relatives as absences, a cut last line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/gpu_probe.h"

namespace stoker::device {

struct SmiRow {
  int gpu = 0;
  std::string uuid;  // empty where the log has none
  std::string name;
  GpuReading reading;
};

struct SmiLog {
  std::vector<SmiRow> rows;  // in the file's order
  int cards = 0;
  int dropped_lines = 0;       // could not be read: cut, or not of this log
  bool guessed_cards = false;  // no index or uuid column: rows were dealt round to the cards
};

// Times in the log are local to the machine that wrote it, without a zone: `utc_offset` is added to
// get UTC (0: the log is in UTC). A log without a header needs the `columns` that were asked for
// ("timestamp,index,power.draw"); empty: the first line names them.
Result<SmiLog> ParseSmiCsv(std::string_view text, const std::string& where,
                           const std::string& columns = {}, Seconds utc_offset = Seconds(0));

}  // namespace stoker::device
