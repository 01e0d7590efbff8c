#include "report/text_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "explain/words.h"

namespace stoker::report {

Tone StateTone(ledger::JobState state) {
  switch (state) {
    case ledger::JobState::kRunning:
      return Tone::kAccent;
    case ledger::JobState::kSucceeded:
      return Tone::kGood;
    case ledger::JobState::kFailed:
    case ledger::JobState::kLost:
      return Tone::kBad;
    case ledger::JobState::kStopped:
      return Tone::kNotice;
    case ledger::JobState::kQueued:
      break;
  }
  return Tone::kDim;
}

Tone SeverityTone(const std::string& severity) {
  if (severity == "warning" || severity == "fault") return Tone::kBad;
  return severity == "notice" ? Tone::kNotice : Tone::kPlain;
}

std::string SecondOf(WallTime time) {
  std::string text = FormatTime(time);  // 2026-10-18T06:35:00.569Z
  if (text.size() < 19) return text;
  text.resize(19);
  text[10] = ' ';
  return text;
}

std::string MinuteOf(const std::optional<WallTime>& time) {
  return time ? SecondOf(*time).substr(0, 16) : "";
}

std::string DayAndMinute(const std::optional<WallTime>& time) {
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::string text = MinuteOf(time);  // 2026-10-18 06:35
  if (text.size() != 16) return text;
  const auto month = ParseInt(text.substr(5, 2));
  const auto day = ParseInt(text.substr(8, 2));
  if (!day || !month || *month < 1 || *month > 12) return text;
  return fmt::format("{} {} {}", *day, kMonths[*month - 1], text.substr(11));
}

std::string GpuRanges(std::vector<int> gpus) {
  std::sort(gpus.begin(), gpus.end());
  std::string out;
  for (size_t i = 0; i < gpus.size();) {
    size_t end = i;
    while (end + 1 < gpus.size() && gpus[end + 1] <= gpus[end] + 1) ++end;
    if (!out.empty()) out += ",";
    out +=
        gpus[i] == gpus[end] ? std::to_string(gpus[i]) : fmt::format("{}-{}", gpus[i], gpus[end]);
    i = end + 1;
  }
  return out;
}

std::string CommandLine(const ledger::Job& job) { return Printable(Join(job.command, " ")); }

std::string Name(const ledger::Job& job) {
  return job.name.empty() ? CommandLine(job) : Printable(job.name);
}

std::string BestText(const std::optional<ledger::Best>& best, bool with_metric) {
  if (!best) return "";
  std::string text = explain::MetricValue(best->value);
  if (best->epoch) text += " @" + explain::EpochName(*best->epoch);
  if (with_metric) text = Printable(best->metric) + " " + text;
  return text;
}

std::string DurationText(double seconds) { return FormatDuration(Seconds(seconds)); }

std::string EnergyText(const std::optional<double>& joules) {
  return joules ? FormatEnergy(Joules(*joules)) : "";
}

std::string EpochsText(const ledger::Job& job) {
  if (!job.last_epoch) return "";
  std::string text = explain::EpochName(*job.last_epoch);
  if (job.epochs_planned) text += "/" + explain::EpochName(*job.epochs_planned);
  return text;
}

std::string Title(const std::string& text, const TextStyle& style) {
  return "\n" + Toned(text, Tone::kBold, style) + "\n";
}

std::string FindingText(const explain::Finding& finding, const TextStyle& style) {
  const char* mark = finding.severity == "info" ? "·" : "!";
  std::string out;
  bool first = true;
  for (const std::string& line : Wrap(Printable(finding.text), style.width - 4)) {
    const std::string lead = first ? Toned(mark, SeverityTone(finding.severity), style) : " ";
    out += fmt::format("  {} {}\n", lead, line);
    first = false;
  }
  if (finding.cannot_tell.empty()) return out;
  const std::string cannot = "Cannot tell: " + Printable(finding.cannot_tell);
  for (const std::string& line : Wrap(cannot, style.width - 4)) {
    out += "    " + Toned(line, Tone::kDim, style) + "\n";
  }
  return out;
}

}  // namespace stoker::report
