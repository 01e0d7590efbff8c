// The frame of output.log, shared by its writer and its reader: "TIME c text\n".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace stoker::jobs {

// o, e: a line of stdout, stderr. O, E: a piece that no newline ended.
inline constexpr char kSaidCode = 's';  // a line of the supervisor
inline constexpr char kCutCode = 'x';   // here the middle was dropped
inline constexpr size_t kTimeBytes = 24;
inline constexpr size_t kFrameBytes = kTimeBytes + 4;  // time, space, code, space, newline

struct OutputRecord {
  std::string_view time;  // RFC 3339, 24 bytes
  char code = 'o';
  std::string_view text;
  bool is_stderr() const { return code == 'e' || code == 'E'; }
  bool ends_line() const { return code != 'O' && code != 'E'; }
};

std::string OutputPath(const std::string& folder);
std::string ProgressPath(const std::string& folder);

// One line without its newline; nullopt where it is no record.
std::optional<OutputRecord> ParseRecord(std::string_view line);

// The record that stands in the gap, with its newline; always of the same length.
std::string CutRecord(WallTime at, int64_t dropped);
std::optional<int64_t> DroppedBytes(const OutputRecord& record);

}  // namespace stoker::jobs
