// Small pieces that several screens share. All text that comes from outside is made printable here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "query/views.h"
#include "report/table.h"
#include "report/text.h"

namespace stoker::report {

Tone StateTone(ledger::JobState state);
Tone SeverityTone(const std::string& severity);             // "info", "notice", "warning", "fault"
std::string MinuteOf(const std::optional<WallTime>& time);  // "2026-10-18 06:35"; "" where absent
std::string SecondOf(WallTime time);                        // "2026-10-18 06:35:00"
std::string DayAndMinute(const std::optional<WallTime>& time);  // "18 Oct 06:35"; "" where absent
std::string GpuRanges(std::vector<int> gpus);                   // "0-3,6"
std::string Name(const ledger::Job& job);                       // its name, else its command
std::string CommandLine(const ledger::Job& job);
std::string BestText(const std::optional<ledger::Best>& best, bool with_metric);
std::string DurationText(double seconds);
std::string EnergyText(const std::optional<double>& joules);
std::string EpochsText(const ledger::Job& job);  // "37/90"
std::string Title(const std::string& text, const TextStyle& style);
std::string FindingText(const explain::Finding& finding, const TextStyle& style);

}  // namespace stoker::report
