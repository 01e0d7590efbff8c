#include "sim/load_file.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json.h"

namespace stoker::sim {
namespace {

constexpr size_t kPhasesMost = 1000;

Status ReadNumber(const Json& json, const char* name, double most, const std::string& where,
                  double& out) {
  if (!json.contains(name)) return Ok();
  const auto value = JsonNumber(json, name);
  if (!value || !(*value >= 0 && *value <= most)) {
    return Invalid(fmt::format("\"{}\" must be from 0 to {}", name, most), where);
  }
  out = *value;
  return Ok();
}

Status ReadLoad(const Json& json, const std::string& where, Load& load) {
  if (!json.is_object()) return Invalid("a load must be an object", where);
  STOKER_TRY(ReadNumber(json, "busy_ratio", 1, where, load.busy_ratio));
  STOKER_TRY(ReadNumber(json, "memory_busy_ratio", 1, where, load.memory_busy_ratio));
  STOKER_TRY(ReadNumber(json, "power_ratio", 1, where, load.power_ratio));
  STOKER_TRY(ReadNumber(json, "memory_bytes", 1e14, where, load.memory_bytes));
  return Ok();
}

}  // namespace

const Load& LoadFile::At(double seconds) const {
  double total = 0;
  for (const Phase& phase : phases) total += phase.wall_s;
  if (phases.empty() || total <= 0) return load;
  double left = repeat ? std::fmod(std::max(0.0, seconds), total) : std::max(0.0, seconds);
  for (const Phase& phase : phases) {
    if (left < phase.wall_s) return phase.load;
    left -= phase.wall_s;
  }
  return phases.back().load;
}

Result<LoadFile> ParseLoadFile(std::string_view text, const std::string& where) {
  STOKER_ASSIGN(const Json json, ParseJson(text, where, 1 << 20));
  LoadFile file;
  STOKER_TRY(ReadLoad(json, where, file.load));
  if (const auto pid = JsonInt(json, "pid")) file.pid = static_cast<pid_t>(*pid);
  file.repeat = JsonBool(json, "repeat").value_or(false);
  if (!json.contains("phases")) return file;
  if (!json["phases"].is_array() || json["phases"].size() > kPhasesMost) {
    return Invalid(fmt::format("\"phases\" must be a list of at most {}", kPhasesMost), where);
  }
  for (const Json& entry : json["phases"]) {
    LoadFile::Phase phase;
    phase.load = file.load;
    STOKER_TRY(ReadLoad(entry, where, phase.load));
    STOKER_TRY(ReadNumber(entry, "wall_s", 1e9, where, phase.wall_s));
    file.phases.push_back(phase);
  }
  return file;
}

std::string FormatLoad(pid_t pid, const Load& load) {
  Json json = Json::object();
  json["pid"] = pid;
  json["busy_ratio"] = load.busy_ratio;
  json["memory_busy_ratio"] = load.memory_busy_ratio;
  json["power_ratio"] = load.power_ratio;
  json["memory_bytes"] = load.memory_bytes;
  return DumpJson(json) + "\n";
}

}  // namespace stoker::sim
