// For tests: a recorded night (an nvidia-smi CSV and a results.csv) put into a ledger the way an
// import does, without the importer. The folder is not part of the project.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "ledger/ledger.h"

namespace stoker::query {

struct NightRow {
  WallTime at;
  int gpu = 0;
  std::string uuid;
  std::map<ledger::Metric, double> values;
};

inline double NumberOf(std::string_view cell) {
  return ParseDouble(Trim(cell.substr(0, cell.find_last_of("0123456789") + 1))).value_or(0);
}

// "2026/10/18 06:35:00.569, 0, GPU-..., 86 %, 403.10 W, 600.00 W, 38, 46, 34000 MiB, 0x8, 5, 16"
inline std::optional<NightRow> ParseNightRow(std::string_view line) {
  const std::vector<std::string_view> cells = Split(line, ',');
  if (cells.size() < 10) return std::nullopt;
  NightRow row;
  std::string time(Trim(cells[0]));
  if (time.size() < 19) return std::nullopt;
  time[4] = time[7] = '-';
  time[10] = 'T';
  const Result<WallTime> at = ParseTime(time + "Z");
  if (!at) return std::nullopt;
  row.at = *at;
  row.gpu = static_cast<int>(NumberOf(cells[1]));
  row.uuid = std::string(Trim(cells[2]));
  row.values[ledger::Metric::kBusyRatio] = NumberOf(cells[3]) / 100;
  row.values[ledger::Metric::kPowerW] = NumberOf(cells[4]);
  row.values[ledger::Metric::kLimitW] = NumberOf(cells[5]);
  row.values[ledger::Metric::kTemperatureC] = NumberOf(cells[6]);
  row.values[ledger::Metric::kMarginC] = NumberOf(cells[7]);
  row.values[ledger::Metric::kMemoryUsedBytes] = NumberOf(cells[8]) * 1048576;
  row.values[ledger::Metric::kThrottleBits] =
      static_cast<double>(std::stoull(std::string(Trim(cells[9])), nullptr, 16));
  return row;
}

// The curves of a results.csv under the names its trainer wrote.
inline Result<std::vector<ledger::MetricPoint>> ReadResultsCsv(const std::string& path,
                                                               WallTime started) {
  std::vector<ledger::MetricPoint> points;
  STOKER_ASSIGN(const std::string text, ReadFile(path));
  const std::vector<std::string_view> lines = Split(text, '\n');
  const std::vector<std::string_view> names = Split(lines[0], ',');
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string_view> cells = Split(lines[i], ',');
    if (cells.size() != names.size()) continue;
    const bool timed = Trim(names[1]) == "time";
    const double time_s = timed ? NumberOf(cells[1]) : 60.0 * static_cast<double>(i);
    for (size_t c = timed ? 2 : 1; c < cells.size(); ++c) {
      const std::optional<double> value = ParseDouble(Trim(cells[c]));
      if (!value) continue;
      points.push_back({std::string(Trim(names[c])), *value, NumberOf(cells[0]), std::nullopt,
                        started + Millis(static_cast<int64_t>(time_s * 1000))});
    }
  }
  return points;
}

// Writes the night as an imported job 1 and returns it.
inline Result<ledger::Job> LoadNight(ledger::Ledger& ledger, const std::string& folder) {
  STOKER_ASSIGN(const std::string csv, ReadFile(folder + "/sidecar.csv"));
  std::map<int, std::vector<NightRow>> rows;
  for (const std::string_view line : Split(csv, '\n')) {
    if (const auto row = ParseNightRow(line)) rows[row->gpu].push_back(*row);
  }
  if (rows.empty()) return Invalid("no rows", folder);
  ledger::Job job;
  job.id = 1;
  job.name = "train-x";
  job.state = ledger::JobState::kSucceeded;
  job.origin = ledger::JobOrigin::kImported;
  job.command = {"yolo", "train", "model=yolo11x.yaml", "data=coco.yaml", "epochs=600"};
  job.cwd = "/data/runs";
  job.user = "owner";
  job.started_at = ParseTime("2026-10-18T06:35:00Z").value();
  job.created_at = *job.started_at;
  job.ended_at = *job.started_at + Millis(69'018'000);
  STOKER_ASSIGN(const auto points,
                ReadResultsCsv(folder + "/run/train-x/results.csv", *job.started_at));
  for (const ledger::MetricPoint& p : points) {
    if (p.name != "metrics/mAP50-95(B)") continue;
    if (!job.best || p.value > job.best->value) {
      job.best = ledger::Best{p.name, p.value, true, p.epoch, p.at};
    }
    job.last_epoch = p.epoch;
  }
  job.epochs_planned = 600;
  STOKER_TRY(ledger.Write([&](ledger::Writer& w) -> Status {
    STOKER_ASSIGN(const int64_t box, w.PutBox({0, "night", "", "{}", *job.started_at}));
    for (const auto& [gpu, reads] : rows) {
      ledger::Card card;
      card.box = box;
      card.gpu = gpu;
      card.uuid = reads[0].uuid;
      card.name = "NVIDIA RTX PRO 6000 Blackwell Server Edition";
      card.memory_bytes = 96e9;
      card.seen_at = reads.back().at;
      STOKER_ASSIGN(const int64_t id, w.PutCard(card));
      job.gpus.push_back(gpu);
      job.cards.push_back(id);
      for (const auto& [metric, value] : reads[0].values) {
        std::vector<ledger::Sample> samples;
        for (const NightRow& row : reads) samples.push_back({row.at, row.values.at(metric)});
        STOKER_ASSIGN(const auto series, w.SeriesFor(metric, {ledger::Scope::kCard, id, ""}));
        STOKER_TRY(w.AddSamples(series, samples));
      }
    }
    STOKER_TRY(w.PutJob(job));
    return w.AddMetrics(job.id, points);
  }));
  return job;
}

}  // namespace stoker::query
