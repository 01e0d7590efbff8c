#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "runlog/foreign/foreign_run.h"

namespace stoker::runlog {
namespace {

constexpr size_t kMaxFile = 256 << 20;
constexpr size_t kMaxColumns = 10'000;

// "key: value" lines of a flat YAML file; lists and nested maps are passed over.
std::map<std::string, std::string> FlatYaml(std::string_view text) {
  std::map<std::string, std::string> out;
  for (const std::string_view line : Split(text, '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || line.empty() || line[0] == ' ' || line[0] == '#')
      continue;
    std::string_view value = Trim(line.substr(colon + 1));
    if (value.size() >= 2 && (value.front() == '\'' || value.front() == '"') &&
        value.back() == value.front()) {
      value = value.substr(1, value.size() - 2);
    }
    out[std::string(Trim(line.substr(0, colon)))] = std::string(value);
  }
  return out;
}

RunEvent PlanEvent(const std::map<std::string, std::string>& args) {
  RunEvent plan;
  plan.kind = Kind::kPlan;
  Json json = Json::object();
  for (const auto& [key, value] : args) json[key] = value;
  if (const auto epochs = args.find("epochs"); epochs != args.end()) {
    plan.epochs_planned = ParseDouble(epochs->second);
  }
  plan.plan_json = DumpJson(json);
  return plan;
}

struct Columns {
  std::vector<std::string> names;
  std::optional<size_t> epoch, time;
};

Result<Columns> ReadHeader(std::string_view line, const std::string& where) {
  Columns columns;
  for (const std::string_view cell : Split(line, ',')) {
    const std::string name(Trim(cell));
    if (name == "epoch") columns.epoch = columns.names.size();
    if (name == "time") columns.time = columns.names.size();
    columns.names.push_back(name);
  }
  if (!columns.epoch || columns.names.size() > kMaxColumns) {
    return Invalid("no column 'epoch' in its first line: not an Ultralytics results.csv", where);
  }
  return columns;
}

// A row as an epoch event; nullopt where it is torn.
std::optional<ForeignEvent> ReadRow(std::string_view line, const Columns& columns) {
  const auto cells = Split(line, ',');
  if (cells.size() != columns.names.size()) return std::nullopt;
  ForeignEvent row;
  row.event.kind = Kind::kEpoch;
  row.event.epoch = ParseDouble(Trim(cells[*columns.epoch]));
  if (!row.event.epoch || !std::isfinite(*row.event.epoch)) return std::nullopt;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i == columns.epoch) continue;
    const auto value = ParseDouble(Trim(cells[i]));
    if (!value) continue;  // an empty cell: not measured in this epoch
    if (i == columns.time) {
      row.seconds = *value;
    } else {
      row.event.metrics[columns.names[i]] = *value;
    }
  }
  return row;
}

// A resumed run starts its clock again at 0: lay the pieces end to end.
void JoinClocks(std::vector<ForeignEvent>& events) {
  double offset = 0, previous = 0;
  for (ForeignEvent& event : events) {
    if (!event.seconds) continue;
    if (*event.seconds < previous) offset += previous;
    previous = *event.seconds;
    event.seconds = *event.seconds + offset;
  }
}

std::vector<std::string> CommandOf(const std::map<std::string, std::string>& args) {
  const auto value = [&](const char* key) {
    const auto it = args.find(key);
    return it == args.end() ? std::string() : it->second;
  };
  if (value("model").empty()) return {};
  std::vector<std::string> command = {"yolo", value("task"), value("mode")};
  for (const char* key : {"model", "data", "epochs", "batch", "imgsz", "device"}) {
    if (!value(key).empty()) command.push_back(std::string(key) + "=" + value(key));
  }
  std::erase(command, "");
  return command;
}

}  // namespace

Result<ForeignRun> ParseUltralytics(std::string_view results, std::string_view args_text,
                                    const std::string& where) {
  ForeignRun run;
  run.trainer = "ultralytics";
  const auto args = FlatYaml(args_text);
  if (const auto name = args.find("name"); name != args.end()) run.name = name->second;
  run.command = CommandOf(args);
  const auto lines = Split(results, '\n');
  STOKER_ASSIGN(const Columns columns, ReadHeader(lines.front(), where));
  for (size_t i = 1; i < lines.size(); ++i) {
    if (Trim(lines[i]).empty()) continue;
    auto row = ReadRow(lines[i], columns);
    if (row) {
      run.events.push_back(std::move(*row));
    } else {
      ++run.dropped_rows;
    }
  }
  JoinClocks(run.events);
  if (!run.events.empty()) run.seconds = run.events.back().seconds;
  run.events.insert(run.events.begin(), ForeignEvent{.seconds = 0, .event = PlanEvent(args)});
  return run;
}

Result<ForeignRun> ReadUltralytics(const std::string& dir) {
  STOKER_ASSIGN(const std::string results, ReadFile(JoinPath(dir, "results.csv"), kMaxFile));
  auto args = ReadFile(JoinPath(dir, "args.yaml"), 1 << 20);
  if (!args) args = ReadFile(JoinPath(dir, "opt.yaml"), 1 << 20);
  return ParseUltralytics(results, args.value_or(""), JoinPath(dir, "results.csv"));
}

}  // namespace stoker::runlog
