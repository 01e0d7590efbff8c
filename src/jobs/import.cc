#include "jobs/import.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/durable_file.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "device/smi/smi_csv.h"
#include "runlog/foreign/foreign_run.h"

namespace stoker::jobs {
namespace {

using device::GpuReading;
using device::SmiLog;
using device::SmiRow;
using ledger::Metric;

constexpr size_t kMaxSidecar = size_t{1} << 30;
constexpr const char* kSidecar = "sidecar.csv";
constexpr const char* kSidecarFacts = "sidecar.json";

struct Window {
  WallTime from, to;
};

Window WindowOf(const SmiLog& log) {
  const auto [first, last] = std::minmax_element(
      log.rows.begin(), log.rows.end(),
      [](const SmiRow& a, const SmiRow& b) { return a.reading.at < b.reading.at; });
  return {first->reading.at, last->reading.at};
}

// When the run was: from the sidecar where there is one, else back from the last write of its
// files.
Result<Window> WindowOf(const ImportRequest& request, const runlog::ForeignRun& run,
                        const std::optional<SmiLog>& log) {
  const Millis length(static_cast<int64_t>(run.seconds.value_or(0) * 1000));
  if (log) {
    Window window = WindowOf(*log);
    window.to = std::max(window.to, window.from + length);
    return window;
  }
  STOKER_ASSIGN(const FileStat stat, StatFile(JoinPath(request.run_dir, "results.csv")));
  const WallTime end{stat.mtime_ns / 1'000'000};
  return Window{end - length, end};
}

std::string RunLogText(const runlog::ForeignRun& run, const Window& window) {
  std::string out;
  for (const runlog::ForeignEvent& event : run.events) {
    runlog::RunEvent stamped = event.event;
    stamped.at = event.seconds ? window.from + Millis(static_cast<int64_t>(*event.seconds * 1000))
                               : window.to;
    out += runlog::FormatLine(stamped);
  }
  return out;
}

std::vector<int> GpusOf(const SmiLog& log) {
  std::vector<int> gpus;
  for (const SmiRow& row : log.rows) {
    if (std::find(gpus.begin(), gpus.end(), row.gpu) == gpus.end()) gpus.push_back(row.gpu);
  }
  std::sort(gpus.begin(), gpus.end());
  return gpus;
}

// Every file but job.json, which makes the folder a job: a kill before it leaves nothing behind
// that counts.
Status WriteFolder(const std::string& folder, const ImportRequest& request,
                   const std::string& sidecar, const std::string& run_log, const Window& window) {
  if (!sidecar.empty()) {
    std::string text = sidecar;
    if (!request.sidecar_columns.empty()) text = request.sidecar_columns + "\n" + text;
    STOKER_TRY(WriteDurably(JoinPath(folder, kSidecar), text));
    Json facts;
    facts["file"] = request.sidecar;
    facts["utc_offset_s"] = request.utc_offset_s;
    STOKER_TRY(WriteDurably(JoinPath(folder, kSidecarFacts), DumpJson(facts, 1) + "\n"));
  }
  STOKER_TRY(WriteDurably(JoinPath(folder, "run.jsonl"), run_log));
  STOKER_TRY(WriteAttempt(folder, {.number = 1, .started_at = window.from, .ended_at = window.to}));
  return WriteEnd(
      folder, {.state = ledger::JobState::kSucceeded, .ended_at = window.to, .reason = "imported"});
}

// The readings that a sidecar can hold, as the ledger's metrics.
template <typename Take>
void ForEachMetric(const GpuReading& r, const Take& take) {
  const auto scalar = [&](Metric metric, const auto& reading) {
    if (reading) {
      take(metric, static_cast<double>(reading->value), Absence::kNone);
    } else {
      take(metric, 0.0, reading.absence());
    }
  };
  const auto plain = [&](Metric metric, const auto& reading) {
    take(metric, reading ? static_cast<double>(*reading) : 0.0,
         reading ? Absence::kNone : reading.absence());
  };
  scalar(Metric::kBusyRatio, r.busy);
  scalar(Metric::kMemoryBusyRatio, r.memory_busy);
  scalar(Metric::kPowerW, r.power_average);
  scalar(Metric::kPowerInstantW, r.power_instant);
  scalar(Metric::kLimitW, r.limit);
  scalar(Metric::kTemperatureC, r.temperature);
  scalar(Metric::kMemoryTemperatureC, r.memory_temperature);
  scalar(Metric::kMarginC, r.margin);
  scalar(Metric::kMemoryUsedBytes, r.memory_used);
  scalar(Metric::kSmClockHz, r.sm_clock);
  scalar(Metric::kMemoryClockHz, r.memory_clock);
  plain(Metric::kThrottleBits, r.throttle);
  plain(Metric::kPcieGeneration, r.pcie_generation);
  plain(Metric::kPcieWidth, r.pcie_width);
}

using Columns = std::map<std::pair<int, Metric>, std::vector<ledger::Sample>>;

Columns ToColumns(const SmiLog& log) {
  Columns columns;
  for (const SmiRow& row : log.rows) {
    ForEachMetric(row.reading, [&](Metric metric, double value, Absence absence) {
      // A column that the log does not have is no series at all.
      if (absence != Absence::kNotYet)
        columns[{row.gpu, metric}].push_back({row.reading.at, value, absence});
    });
  }
  for (auto& [key, samples] : columns) {
    std::stable_sort(samples.begin(), samples.end(),
                     [](const auto& a, const auto& b) { return a.at < b.at; });
  }
  return columns;
}

Status PutCards(ledger::Writer& writer, const SmiLog& log, ledger::Job& job,
                std::map<int, int64_t>& cards) {
  STOKER_ASSIGN(const int64_t box,
                writer.PutBox({.hostname = fmt::format("imported with job {}", job.id),
                               .facts_json = "{}",
                               .seen_at = job.created_at}));
  job.gpus = GpusOf(log);
  job.cards.clear();
  for (const int gpu : job.gpus) {
    const auto row = std::find_if(log.rows.begin(), log.rows.end(),
                                  [&](const SmiRow& r) { return r.gpu == gpu; });
    const std::string uuid =
        row->uuid.empty() ? fmt::format("import-{}-{}", job.id, gpu) : row->uuid;
    STOKER_ASSIGN(cards[gpu], writer.PutCard({.box = box,
                                              .gpu = gpu,
                                              .uuid = uuid,
                                              .name = row->name,
                                              .present = false,
                                              .seen_at = job.created_at}));
    job.cards.push_back(cards[gpu]);
  }
  return Ok();
}

Result<Imported> WriteJob(const Home& home, const ImportRequest& request,
                          const runlog::ForeignRun& run, const std::string& sidecar,
                          const std::optional<SmiLog>& log, const Clock& clock) {
  STOKER_ASSIGN(const Window window, WindowOf(request, run, log));
  STOKER_TRY(MakeDirs(home.jobs(), 0750));
  STOKER_ASSIGN(const auto made, NewJobFolder(home.jobs()));
  const int64_t id = made.first;
  const std::string& folder = made.second;
  JobSpec spec;
  spec.id = id;
  spec.origin = ledger::JobOrigin::kImported;
  spec.name = !request.name.empty() ? request.name
              : !run.name.empty()
                  ? run.name
                  : BaseName(request.run_dir.empty() ? request.sidecar : request.run_dir);
  spec.command = run.command;
  spec.cwd = request.run_dir.empty() ? DirName(request.sidecar) : request.run_dir;
  spec.user = request.user;
  if (log) spec.gpus = GpusOf(*log);
  spec.run_log = JoinPath(folder, "run.jsonl");
  spec.created_at = clock.Now();
  const Status written = [&]() -> Status {
    STOKER_TRY(WriteFolder(folder, request, sidecar, RunLogText(run, window), window));
    return WriteSpec(folder, spec);
  }();
  if (!written) {
    Ignore(RemoveTree(folder));
    return written.error();
  }
  return Imported{.job = {.id = id, .folder = folder}};
}

}  // namespace

Result<Imported> Import(const Home& home, const ImportRequest& request, const Clock& clock) {
  runlog::ForeignRun run;
  if (!request.run_dir.empty()) {
    auto read = runlog::ReadUltralytics(request.run_dir);
    if (!read && read.error().code == Code::kNotFound) {
      return NotFound("no run that Stoker can read", request.run_dir,
                      "known: Ultralytics' results.csv with args.yaml");
    }
    if (!read) return read.error();
    run = std::move(*read);
  }
  std::string sidecar;
  std::optional<SmiLog> log;
  if (!request.sidecar.empty()) {
    STOKER_ASSIGN(sidecar, ReadFile(request.sidecar, kMaxSidecar));
    STOKER_ASSIGN(log, device::ParseSmiCsv(sidecar, request.sidecar, request.sidecar_columns,
                                           Seconds(request.utc_offset_s)));
  }
  STOKER_ASSIGN(Imported imported, WriteJob(home, request, run, sidecar, log, clock));
  imported.dropped = run.dropped_rows;
  if (log) {
    imported.samples = static_cast<int64_t>(log->rows.size());
    imported.dropped += log->dropped_lines;
    imported.guessed_cards = log->guessed_cards;
  }
  return imported;
}

Status TakeSidecar(const std::string& folder, ledger::Ledger& ledger, ledger::Job& job) {
  const std::string path = JoinPath(folder, kSidecar);
  if (!FileExists(path)) return Ok();
  const std::string mark = fmt::format("import/{}/sidecar", job.id);
  STOKER_ASSIGN(const auto taken, ledger.Mark(mark));
  if (taken) return Ok();
  STOKER_ASSIGN(const std::string text, ReadFile(path, kMaxSidecar));
  STOKER_ASSIGN(const std::string facts_text, ReadFile(JoinPath(folder, kSidecarFacts), 1 << 20));
  STOKER_ASSIGN(const Json facts, ParseJson(facts_text, kSidecarFacts));
  STOKER_ASSIGN(
      const SmiLog log,
      device::ParseSmiCsv(text, path, {}, Seconds(JsonNumber(facts, "utc_offset_s").value_or(0))));
  const Columns columns = ToColumns(log);
  return ledger.Write([&](ledger::Writer& writer) -> Status {
    std::map<int, int64_t> cards;
    STOKER_TRY(PutCards(writer, log, job, cards));
    for (const auto& [key, samples] : columns) {
      const auto& [gpu, metric] = key;
      STOKER_ASSIGN(const auto series,
                    writer.SeriesFor(metric, {.scope = ledger::Scope::kCard, .id = cards[gpu]}));
      STOKER_TRY(writer.AddSamples(series, samples));
    }
    STOKER_TRY(writer.PutJob(job));
    return writer.SetMark(mark, "taken");
  });
}

}  // namespace stoker::jobs
