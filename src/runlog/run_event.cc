#include "runlog/run_event.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"

namespace stoker::runlog {
namespace {

constexpr size_t kMaxLine = 1 << 20;
constexpr size_t kMaxPlan = 64 << 10;
constexpr size_t kMaxName = 200;
constexpr size_t kMaxMetrics = 4096;
constexpr int kMaxNesting = 4;

constexpr std::array<std::string_view, 8> kKinds = {"plan",       "phase", "step",       "epoch",
                                                    "throughput", "wait",  "checkpoint", "note"};

std::optional<Kind> ParseKind(std::string_view name) {
  for (size_t i = 0; i < kKinds.size(); ++i) {
    if (kKinds[i] == name) return static_cast<Kind>(i);
  }
  return std::nullopt;
}

bool IsWordChar(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool IsNonFiniteWord(std::string_view word) {
  const std::string lower = ToLower(word);
  return lower == "nan" || lower == "inf" || lower == "infinity";
}

// Python's json writes NaN and Infinity bare, which JSON does not know: put them in quotes.
std::string QuoteNonFinite(std::string_view line) {
  std::string out;
  out.reserve(line.size() + 16);
  bool in_string = false;
  for (size_t i = 0; i < line.size();) {
    const char c = line[i];
    if (in_string || c == '"') {
      if (c == '"') in_string = !in_string;
      if (c == '\\' && i + 1 < line.size()) out.push_back(line[i++]);
      out.push_back(line[i++]);
      continue;
    }
    const size_t word = i + ((c == '-' || c == '+') ? 1 : 0);
    size_t end = word;
    while (end < line.size() && IsWordChar(line[end])) ++end;
    if (end > word && IsNonFiniteWord(line.substr(word, end - word))) {
      out.append("\"").append(line.substr(i, end - i)).append("\"");
      i = end;
    } else {
      end = std::max(end, i + 1);
      out.append(line.substr(i, end - i));
      i = end;
    }
  }
  return out;
}

Result<Json> ParseObject(std::string_view line) {
  auto json = ParseJson(line, "run log line", kMaxLine);
  if (!json) {
    const std::string quoted = QuoteNonFinite(line);
    if (quoted != line) json = ParseJson(quoted, "run log line", 2 * kMaxLine);
  }
  if (!json) return json.error();
  if (!json->is_object()) return Invalid("not a JSON object", "run log line");
  return json;
}

// A number, or one of the words that stand for numbers that JSON lacks.
std::optional<double> Number(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return ParseDouble(Trim(value.get_ref<const std::string&>()));
  return std::nullopt;
}

std::optional<double> NumberAt(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it == object.end() ? std::nullopt : Number(*it);
}

std::optional<double> FiniteAt(const Json& object, const char* key) {
  const auto number = NumberAt(object, key);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

// RFC 3339 text, or a number of seconds (or milliseconds) since 1970 as clocks of programs give it.
// What is neither is no time at all: the reader's own clock is better than losing the line.
std::optional<WallTime> TimeAt(const Json& object) {
  const auto it = object.find("at");
  if (it == object.end()) return std::nullopt;
  if (it->is_string()) {
    const auto time = ParseTime(it->get_ref<const std::string&>());
    return time ? std::optional(*time) : std::nullopt;
  }
  if (!it->is_number()) return std::nullopt;
  const double number = it->get<double>();
  if (!(number > 0) || number > 1e14) return std::nullopt;
  return WallTime{static_cast<int64_t>(number > 1e11 ? number : number * 1000)};
}

// Nested objects become slash names: {"val":{"acc":1}} is val/acc.
void CollectNumbers(const Json& object, const std::string& prefix, int depth,
                    std::map<std::string, double>& out) {
  for (const auto& [key, value] : object.items()) {
    const std::string name = prefix + std::string(Trim(key));
    if (name.size() == prefix.size() || name.size() > kMaxName || out.size() >= kMaxMetrics)
      continue;
    if (value.is_object() && depth < kMaxNesting) {
      CollectNumbers(value, name + "/", depth + 1, out);
    } else if (const auto number = Number(value)) {
      out[Printable(name)] = *number;
    }
  }
}

Status ReadPlan(Json json, RunEvent& event) {
  event.epochs_planned = FiniteAt(json, "epochs");
  if (const auto best = json.find("best"); best != json.end() && best->is_object()) {
    event.best_metric = JsonString(*best, "metric").value_or("");
    const std::string mode = JsonString(*best, "mode").value_or("");
    if (mode == "max" || mode == "min") event.best_higher = mode == "max";
  }
  json.erase("kind");
  json.erase("at");
  event.plan_json = DumpJson(json);
  if (event.plan_json.size() > kMaxPlan) return Invalid("a plan larger than 64 KiB");
  return Ok();
}

Status ReadPhase(const Json& json, RunEvent& event) {
  auto name = JsonString(json, "phase");
  if (!name) name = JsonString(json, "name");
  if (!name || name->empty() || name->size() > kMaxName)
    return Invalid("a phase line without \"phase\"");
  event.phase = Printable(*name);
  const std::string edge = JsonString(json, "edge").value_or("begin");
  if (edge != "begin" && edge != "start" && edge != "end" && edge != "stop")
    return Invalid("\"edge\" is neither begin nor end");
  event.phase_begins = edge == "begin" || edge == "start";
  return Ok();
}

Status ReadNumbers(const Json& json, RunEvent& event) {
  event.epoch = FiniteAt(json, "epoch");
  if (const auto step = FiniteAt(json, "step"); step && std::abs(*step) < 9e15)
    event.step = static_cast<int64_t>(*step);
  if (const auto metrics = json.find("metrics"); metrics != json.end()) {
    if (!metrics->is_object()) return Invalid("\"metrics\" is no object");
    CollectNumbers(*metrics, "", 0, event.metrics);
  } else {
    Json rest = json;  // metrics written beside "epoch", as many loggers do
    for (const char* key : {"kind", "at", "epoch", "step"}) rest.erase(key);
    CollectNumbers(rest, "", 0, event.metrics);
  }
  if (event.metrics.empty() && !event.epoch && !event.step)
    return Invalid("neither \"epoch\" nor \"step\" nor \"metrics\"");
  return Ok();
}

Status ReadThroughput(const Json& json, RunEvent& event) {
  event.unit = Printable(JsonString(json, "unit").value_or("unit"));
  event.per_s = NumberAt(json, "per_s");
  event.epoch = FiniteAt(json, "epoch");
  if (!event.per_s) return Invalid("a throughput line without a number in \"per_s\"");
  if (event.unit.empty() || event.unit.size() > 64) return Invalid("\"unit\" is empty or too long");
  return Ok();
}

Status ReadWait(const Json& json, RunEvent& event) {
  event.epoch = FiniteAt(json, "epoch");
  const auto wait = json.find("wait_s");
  if (wait != json.end() && wait->is_object()) {
    CollectNumbers(*wait, "", 0, event.wait_s);
  } else if (const auto seconds = NumberAt(json, "wait_s")) {
    event.wait_s[Printable(JsonString(json, "edge").value_or("input"))] = *seconds;
  }
  if (event.wait_s.empty()) return Invalid("a wait line without numbers in \"wait_s\"");
  return Ok();
}

Status ReadCheckpoint(const Json& json, RunEvent& event) {
  event.path = JsonString(json, "path").value_or("");
  event.role = JsonString(json, "role").value_or("");
  event.epoch = FiniteAt(json, "epoch");
  if (event.path.empty() || event.path.size() > 4096 || event.path.find('\0') != std::string::npos)
    return Invalid("a checkpoint line without a usable \"path\"");
  return Ok();
}

Status ReadFields(Json json, RunEvent& event) {
  switch (event.kind) {
    case Kind::kPlan:
      return ReadPlan(std::move(json), event);
    case Kind::kPhase:
      return ReadPhase(json, event);
    case Kind::kStep:
    case Kind::kEpoch:
      return ReadNumbers(json, event);
    case Kind::kThroughput:
      return ReadThroughput(json, event);
    case Kind::kWait:
      return ReadWait(json, event);
    case Kind::kCheckpoint:
      return ReadCheckpoint(json, event);
    case Kind::kNote:
      event.text = JsonString(json, "text").value_or("");
      if (event.text.empty()) return Invalid("a note without \"text\"");
      return Ok();
  }
  return Ok();
}

Json NumberJson(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  if (number == std::floor(number) && std::abs(number) < 1e15) return static_cast<int64_t>(number);
  return number;
}

Json NumbersJson(const std::map<std::string, double>& numbers) {
  Json out = Json::object();
  for (const auto& [name, value] : numbers) out[name] = NumberJson(value);
  return out;
}

void WritePlan(const RunEvent& event, Json& json) {
  if (!event.plan_json.empty()) {
    const auto plan = ParseJson(event.plan_json, "plan", kMaxPlan);
    if (plan && plan->is_object()) json.update(*plan);
  }
  if (event.epochs_planned) json["epochs"] = NumberJson(*event.epochs_planned);
  if (event.best_metric.empty()) return;
  json["best"] = {{"metric", event.best_metric}};
  if (event.best_higher) json["best"]["mode"] = *event.best_higher ? "max" : "min";
}

}  // namespace

std::string_view KindName(Kind kind) { return kKinds[static_cast<size_t>(kind)]; }

Result<RunEvent> ParseLine(std::string_view line) {
  if (line.size() > kMaxLine) return Invalid("longer than 1 MiB", "run log line");
  if (line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  STOKER_ASSIGN(Json json, ParseObject(line));
  const auto kind_name = JsonString(json, "kind");
  if (!kind_name) return Invalid("no \"kind\"", "run log line");
  const auto kind = ParseKind(*kind_name);
  if (!kind) return Unsupported("unknown kind " + Ellipsize(*kind_name, 40), "run log line");
  RunEvent event;
  event.kind = *kind;
  event.at = TimeAt(json);
  if (const Status read = ReadFields(std::move(json), event); !read)
    return read.error().In("run log line");
  return event;
}

std::string FormatLine(const RunEvent& event) {
  Json json = Json::object();
  if (event.at) json["at"] = FormatTime(*event.at);
  json["kind"] = KindName(event.kind);
  if (event.kind == Kind::kPlan) WritePlan(event, json);
  if (event.kind == Kind::kPhase) {
    json["phase"] = event.phase;
    json["edge"] = event.phase_begins ? "begin" : "end";
  }
  if (event.epoch) json["epoch"] = NumberJson(*event.epoch);
  if (event.step) json["step"] = *event.step;
  if (!event.metrics.empty()) json["metrics"] = NumbersJson(event.metrics);
  if (event.kind == Kind::kThroughput) {
    json["unit"] = event.unit;
    json["per_s"] = NumberJson(event.per_s.value_or(0));
  }
  if (!event.wait_s.empty()) json["wait_s"] = NumbersJson(event.wait_s);
  if (event.kind == Kind::kCheckpoint) {
    json["path"] = event.path;
    if (!event.role.empty()) json["role"] = event.role;
  }
  if (event.kind == Kind::kNote) json["text"] = event.text;
  return DumpJson(json) + "\n";
}

}  // namespace stoker::runlog
