#include "device/smi/smi_csv.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include "base/text.h"

namespace stoker::device {
namespace {

// "2026/10/18 06:35:00.569"; nullopt where it is none.
std::optional<WallTime> ParseStamp(std::string_view text, Seconds utc_offset) {
  if (text.size() < 19 || text[4] != '/' || text[7] != '/') return std::nullopt;
  std::string iso(text);
  iso[4] = iso[7] = '-';
  const auto time = ParseTime(iso + "Z");
  if (!time) return std::nullopt;
  return *time + Millis(static_cast<int64_t>(utc_offset.count() * 1000));
}

// The reason in brackets, where a cell has one instead of a value.
std::optional<Absence> AbsenceOf(std::string_view cell) {
  if (cell.empty() || cell.front() != '[') {
    return cell == "N/A" ? std::optional(Absence::kUnsupported) : std::nullopt;
  }
  const std::string text = ToLower(cell);
  if (text.find("lost") != std::string::npos || text.find("reset") != std::string::npos)
    return Absence::kLost;
  if (text.find("permission") != std::string::npos) return Absence::kDenied;
  if (text.find("unknown") != std::string::npos || text.find("error") != std::string::npos)
    return Absence::kError;
  return Absence::kUnsupported;
}

// "403.10 W", "86 %", "34000 MiB", "12": the number without its unit.
Reading<double> Number(std::string_view cell) {
  if (const auto absence = AbsenceOf(cell)) return *absence;
  const auto value = ParseDouble(cell.substr(0, cell.find(' ')));
  if (!value || !std::isfinite(*value)) return Absence::kError;
  return *value;
}

Reading<ThrottleBits> Bits(std::string_view cell) {
  if (const auto absence = AbsenceOf(cell)) return *absence;
  if (!cell.starts_with("0x") || cell.size() > 18) return Absence::kError;
  ThrottleBits bits = 0;
  for (const char c : cell.substr(2)) {
    const auto digit = std::string_view("0123456789abcdef").find(static_cast<char>(c | 0x20));
    if (digit == std::string_view::npos) return Absence::kError;
    bits = bits << 4 | digit;
  }
  return bits;
}

template <typename T>
Reading<T> Scaled(std::string_view cell, double scale) {
  const Reading<double> number = Number(cell);
  if (!number) return number.absence();
  return T(*number * scale);
}

Reading<int> Whole(std::string_view cell) {
  const Reading<double> number = Number(cell);
  if (!number) return number.absence();
  if (std::abs(*number) > 1e6) return Absence::kError;
  return static_cast<int>(*number);
}

using Setter = std::function<void(std::string_view cell, GpuReading& reading)>;
constexpr double kMebibyte = 1048576;

// What each column of nvidia-smi means to us; other columns are passed over.
const std::map<std::string, Setter, std::less<>>& Setters() {
  static const std::map<std::string, Setter, std::less<>> kSetters = [] {
    std::map<std::string, Setter, std::less<>> m;
    m["utilization.gpu"] = [](auto c, auto& r) { r.busy = Scaled<Ratio>(c, 0.01); };
    m["utilization.memory"] = [](auto c, auto& r) { r.memory_busy = Scaled<Ratio>(c, 0.01); };
    m["power.draw"] = [](auto c, auto& r) {
      if (!r.power_average) r.power_average = Scaled<Watts>(c, 1);
    };
    m["power.draw.average"] = [](auto c, auto& r) { r.power_average = Scaled<Watts>(c, 1); };
    m["power.draw.instant"] = [](auto c, auto& r) { r.power_instant = Scaled<Watts>(c, 1); };
    m["enforced.power.limit"] = [](auto c, auto& r) { r.limit = Scaled<Watts>(c, 1); };
    m["power.limit"] = [](auto c, auto& r) {
      if (!r.limit) r.limit = Scaled<Watts>(c, 1);
    };
    m["temperature.gpu"] = [](auto c, auto& r) { r.temperature = Scaled<Celsius>(c, 1); };
    m["temperature.memory"] = [](auto c, auto& r) { r.memory_temperature = Scaled<Celsius>(c, 1); };
    m["temperature.gpu.tlimit"] = [](auto c, auto& r) { r.margin = Scaled<Celsius>(c, 1); };
    m["memory.used"] = [](auto c, auto& r) { r.memory_used = Scaled<Bytes>(c, kMebibyte); };
    m["clocks.current.sm"] =
        m["clocks.sm"] = [](auto c, auto& r) { r.sm_clock = Scaled<Hertz>(c, 1e6); };
    m["clocks.current.memory"] =
        m["clocks.mem"] = [](auto c, auto& r) { r.memory_clock = Scaled<Hertz>(c, 1e6); };
    m["clocks_event_reasons.active"] =
        m["clocks_throttle_reasons.active"] = [](auto c, auto& r) { r.throttle = Bits(c); };
    m["pcie.link.gen.current"] =
        m["pcie.link.gen.gpucurrent"] = [](auto c, auto& r) { r.pcie_generation = Whole(c); };
    m["pcie.link.width.current"] = [](auto c, auto& r) { r.pcie_width = Whole(c); };
    return m;
  }();
  return kSetters;
}

struct Columns {
  std::vector<std::string> names;
  std::optional<size_t> time, index, uuid, name;
};

Result<Columns> ReadColumns(std::string_view line, const std::string& where) {
  Columns columns;
  bool known = false;
  for (const std::string_view cell : Split(line, ',')) {
    std::string name(Trim(cell));
    name = ToLower(Trim(name.substr(0, name.find(" ["))));
    const size_t at = columns.names.size();
    if (name == "timestamp") columns.time = at;
    if (name == "index") columns.index = at;
    if (name == "uuid" || name == "gpu_uuid") columns.uuid = at;
    if (name == "name" || name == "gpu_name") columns.name = at;
    known |= Setters().contains(name);
    columns.names.push_back(std::move(name));
  }
  if (!known) {
    return Invalid("its first line names no column of nvidia-smi", where,
                   "for a log without a header say its columns");
  }
  if (!columns.time)
    return Invalid("has no column 'timestamp'", where, "log it with --query-gpu=timestamp,…");
  return columns;
}

std::optional<SmiRow> ReadRow(std::string_view line, const Columns& columns, Seconds utc_offset) {
  const auto cells = Split(line, ',');
  if (cells.size() != columns.names.size()) return std::nullopt;
  SmiRow row;
  const auto at = ParseStamp(Trim(cells[*columns.time]), utc_offset);
  if (!at) return std::nullopt;
  row.reading.at = *at;
  if (columns.index) {
    const auto index = ParseInt(Trim(cells[*columns.index]));
    if (!index || *index < 0 || *index > 4095) return std::nullopt;
    row.gpu = static_cast<int>(*index);
  }
  if (columns.uuid) row.uuid = std::string(Trim(cells[*columns.uuid]));
  if (columns.name) row.name = std::string(Trim(cells[*columns.name]));
  for (size_t i = 0; i < cells.size(); ++i) {
    const auto setter = Setters().find(columns.names[i]);
    if (setter != Setters().end()) setter->second(Trim(cells[i]), row.reading);
  }
  return row;
}

// Without an index, a uuid tells cards apart in order of appearance; without either, a round of
// rows is a burst: cards = rows until the time jumps by more than half the period between bursts.
int BurstSize(const std::vector<SmiRow>& rows) {
  std::vector<int64_t> steps;
  for (size_t i = 1; i < rows.size(); ++i)
    steps.push_back((rows[i].reading.at - rows[i - 1].reading.at).count());
  if (steps.empty()) return 1;
  std::vector<int64_t> sorted = steps;
  std::sort(sorted.begin(), sorted.end());
  const int64_t large = sorted[sorted.size() - 1 - sorted.size() / 20];
  std::map<int, int> sizes;
  int size = 1;
  for (const int64_t step : steps) {
    if (2 * step > large) {
      ++sizes[size];
      size = 1;
    } else {
      ++size;
    }
  }
  const auto most = std::max_element(
      sizes.begin(), sizes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == sizes.end() ? 1 : most->first;
}

void NumberCards(const Columns& columns, SmiLog& log) {
  if (columns.index) {
    for (const SmiRow& row : log.rows) log.cards = std::max(log.cards, row.gpu + 1);
    return;
  }
  if (columns.uuid) {
    std::map<std::string, int> seen;
    for (SmiRow& row : log.rows)
      row.gpu = seen.try_emplace(row.uuid, static_cast<int>(seen.size())).first->second;
    log.cards = static_cast<int>(seen.size());
    return;
  }
  log.cards = BurstSize(log.rows);
  log.guessed_cards = log.cards > 1;
  for (size_t i = 0; i < log.rows.size(); ++i)
    log.rows[i].gpu = static_cast<int>(i % static_cast<size_t>(log.cards));
}

}  // namespace

Result<SmiLog> ParseSmiCsv(std::string_view text, const std::string& where,
                           const std::string& given, Seconds utc_offset) {
  SmiLog log;
  const auto lines = Split(text, '\n');
  STOKER_ASSIGN(const Columns columns,
                ReadColumns(given.empty() ? lines.front() : std::string_view(given), where));
  for (size_t i = given.empty() ? 1 : 0; i < lines.size(); ++i) {
    const std::string_view line = Trim(lines[i]);
    if (line.empty()) continue;
    auto row = ReadRow(line, columns, utc_offset);
    if (row) {
      log.rows.push_back(std::move(*row));
    } else {
      ++log.dropped_lines;
    }
  }
  if (log.rows.empty()) return Invalid("has no line that can be read", where);
  NumberCards(columns, log);
  return log;
}

}  // namespace stoker::device
