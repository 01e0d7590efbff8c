// Generates src/ledger/metrics.h, src/ledger/metrics.cc and docs/metrics.md from
// src/ledger/metrics.json. `gen_metrics ROOT` writes them, `gen_metrics --check ROOT` compares.
#include <cctype>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Row {
  int id = 0;
  std::string name, unit, kind, scope, sentence;
  double scale = 1;
};

std::optional<std::string> ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return bytes.str();
}

// "busy_ratio" is kBusyRatio, "load_1m" is kLoad1m.
std::string EnumName(const std::string& word) {
  std::string out = "k";
  bool up = true;
  for (const char c : word) {
    if (c == '_') {
      up = true;
      continue;
    }
    out += up ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    up = false;
  }
  return out;
}

std::string ScaleText(double scale) {
  std::ostringstream out;
  out << scale;
  return out.str();
}

// What the JSON says, or one line on what is wrong with it.
std::optional<std::string> Parse(const std::string& text, std::vector<Row>& rows) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) return "no JSON";
  if (!json.is_object() || !json.contains("metrics") || !json["metrics"].is_array()) {
    return "no \"metrics\" list";
  }
  static const std::set<std::string> kScopes{"card", "host", "core", "disk", "net", "rack", "job"};
  std::set<int> ids;
  std::set<std::string> names;
  for (const auto& m : json["metrics"]) {
    Row row;
    for (const auto& [key, field] :
         std::vector<std::pair<const char*, std::string*>>{{"name", &row.name},
                                                           {"unit", &row.unit},
                                                           {"kind", &row.kind},
                                                           {"scope", &row.scope},
                                                           {"sentence", &row.sentence}}) {
      if (!m.contains(key) || !m[key].is_string()) return "a metric without " + std::string(key);
      *field = m[key].get<std::string>();
    }
    if (!m.contains("id") || !m["id"].is_number_integer()) return row.name + ": no id";
    if (!m.contains("scale") || !m["scale"].is_number()) return row.name + ": no scale";
    row.id = m["id"].get<int>();
    row.scale = m["scale"].get<double>();
    if (row.id < 1 || row.id > 65535 || !ids.insert(row.id).second) return row.name + ": bad id";
    if (row.name.empty() || !names.insert(row.name).second) return row.name + ": bad name";
    if (row.scale <= 0) return row.name + ": bad scale";
    if (row.kind != "gauge" && row.kind != "counter") return row.name + ": bad kind";
    if (kScopes.count(row.scope) == 0) return row.name + ": bad scope";
    rows.push_back(row);
  }
  return std::nullopt;
}

std::string Header(const std::vector<Row>& rows) {
  std::ostringstream out;
  out << R"(// Generated from metrics.json by tools/gen_metrics.cc: edit that file, not this one.
// The catalogue of everything that can be sampled: each metric once, with its unit, the scale at
// which it is stored, and what it belongs to. Ids are stored in ledgers: append only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace stoker::ledger {

enum class Scope { kCard, kHost, kCore, kDisk, kNet, kRack, kJob };
std::string_view ScopeName(Scope scope);  // "card", "host", ...

enum class MetricKind { kGauge, kCounter };

enum class Metric : uint16_t {
)";
  for (const Row& row : rows) {
    out << "  " << EnumName(row.name) << " = " << row.id << ",\n";
  }
  out << R"(};

struct MetricInfo {
  std::string_view name;  // "power_w"
  std::string_view unit;  // "W"; empty where there is none
  double scale = 1;       // stored as the integer nearest to value * scale
  MetricKind kind = MetricKind::kGauge;
  Scope scope = Scope::kHost;
  std::string_view sentence;
  Metric metric{};
};

const MetricInfo& Info(Metric metric);
std::optional<Metric> FindMetric(std::string_view name);
// Of a number in a file: nullopt for a metric that only a newer Stoker knows.
std::optional<Metric> MetricFromId(int64_t id);
std::span<const MetricInfo> AllMetrics();

}  // namespace stoker::ledger
)";
  return out.str();
}

std::string Source(const std::vector<Row>& rows) {
  std::ostringstream out;
  out << R"(// Generated from metrics.json by tools/gen_metrics.cc: edit that file, not this one.
#include "ledger/metrics.h"

#include "base/check.h"

namespace stoker::ledger {
namespace {

// clang-format off
constexpr MetricInfo kMetrics[] = {
)";
  for (const Row& row : rows) {
    out << "    {\"" << row.name << "\", \"" << row.unit << "\", " << ScaleText(row.scale)
        << ", MetricKind::" << EnumName(row.kind) << ", Scope::" << EnumName(row.scope)
        << ",\n     \"" << row.sentence << "\",\n     Metric::" << EnumName(row.name) << "},\n";
  }
  out << R"(};
// clang-format on

}  // namespace

std::span<const MetricInfo> AllMetrics() { return kMetrics; }

std::optional<Metric> FindMetric(std::string_view name) {
  for (const MetricInfo& info : kMetrics) {
    if (info.name == name) return info.metric;
  }
  return std::nullopt;
}

std::optional<Metric> MetricFromId(int64_t id) {
  for (const MetricInfo& info : kMetrics) {
    if (static_cast<int64_t>(info.metric) == id) return info.metric;
  }
  return std::nullopt;
}

const MetricInfo& Info(Metric metric) {
  for (const MetricInfo& info : kMetrics) {
    if (info.metric == metric) return info;
  }
  STOKER_CHECK(!"a metric of the catalogue");
  return kMetrics[0];
}

std::string_view ScopeName(Scope scope) {
  constexpr std::string_view kNames[] = {"card", "host", "core", "disk", "net", "rack", "job"};
  return kNames[static_cast<size_t>(scope)];
}

}  // namespace stoker::ledger
)";
  return out.str();
}

std::string Table(const std::vector<Row>& rows) {
  std::ostringstream out;
  out << "# Metrics\n\nGenerated from `src/ledger/metrics.json` by `tools/gen_metrics.cc`: edit "
         "that "
         "file, not this one.\n\nEverything that Stoker samples. The name is the key on every "
         "wire. "
         "A stored value is exact to 1/scale of its unit. A counter only grows, until its driver "
         "or machine starts anew.\n\n| name | unit | scale | kind | of | what it says |\n"
         "|---|---|---|---|---|---|\n";
  for (const Row& row : rows) {
    out << "| `" << row.name << "` | " << row.unit << " | " << ScaleText(row.scale) << " | "
        << row.kind << " | " << row.scope << " | " << row.sentence << " |\n";
  }
  return out.str();
}

}  // namespace

int main(int argc, char** argv) {
  const bool check = argc > 1 && std::string(argv[1]) == "--check";
  if (argc != (check ? 3 : 2)) {
    std::cerr << "usage: gen_metrics [--check] ROOT\n";
    return 2;
  }
  const std::string root = argv[argc - 1];
  const std::string json_path = root + "/src/ledger/metrics.json";
  const std::optional<std::string> text = ReadAll(json_path);
  std::vector<Row> rows;
  if (const std::optional<std::string> wrong = text ? Parse(*text, rows) : "it cannot be read") {
    std::cerr << json_path << ": " << *wrong << "\n";
    return 1;
  }
  int rc = 0;
  for (const auto& [path, bytes] : std::vector<std::pair<std::string, std::string>>{
           {root + "/src/ledger/metrics.h", Header(rows)},
           {root + "/src/ledger/metrics.cc", Source(rows)},
           {root + "/docs/metrics.md", Table(rows)}}) {
    if (ReadAll(path) == bytes) continue;
    if (check) {
      std::cerr << path << ": differs from metrics.json (run gen_metrics " << root << ")\n";
      rc = 1;
    } else if (!(std::ofstream(path, std::ios::binary) << bytes).flush()) {
      std::cerr << path << ": cannot be written\n";
      rc = 1;
    }
  }
  return rc;
}
