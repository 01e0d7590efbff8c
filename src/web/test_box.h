// For tests of this module: a real ledger in a folder of its own with two cards, a host and two
// jobs, behind a door that counts reads and can be told to fail.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "ledger/ledger.h"

namespace stoker::web {

// Passes everything on; fails every read while `broken`.
class WatchedLedger final : public ledger::Ledger {
 public:
  explicit WatchedLedger(std::unique_ptr<ledger::Ledger> inner) : inner_(std::move(inner)) {}

  std::atomic<bool> broken = false;
  std::atomic<int> box_reads = 0;  // every reading of "now" begins with the boxes

  Status Write(const std::function<Status(ledger::Writer&)>& change) override {
    return inner_->Write(change);
  }
  Result<std::vector<ledger::Box>> Boxes() override {
    ++box_reads;
    return Ask([&] { return inner_->Boxes(); });
  }
  Result<std::vector<ledger::Card>> Cards() override {
    return Ask([&] { return inner_->Cards(); });
  }
  Result<std::vector<ledger::Job>> Jobs(const ledger::JobFilter& filter) override {
    return Ask([&] { return inner_->Jobs(filter); });
  }
  Result<ledger::Job> JobById(int64_t id) override {
    return Ask([&] { return inner_->JobById(id); });
  }
  Result<std::vector<ledger::Attempt>> Attempts(int64_t job) override {
    return Ask([&] { return inner_->Attempts(job); });
  }
  Result<std::vector<std::string>> MetricNames(int64_t job) override {
    return Ask([&] { return inner_->MetricNames(job); });
  }
  Result<std::vector<ledger::MetricPoint>> Metrics(int64_t job, const std::string& name) override {
    return Ask([&] { return inner_->Metrics(job, name); });
  }
  Result<std::vector<ledger::Phase>> Phases(int64_t job) override {
    return Ask([&] { return inner_->Phases(job); });
  }
  Result<std::vector<ledger::Checkpoint>> Checkpoints(std::optional<int64_t> job) override {
    return Ask([&] { return inner_->Checkpoints(job); });
  }
  Result<ledger::Checkpoint> CheckpointById(int64_t id) override {
    return Ask([&] { return inner_->CheckpointById(id); });
  }
  Result<std::vector<ledger::Copy>> Copies(int64_t checkpoint) override {
    return Ask([&] { return inner_->Copies(checkpoint); });
  }
  Result<std::vector<ledger::Event>> Events(const ledger::EventFilter& filter) override {
    return Ask([&] { return inner_->Events(filter); });
  }
  Result<std::vector<ledger::Series>> AllSeries() override {
    return Ask([&] { return inner_->AllSeries(); });
  }
  Result<std::optional<ledger::SeriesId>> FindSeries(ledger::Metric metric,
                                                     const ledger::Subject& subject) override {
    return Ask([&] { return inner_->FindSeries(metric, subject); });
  }
  Result<std::vector<ledger::Sample>> Scan(ledger::SeriesId series, WallTime from,
                                           WallTime to) override {
    return Ask([&] { return inner_->Scan(series, from, to); });
  }
  Result<std::vector<ledger::Bucket>> ScanBuckets(ledger::SeriesId series, WallTime from,
                                                  WallTime to, int points) override {
    return Ask([&] { return inner_->ScanBuckets(series, from, to, points); });
  }
  Result<std::optional<ledger::Sample>> Latest(ledger::SeriesId series) override {
    return Ask([&] { return inner_->Latest(series); });
  }
  Result<std::optional<std::string>> Mark(const std::string& name) override {
    return Ask([&] { return inner_->Mark(name); });
  }
  Status Maintain() override { return inner_->Maintain(); }

 private:
  template <typename Question>
  auto Ask(Question question) -> decltype(question()) {
    if (broken) return Corrupt("a page of the ledger is damaged", "ledger.db", "restore a backup");
    return question();
  }

  std::unique_ptr<ledger::Ledger> inner_;
};

class TestBox {
 public:
  TestBox() : folder_(*TempDir::Make()) {
    auto opened = ledger::Ledger::Open(JoinPath(folder_.path(), "ledger.db"),
                                       ledger::Ledger::Mode::kWriter, clock);
    if (opened) ledger_ = std::make_unique<WatchedLedger>(std::move(*opened));
    filled_ = opened ? ledger_->Write([&](ledger::Writer& w) { return Fill(w); })
                     : Status(opened.error());
  }

  const Status& filled() const { return filled_; }
  WatchedLedger& ledger() { return *ledger_; }

  Status AddEvent(const std::string& text) {
    return ledger_->Write([&](ledger::Writer& writer) -> Status {
      ledger::Event event;
      event.at = clock.Now();
      event.kind = "job.note";
      event.job = 1;
      event.text = text;
      STOKER_TRY(writer.AddEvent(event));
      return Ok();
    });
  }

  FakeClock clock;

 private:
  using Values = std::vector<ledger::TickValue>;

  Status Add(ledger::Writer& writer, Values& values, ledger::Metric metric,
             const ledger::Subject& subject, double value, Absence absence = Absence::kNone) {
    STOKER_ASSIGN(const ledger::SeriesId id, writer.SeriesFor(metric, subject));
    values.push_back({id, value, absence});
    return Ok();
  }

  Status FillCard(ledger::Writer& writer, Values& values, int64_t box, int gpu) {
    using ledger::Metric;
    ledger::Card card;
    card.box = box;
    card.gpu = gpu;
    card.uuid = "GPU-" + std::to_string(gpu);
    card.name = "Test \"card\"";
    card.memory_bytes = 96e9;
    card.simulated = true;
    card.seen_at = clock.Now();
    STOKER_ASSIGN(const int64_t id, writer.PutCard(card));
    const ledger::Subject subject{ledger::Scope::kCard, id, ""};
    STOKER_TRY(Add(writer, values, Metric::kBusyRatio, subject, 0.97));
    STOKER_TRY(Add(writer, values, Metric::kEnergyJ, subject, 123456));
    const bool dumb = gpu == 1;
    return Add(writer, values, Metric::kPowerW, subject, dumb ? 0 : 412.5,
               dumb ? Absence::kTimeout : Absence::kNone);
  }

  Status FillJobs(ledger::Writer& writer) {
    ledger::Job job;
    job.id = 1;
    job.name = "dishes <b>";
    job.state = ledger::JobState::kRunning;
    job.command = {"python", "train.py"};
    job.gpus = {0};
    job.cards = {1};
    job.created_at = clock.Now() - Millis(60'000);
    job.started_at = job.created_at;
    job.last_epoch = 2;
    job.epochs_planned = 10;
    job.best = ledger::Best{"val/accuracy", 0.5, true, 2.0, clock.Now()};
    STOKER_TRY(writer.PutJob(job));
    STOKER_TRY(writer.AddMetrics(1, {{"val/accuracy", 0.4, 1.0, 10, clock.Now()},
                                     {"val/accuracy", 0.5, 2.0, 20, clock.Now()}}));
    ledger::Job done = job;
    done.id = 2;
    done.name = "older";
    done.state = ledger::JobState::kFailed;
    done.started_at = clock.Now() - Millis(7'200'000);
    done.ended_at = clock.Now() - Millis(3'600'000);
    done.exit_code = 1;
    STOKER_TRY(writer.PutJob(done));
    ledger::Checkpoint checkpoint;
    checkpoint.job = 1;
    checkpoint.path = "/runs/best.safetensors";
    checkpoint.role = ledger::CheckpointRole::kBest;
    checkpoint.bytes = 1000;
    checkpoint.seen_at = clock.Now();
    STOKER_TRY(writer.PutCheckpoint(checkpoint));
    ledger::Event event;
    event.at = clock.Now();
    event.kind = "job.started";
    event.job = 1;
    event.text = "dishes started";
    STOKER_TRY(writer.AddEvent(event));
    return Ok();
  }

  Status Fill(ledger::Writer& writer) {
    ledger::Box box;
    box.hostname = "stokehold";
    box.boot_id = "b";
    box.facts_json = R"({"cores":4,"memory_bytes":16000000000})";
    box.seen_at = clock.Now();
    STOKER_ASSIGN(const int64_t id, writer.PutBox(box));
    Values values;
    for (int gpu = 0; gpu < 2; ++gpu) STOKER_TRY(FillCard(writer, values, id, gpu));
    STOKER_TRY(Add(writer, values, ledger::Metric::kCpuBusyRatio, {}, 0.25));
    for (int core = 0; core < 4; ++core) {
      STOKER_TRY(Add(writer, values, ledger::Metric::kCoreBusyRatio,
                     {ledger::Scope::kCore, core, ""}, 0.1 * core));
    }
    STOKER_TRY(writer.AddTick(clock.Now(), values));
    return FillJobs(writer);
  }

  TempDir folder_;
  std::unique_ptr<WatchedLedger> ledger_;
  Status filled_;
};

}  // namespace stoker::web
