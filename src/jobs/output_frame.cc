#include "jobs/output_frame.h"

#include <fmt/core.h>

#include "base/file.h"
#include "base/text.h"

namespace stoker::jobs {
namespace {

constexpr size_t kDigits = 20;

bool LooksLikeTime(std::string_view text) {
  constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:dd.dddZ";
  for (size_t i = 0; i < kShape.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kShape[i] == 'd' ? !digit : text[i] != kShape[i]) return false;
  }
  return true;
}

}  // namespace

std::string OutputPath(const std::string& folder) { return JoinPath(folder, "output.log"); }
std::string ProgressPath(const std::string& folder) { return JoinPath(folder, "progress"); }

std::optional<OutputRecord> ParseRecord(std::string_view line) {
  if (line.size() < kFrameBytes - 1 || line[kTimeBytes] != ' ' || line[kTimeBytes + 2] != ' ')
    return std::nullopt;
  const char code = line[kTimeBytes + 1];
  if (std::string_view("oeOEsx").find(code) == std::string_view::npos || !LooksLikeTime(line))
    return std::nullopt;
  return OutputRecord{line.substr(0, kTimeBytes), code, line.substr(kFrameBytes - 1)};
}

std::string CutRecord(WallTime at, int64_t dropped) {
  return fmt::format(
      "{} {} {:0{}} bytes of this log were dropped here: its first and last part are kept\n",
      FormatTime(at), kCutCode, dropped, kDigits);
}

std::optional<int64_t> DroppedBytes(const OutputRecord& record) {
  if (record.code != kCutCode || record.text.size() < kDigits) return std::nullopt;
  return ParseInt(record.text.substr(0, kDigits));
}

}  // namespace stoker::jobs
