// The ledger's figures: bytes a sample, samples a second, and how long pages wait for it. Recorded
// data is found by STOKER_DATA, else beside the source tree; where it is absent those lines are
// skipped.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "ledger/ledger.h"

namespace stoker::ledger {
namespace {

constexpr int64_t kStart = 1'790'000'000'000;
constexpr int kCards = 8;

using Recording = std::map<std::pair<int, Metric>, std::vector<Sample>>;

std::string DataFolder() {
  const char* named = std::getenv("STOKER_DATA");
  return named != nullptr ? named : std::string(STOKER_SOURCE_DIR) + "/../shared/data";
}

// "440.61 W" and the like; hexadecimal for bit masks.
double Number(std::string_view cell) {
  cell = Trim(cell);
  if (cell.starts_with("0x"))
    return static_cast<double>(std::stoull(std::string(cell), nullptr, 16));
  return ParseDouble(cell.substr(0, cell.find(' '))).value_or(std::nan(""));
}

// "2026/10/18 06:35:00.569" as if it were UTC.
WallTime StampOf(std::string_view cell) {
  std::string text(Trim(cell));
  if (text.size() < 19) return {};
  text[4] = text[7] = '-';
  text[10] = 'T';
  return ParseTime(text + "Z").value_or(WallTime{});
}

struct Column {
  Metric metric;
  double factor;
};

// A CSV of nvidia-smi; without an index column the cards take turns.
Recording ReadCsv(const std::string& path, bool has_index,
                  const std::vector<std::pair<size_t, Column>>& columns) {
  Recording out;
  const Result<std::string> text = ReadFile(path);
  if (!text) return out;
  int line = -1;
  for (const std::string_view row : Split(*text, '\n')) {
    const std::vector<std::string_view> cells = Split(row, ',');
    if (line++ < 0 || cells.size() <= columns.back().first) continue;
    const int gpu = has_index ? static_cast<int>(Number(cells[1])) : (line - 1) % kCards;
    for (const auto& [index, column] : columns) {
      auto& list = out[{gpu, column.metric}];
      const Sample sample{StampOf(cells[0]), Number(cells[index]) * column.factor};
      if (list.empty() || list.back().at <= sample.at) list.push_back(sample);
    }
  }
  return out;
}

Recording Night() {
  return ReadCsv(DataFolder() + "/night/sidecar.csv", true,
                 {{3, {Metric::kBusyRatio, 0.01}},
                  {4, {Metric::kPowerW, 1}},
                  {5, {Metric::kLimitW, 1}},
                  {6, {Metric::kTemperatureC, 1}},
                  {7, {Metric::kMarginC, 1}},
                  {8, {Metric::kMemoryUsedBytes, 1048576}},
                  {9, {Metric::kThrottleBits, 1}},
                  {10, {Metric::kPcieGeneration, 1}},
                  {11, {Metric::kPcieWidth, 1}}});
}

Recording H100(const char* file) {
  return ReadCsv(DataFolder() + "/gpu_telemetry/h100x8_ckpt_sync/" + file, false,
                 {{1, {Metric::kPowerW, 1}},
                  {2, {Metric::kBusyRatio, 0.01}},
                  {3, {Metric::kMemoryUsedBytes, 1048576}}});
}

class Box {
 public:
  Box() : dir_(TempDir::Make("stoker-bench").value()), clock_(WallTime{kStart}) { Open(); }
  Ledger& ledger() { return *ledger_; }
  FakeClock& clock() { return clock_; }
  SeriesId Series(Metric metric, int64_t id) {
    SeriesId out = 0;
    Must(ledger_->Write([&](Writer& w) -> Status {
      STOKER_ASSIGN(out, w.SeriesFor(metric, {Info(metric).scope, id, ""}));
      return Ok();
    }));
    return out;
  }
  // The size of the closed file.
  int64_t Bytes() {
    ledger_.reset();
    const int64_t size = StatFile(path())->size_bytes;
    Open();
    return size;
  }
  static void Must(const Status& status) {
    if (!status) std::fprintf(stderr, "%s\n", status.error().Line().c_str()), std::abort();
  }

 private:
  std::string path() const { return dir_.path() + "/ledger.db"; }
  void Open() { ledger_ = Ledger::Open(path(), Ledger::Mode::kWriter, clock_).value(); }
  TempDir dir_;
  FakeClock clock_;
  std::unique_ptr<Ledger> ledger_;
};

// Several nights like the recorded one, each on its own date: a single one is so small that the
// last pages of the file's tables would be measured.
int64_t Import(Box& box, const Recording& recording) {
  constexpr int kNights = 20;
  constexpr Millis kDay = std::chrono::hours(24);
  int64_t samples = 0;
  std::vector<SeriesId> ids;
  for (const auto& [key, list] : recording) ids.push_back(box.Series(key.second, key.first));
  for (int night = 0; night < kNights; ++night) {
    Box::Must(box.ledger().Write([&](Writer& w) -> Status {
      size_t next = 0;
      for (const auto& [key, list] : recording) {
        std::vector<Sample> shifted = list;
        for (Sample& sample : shifted) sample.at = sample.at + night * kDay;
        STOKER_TRY(w.AddSamples(ids[next++], shifted));
        samples += static_cast<int64_t>(list.size());
      }
      return Ok();
    }));
  }
  return samples;
}

// An empty ledger has a size of its own, which a week dwarfs and a test recording does not.
int64_t EmptyBytes() { return Box().Bytes(); }

void Recorded(benchmark::State& state, const Recording& recording) {
  if (recording.empty()) {
    state.SkipWithError("no recorded data here");
    return;
  }
  int64_t samples = 0, bytes = 0;
  for (auto _ : state) {
    Box box;
    samples = Import(box, recording);
    bytes = box.Bytes() - EmptyBytes();
  }
  state.counters["samples"] = static_cast<double>(samples);
  state.counters["bytes_a_sample"] = static_cast<double>(bytes) / static_cast<double>(samples);
}
void BM_BytesNight(benchmark::State& state) { Recorded(state, Night()); }
void BM_BytesH100Every50(benchmark::State& state) { Recorded(state, H100("ckpt50.csv")); }
void BM_BytesH100Every1000(benchmark::State& state) { Recorded(state, H100("ckpt1000.csv")); }
BENCHMARK(BM_BytesNight)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_BytesH100Every50)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_BytesH100Every1000)->Iterations(1)->Unit(benchmark::kMillisecond);

// A card in training at 1 Hz: noise on watts, slow heat, steps and dips.
class FakeCard {
 public:
  explicit FakeCard(uint64_t seed) : random_(seed) {}
  std::vector<std::pair<Metric, double>> Next(int64_t second) {
    const bool saving = second % 245 < 16;
    const double busy = saving ? 0.02 : std::min(1.0, 0.95 + 0.02 * noise_(random_));
    const double watts = saving ? 95 + noise_(random_) : 480 + 9 * noise_(random_);
    energy_ += watts;
    heat_ += (35 + watts / 15 - heat_) / 120;
    return {{Metric::kBusyRatio, std::round(busy * 100) / 100},
            {Metric::kMemoryBusyRatio, std::round(busy * 60) / 100},
            {Metric::kPowerW, std::round(watts * 100) / 100},
            {Metric::kPowerInstantW, std::round((watts + 20 * noise_(random_)) * 100) / 100},
            {Metric::kEnergyJ, std::round(energy_ * 1000) / 1000},
            {Metric::kLimitW, 600},
            {Metric::kMemoryUsedBytes, 34'000 * 1048576.0},
            {Metric::kTemperatureC, std::round(heat_)},
            {Metric::kMemoryTemperatureC, std::round(heat_) + 8},
            {Metric::kMarginC, 90 - std::round(heat_)},
            {Metric::kSmClockHz, (saving ? 2400 : 2325 + 15 * std::round(noise_(random_))) * 1e6},
            {Metric::kMemoryClockHz, 12'481e6},
            {Metric::kThrottleBits, saving ? 0.0 : 4.0},
            {Metric::kThrottledPowerS, static_cast<double>(second)},
            {Metric::kThrottledSwThermalS, 0},
            {Metric::kThrottledHwThermalS, 0},
            {Metric::kThrottledPowerBrakeS, 0},
            {Metric::kPcieGeneration, 5},
            {Metric::kPcieWidth, 16},
            {Metric::kReadCostS, 0.002 + 0.0003 * std::abs(noise_(random_))}};
  }

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> noise_{0, 1};
  double energy_ = 1e6, heat_ = 60;
};

// What the daemon does all day: a tick a second, sealing every minute. Both figures at once.
void BM_DaemonAt1Hz(benchmark::State& state) {
  const int64_t seconds = 12 * 3600;
  std::vector<std::vector<TickValue>> ticks(static_cast<size_t>(seconds));
  Box box;
  for (int card = 0; card < kCards; ++card) {
    FakeCard fake(static_cast<uint64_t>(card));
    std::map<Metric, SeriesId> ids;
    for (int64_t s = 0; s < seconds; ++s) {
      for (const auto& [metric, value] : fake.Next(s)) {
        if (ids.count(metric) == 0) ids[metric] = box.Series(metric, card);
        ticks[static_cast<size_t>(s)].push_back({ids[metric], value});
      }
    }
  }
  int64_t samples = 0;
  std::mt19937_64 random(1);
  for (auto _ : state) {
    for (const auto& tick : ticks) {
      box.clock().Tick(Millis(1000));
      const WallTime at{box.clock().Now().ms + static_cast<int64_t>(random() % 3)};
      Box::Must(box.ledger().Write([&](Writer& w) { return w.AddTick(at, tick); }));
      samples += static_cast<int64_t>(tick.size());
      if (at.ms / 1000 % 60 == 0) Box::Must(box.ledger().Maintain());
    }
  }
  state.SetItemsProcessed(samples);
  box.clock().Tick(std::chrono::hours(3));
  Box::Must(box.ledger().Maintain());
  state.counters["bytes_a_sample"] =
      static_cast<double>(box.Bytes() - EmptyBytes()) / static_cast<double>(samples);
}
BENCHMARK(BM_DaemonAt1Hz)->Iterations(1)->Unit(benchmark::kSecond);

void BM_BulkImport(benchmark::State& state) {
  std::vector<Sample> samples;
  FakeCard fake(1);
  for (int64_t s = 0; s < 86'400; ++s) {
    samples.push_back({WallTime{kStart + s * 1000}, fake.Next(s)[2].second});
  }
  int64_t done = 0;
  for (auto _ : state) {
    state.PauseTiming();
    Box box;
    const SeriesId id = box.Series(Metric::kPowerW, 1);
    state.ResumeTiming();
    Box::Must(box.ledger().Write([&](Writer& w) { return w.AddSamples(id, samples); }));
    done += static_cast<int64_t>(samples.size());
  }
  state.SetItemsProcessed(done);
}
BENCHMARK(BM_BulkImport)->Unit(benchmark::kMillisecond);

// Seven days of one metric of eight cards; the last quarter of an hour is not sealed.
Box& Week() {
  static const std::unique_ptr<Box> box = [] {
    auto made = std::make_unique<Box>();
    const int64_t seconds = 7 * 86'400, hot = 900;
    std::vector<std::vector<TickValue>> ticks(static_cast<size_t>(hot));
    for (int card = 0; card < kCards; ++card) {
      FakeCard fake(static_cast<uint64_t>(card));
      std::vector<Sample> samples;
      const SeriesId id = made->Series(Metric::kPowerW, card);
      for (int64_t s = 0; s < seconds; ++s) {
        const double watts = fake.Next(s)[2].second;
        if (s < seconds - hot) {
          samples.push_back({WallTime{kStart + s * 1000 + s % 3}, watts});
        } else {
          ticks[static_cast<size_t>(s - seconds + hot)].push_back({id, watts});
        }
      }
      Box::Must(made->ledger().Write([&](Writer& w) { return w.AddSamples(id, samples); }));
    }
    Box::Must(made->ledger().Write([&](Writer& w) -> Status {
      for (int64_t s = 0; s < hot; ++s) {
        STOKER_TRY(w.AddTick(WallTime{kStart + (seconds - hot + s) * 1000},
                             ticks[static_cast<size_t>(s)]));
      }
      return Ok();
    }));
    return made;
  }();
  return *box;
}

// One metric: a scan of each card.
void BM_Week1000Pixels(benchmark::State& state) {
  Ledger& ledger = Week().ledger();
  std::vector<SeriesId> ids;
  for (int card = 0; card < kCards; ++card) ids.push_back(Week().Series(Metric::kPowerW, card));
  const WallTime from{kStart + 12'345}, to{kStart + int64_t{7} * 86'400'000};
  for (auto _ : state) {
    for (const SeriesId id : ids) {
      auto buckets = ledger.ScanBuckets(id, from, to, 1000);
      benchmark::DoNotOptimize(buckets->size());
    }
  }
}
BENCHMARK(BM_Week1000Pixels)->Unit(benchmark::kMillisecond);

void BM_LastHour1000Pixels(benchmark::State& state) {
  Ledger& ledger = Week().ledger();
  const SeriesId id = Week().Series(Metric::kPowerW, 0);
  const WallTime to{kStart + int64_t{7} * 86'400'000};
  for (auto _ : state) {
    auto buckets = ledger.ScanBuckets(id, to - std::chrono::hours(1), to, 1000);
    benchmark::DoNotOptimize(buckets->size());
  }
}
BENCHMARK(BM_LastHour1000Pixels)->Unit(benchmark::kMillisecond);

void BM_ScanOneDay(benchmark::State& state) {
  Ledger& ledger = Week().ledger();
  const SeriesId id = Week().Series(Metric::kPowerW, 0);
  int64_t samples = 0;
  for (auto _ : state) {
    auto all = ledger.Scan(id, WallTime{kStart}, WallTime{kStart + 86'400'000});
    samples += static_cast<int64_t>(all->size());
  }
  state.SetItemsProcessed(samples);
}
BENCHMARK(BM_ScanOneDay)->Unit(benchmark::kMillisecond);

// 10,000 jobs with the texts that real ones carry, 1,000,000 points of metrics, 50,000 events and
// 30,000 checkpoints.
Box& Records() {
  static const std::unique_ptr<Box> box = [] {
    auto made = std::make_unique<Box>();
    Box::Must(made->ledger().Write([](Writer& w) -> Status {
      for (int id = 1; id <= 10'000; ++id) {
        Job job;
        job.id = id;
        job.name = "train-" + std::to_string(id);
        job.state = id > 9'990 ? JobState::kRunning : JobState::kSucceeded;
        job.command = {"python3",      "train.py", "--data",
                       "/data/dishes", "--seed",   std::to_string(id)};
        job.cwd = "/data/runs/" + std::to_string(id);
        job.user = "ada";
        job.gpus = {id % 8};
        job.created_at = WallTime{kStart + id * 1000};
        if (id <= 9'990) job.ended_at = WallTime{kStart + id * 1000 + 500'000};
        job.environment_json = "{\"PATH\":\"" + std::string(3000, 'x') + "\"}";
        job.best = Best{"val/accuracy", 0.7, true, 40.0, {}};
        STOKER_TRY(w.PutJob(job));
        std::vector<MetricPoint> points;
        for (int e = 0; e < 100; ++e) {
          points.push_back({e % 2 == 0 ? "val/accuracy" : "train/loss", 0.01 * e, 1.0 * e, e,
                            WallTime{kStart + e}});
        }
        STOKER_TRY(w.AddMetrics(id, points));
        for (int e = 0; e < 3; ++e) {
          Checkpoint checkpoint;
          checkpoint.job = id;
          checkpoint.path = "/data/runs/best.pt";
          checkpoint.state = e == 2 ? CheckpointState::kSafe : CheckpointState::kSuperseded;
          STOKER_ASSIGN(const int64_t unused, w.PutCheckpoint(checkpoint));
          benchmark::DoNotOptimize(unused);
        }
        for (int e = 0; e < 5; ++e) {
          Event event;
          event.at = WallTime{kStart + id * 1000 + e};
          event.kind = e == 0 ? "job.started" : "checkpoint.safe";
          event.job = id;
          event.text = "a sentence of an ordinary length about what happened";
          STOKER_ASSIGN(const int64_t unused, w.AddEvent(event));
          benchmark::DoNotOptimize(unused);
        }
      }
      return Ok();
    }));
    return made;
  }();
  return *box;
}

void Time(benchmark::State& state, const std::function<size_t(Ledger&)>& ask) {
  Ledger& ledger = Records().ledger();
  size_t rows = 0;
  for (auto _ : state) rows = ask(ledger);
  state.counters["rows"] = static_cast<double>(rows);
}
void BM_JobsNewest100(benchmark::State& state) {
  JobFilter filter;
  filter.limit = 100;
  Time(state, [&](Ledger& l) { return l.Jobs(filter)->size(); });
}
void BM_JobsAllBrief(benchmark::State& state) {
  JobFilter filter;
  filter.brief = true;
  Time(state, [&](Ledger& l) { return l.Jobs(filter)->size(); });
}
void BM_JobsAll(benchmark::State& state) {
  Time(state, [&](Ledger& l) { return l.Jobs({})->size(); });
}
void BM_JobsRunning(benchmark::State& state) {
  JobFilter filter;
  filter.states = {JobState::kRunning};
  Time(state, [&](Ledger& l) { return l.Jobs(filter)->size(); });
}
void BM_MetricsOfAJob(benchmark::State& state) {
  Time(state, [](Ledger& l) { return l.Metrics(5'000, "val/accuracy")->size(); });
}
void BM_EventsNewest200(benchmark::State& state) {
  EventFilter filter;
  filter.limit = 200;
  Time(state, [&](Ledger& l) { return l.Events(filter)->size(); });
}
BENCHMARK(BM_JobsNewest100)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_JobsAllBrief)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_JobsAll)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_JobsRunning)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_MetricsOfAJob)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_EventsNewest200)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stoker::ledger

BENCHMARK_MAIN();
