#include "ledger/ledger.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "base/file.h"
#include "base/thread.h"
#include "ledger/open.h"

namespace stoker::ledger {
namespace {

class LedgerTest : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = TempDir::Make().value();
    path_ = dir_->path() + "/ledger.db";
  }
  std::unique_ptr<Ledger> Open(Ledger::Mode mode = Ledger::Mode::kWriter) {
    auto ledger = Ledger::Open(path_, mode, clock_);
    EXPECT_TRUE(ledger) << ledger.error().Line();
    return ledger ? std::move(*ledger) : nullptr;
  }
  static void Do(Ledger& ledger, const std::function<Status(Writer&)>& change) {
    const Status done = ledger.Write(change);
    ASSERT_TRUE(done) << done.error().Line();
  }
  static Job SomeJob(int64_t id, JobState state = JobState::kRunning) {
    Job job;
    job.id = id;
    job.name = "night-" + std::to_string(id);
    job.state = state;
    job.created_at = WallTime{1000 * id};
    return job;
  }

  FakeClock clock_;
  std::optional<TempDir> dir_;
  std::string path_;
};

TEST_F(LedgerTest, AJobComesBackAsItWasPut) {
  Job job = SomeJob(7);
  job.origin = JobOrigin::kImported;
  job.command = {"python", "train.py", "--name=a b", "ünï\"code\\"};
  job.cwd = "/data/run";
  job.user = "ada";
  job.gpus = {0, 3};
  job.cards = {11, 14};
  job.started_at = WallTime{2000};
  job.ended_at = WallTime{3000};
  job.exit_code = 3;
  job.signal = 9;
  job.reason = "stopped by root";
  job.run_log = "/j/7/run.jsonl";
  job.folder = "/j/7";
  job.environment_json = "{\"A\":\"1\"}";
  job.git_json = "{\"commit\":\"c0ffee\"}";
  job.plan_json = "{\"epochs\":600}";
  job.best = Best{"val/map50_95", 0.41, true, 41.0, WallTime{2500}};
  job.gpu_energy_j = 1.5e8;
  job.last_epoch = 90;
  job.epochs_planned = 600;
  auto ledger = Open();
  Do(*ledger, [&](Writer& w) { return w.PutJob(job); });

  const Job back = ledger->JobById(7).value();
  EXPECT_EQ(back.name, job.name);
  EXPECT_EQ(back.state, job.state);
  EXPECT_EQ(back.origin, job.origin);
  EXPECT_EQ(back.command, job.command);
  EXPECT_EQ(back.cwd, job.cwd);
  EXPECT_EQ(back.user, job.user);
  EXPECT_EQ(back.gpus, job.gpus);
  EXPECT_EQ(back.cards, job.cards);
  EXPECT_EQ(back.created_at, job.created_at);
  EXPECT_EQ(back.started_at, job.started_at);
  EXPECT_EQ(back.ended_at, job.ended_at);
  EXPECT_EQ(back.exit_code, 3);
  EXPECT_EQ(back.signal, 9);
  EXPECT_EQ(back.reason, job.reason);
  EXPECT_EQ(back.run_log, job.run_log);
  EXPECT_EQ(back.folder, job.folder);
  EXPECT_EQ(back.environment_json, job.environment_json);
  EXPECT_EQ(back.git_json, job.git_json);
  EXPECT_EQ(back.plan_json, job.plan_json);
  ASSERT_TRUE(back.best);
  EXPECT_EQ(back.best->metric, "val/map50_95");
  EXPECT_EQ(back.best->value, 0.41);
  EXPECT_EQ(back.best->epoch, 41.0);
  EXPECT_EQ(back.best->at, WallTime{2500});
  EXPECT_EQ(back.gpu_energy_j, 1.5e8);
  EXPECT_EQ(back.last_epoch, 90);
  EXPECT_EQ(back.epochs_planned, 600);
  EXPECT_EQ(back.checkpoints_seen, 0);

  for (const CheckpointState state :
       {CheckpointState::kSafe, CheckpointState::kSuperseded, CheckpointState::kWhole}) {
    Checkpoint checkpoint;
    checkpoint.job = 7;
    checkpoint.path = "/j/7/last.pt";
    checkpoint.state = state;
    Do(*ledger, [&](Writer& w) -> Status {
      const auto id = w.PutCheckpoint(checkpoint);
      return id ? Ok() : Status(id.error());
    });
  }
  EXPECT_EQ(ledger->JobById(7)->checkpoints_seen, 2);
  EXPECT_EQ(ledger->JobById(7)->checkpoints_safe, 1);

  JobFilter brief;
  brief.brief = true;
  EXPECT_EQ(ledger->Jobs(brief).value()[0].environment_json, "");
  EXPECT_EQ(ledger->Jobs(brief).value()[0].command, job.command);

  job.state = JobState::kStopped;
  job.best.reset();
  job.exit_code.reset();
  Do(*ledger, [&](Writer& w) { return w.PutJob(job); });
  EXPECT_EQ(ledger->JobById(7)->state, JobState::kStopped);
  EXPECT_FALSE(ledger->JobById(7)->best);
  EXPECT_FALSE(ledger->JobById(7)->exit_code);
  EXPECT_EQ(ledger->JobById(8).error().code, Code::kNotFound);
}

TEST_F(LedgerTest, JobsAreFiltered) {
  auto ledger = Open();
  Do(*ledger, [&](Writer& w) -> Status {
    for (int id = 1; id <= 5; ++id) {
      Job job = SomeJob(id, id <= 3 ? JobState::kSucceeded : JobState::kRunning);
      if (id <= 3) job.ended_at = WallTime{10'000 * id};
      STOKER_TRY(w.PutJob(job));
    }
    return Ok();
  });
  const auto ids = [&](const JobFilter& filter) {
    std::vector<int64_t> out;
    const auto jobs = ledger->Jobs(filter);
    for (const Job& job : *jobs) out.push_back(job.id);
    return out;
  };
  using Ids = std::vector<int64_t>;
  JobFilter filter;
  EXPECT_EQ(ids(filter), (Ids{5, 4, 3, 2, 1}));
  filter.limit = 2;
  EXPECT_EQ(ids(filter), (Ids{5, 4}));
  filter = {};
  filter.ids = {2, 4, 99};
  EXPECT_EQ(ids(filter), (Ids{4, 2}));
  filter = {};
  filter.states = {JobState::kSucceeded};
  EXPECT_EQ(ids(filter), (Ids{3, 2, 1}));
  filter.since = WallTime{20'000};
  EXPECT_EQ(ids(filter), (Ids{3}));
  filter.states.clear();
  EXPECT_EQ(ids(filter), (Ids{5, 4, 3}));
}

TEST_F(LedgerTest, OtherRecordsComeBack) {
  auto ledger = Open();
  int64_t box = 0, card = 0, checkpoint = 0;
  Do(*ledger, [&](Writer& w) -> Status {
    STOKER_ASSIGN(box, w.PutBox(Box{0, "vast", "boot-1", "{}", WallTime{5}}));
    Card c;
    c.box = box;
    c.gpu = 3;
    c.uuid = "GPU-3";
    c.name = "a card";
    c.memory_bytes = 96e9;
    c.simulated = true;
    STOKER_ASSIGN(card, w.PutCard(c));
    Attempt attempt;
    attempt.job = 1;
    attempt.pid = 4242;
    attempt.boot_id = "boot-1";
    attempt.signal = 15;
    STOKER_TRY(w.PutAttempt(attempt));
    STOKER_TRY(w.PutPhase(Phase{1, "train", WallTime{10}, std::nullopt}));
    STOKER_TRY(w.PutPhase(Phase{1, "train", WallTime{10}, WallTime{20}}));
    Checkpoint k;
    k.job = 1;
    k.path = "/data/run/best.pt";
    k.role = CheckpointRole::kBest;
    k.epoch = 41;
    k.bytes = 123;
    k.state = CheckpointState::kWhole;
    STOKER_ASSIGN(checkpoint, w.PutCheckpoint(k));
    k.id = checkpoint;
    k.state = CheckpointState::kSafe;
    k.metric = Best{"val/accuracy", 0.75, true, 41.0, {}};
    STOKER_TRY(w.PutCheckpoint(k));
    STOKER_TRY(w.PutCopy(Copy{checkpoint, "shelf", "runs/1/best.pt", WallTime{99}}));
    return w.SetMark("run-log/1", "4096");
  });
  EXPECT_EQ(ledger->Boxes()->at(0).hostname, "vast");
  const Card back = ledger->Cards()->at(0);
  EXPECT_EQ(back.id, card);
  EXPECT_EQ(back.gpu, 3);
  EXPECT_TRUE(back.simulated);
  EXPECT_EQ(back.memory_bytes, 96e9);
  EXPECT_FALSE(back.limit_default_w);
  EXPECT_EQ(ledger->Attempts(1)->at(0).signal, 15);
  ASSERT_EQ(ledger->Phases(1)->size(), 1u);
  EXPECT_EQ(ledger->Phases(1)->at(0).ended_at, WallTime{20});
  ASSERT_EQ(ledger->Checkpoints(1)->size(), 1u);
  EXPECT_EQ(ledger->Checkpoints(std::nullopt)->size(), 1u);
  EXPECT_EQ(ledger->Checkpoints(2)->size(), 0u);
  EXPECT_EQ(ledger->CheckpointById(checkpoint)->state, CheckpointState::kSafe);
  EXPECT_EQ(ledger->CheckpointById(checkpoint)->metric->value, 0.75);
  EXPECT_EQ(ledger->CheckpointById(77).error().code, Code::kNotFound);
  EXPECT_EQ(ledger->Copies(checkpoint)->at(0).key, "runs/1/best.pt");
  EXPECT_EQ(ledger->Mark("run-log/1").value(), "4096");
  EXPECT_FALSE(ledger->Mark("nothing").value());

  Do(*ledger, [&](Writer& w) -> Status {
    STOKER_ASSIGN(const int64_t again, w.PutBox(Box{0, "vast", "boot-2", "{}", WallTime{6}}));
    EXPECT_EQ(again, box);
    return Ok();
  });
  EXPECT_EQ(ledger->Boxes()->size(), 1u);
  EXPECT_EQ(ledger->Boxes()->at(0).boot_id, "boot-2");
}

TEST_F(LedgerTest, MetricsKeepWhatTheRunSaid) {
  auto ledger = Open();
  Do(*ledger, [&](Writer& w) -> Status {
    STOKER_TRY(w.AddMetrics(1, {{"val/loss", 2.5, 1.0, 10, WallTime{10}},
                                {"val/loss", std::nan(""), 2.0, {}, WallTime{20}},
                                {"lr", INFINITY, {}, 20, WallTime{15}}}));
    return w.AddMetrics(1, {{"val/loss", 1.5, 3.0, 30, WallTime{20}}});
  });
  EXPECT_EQ(ledger->MetricNames(1).value(), (std::vector<std::string>{"lr", "val/loss"}));
  const auto loss = ledger->Metrics(1, "val/loss").value();
  ASSERT_EQ(loss.size(), 3u);
  EXPECT_EQ(loss[0].value, 2.5);
  EXPECT_EQ(loss[0].step, 10);
  EXPECT_TRUE(std::isnan(loss[1].value));
  EXPECT_FALSE(loss[1].step);
  EXPECT_EQ(loss[2].value, 1.5);
  const auto all = ledger->Metrics(1, "").value();
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[1].name, "lr");
  EXPECT_TRUE(std::isinf(all[1].value));
  EXPECT_TRUE(ledger->Metrics(2, "")->empty());
}

TEST_F(LedgerTest, EventsAreFilteredAndEndWithTheNewest) {
  auto ledger = Open();
  std::vector<int64_t> ids;
  Do(*ledger, [&](Writer& w) -> Status {
    for (int i = 0; i < 6; ++i) {
      Event event;
      event.at = WallTime{1000 * i};
      event.kind = i % 2 == 0 ? "checkpoint.safe" : "gpu.lost";
      if (i == 4) event.job = 9;
      event.severity = Severity::kFault;
      event.text = "event " + std::to_string(i);
      event.data_json = "{}";
      STOKER_ASSIGN(const int64_t id, w.AddEvent(event));
      ids.push_back(id);
    }
    return Ok();
  });
  const auto texts = [&](const EventFilter& filter) {
    std::string out;
    const auto events = ledger->Events(filter);
    for (const Event& event : *events) out += event.text.back();
    return out;
  };
  EventFilter filter;
  EXPECT_EQ(texts(filter), "012345");
  filter.limit = 2;
  EXPECT_EQ(texts(filter), "45");
  filter = {};
  filter.kind_prefix = "checkpoint.";
  EXPECT_EQ(texts(filter), "024");
  filter.since = WallTime{2000};
  EXPECT_EQ(texts(filter), "24");
  filter = {};
  filter.after_id = ids[3];
  EXPECT_EQ(texts(filter), "45");
  filter.job = 9;
  EXPECT_EQ(texts(filter), "4");
  filter.after_id.reset();
  EXPECT_EQ(texts(filter), "4");
}

TEST_F(LedgerTest, AFailedChangeLeavesNothing) {
  auto ledger = Open();
  SeriesId lost = 0;
  const Status failed = ledger->Write([&](Writer& w) -> Status {
    STOKER_TRY(w.PutJob(SomeJob(1)));
    STOKER_ASSIGN(lost, w.SeriesFor(Metric::kPowerW, {Scope::kCard, 1, ""}));
    STOKER_TRY(w.AddTick(WallTime{5}, {{lost, 100}}));
    return Invalid("no");
  });
  EXPECT_EQ(failed.error().code, Code::kInvalid);
  EXPECT_TRUE(ledger->Jobs({})->empty());
  EXPECT_TRUE(ledger->AllSeries()->empty());
  EXPECT_EQ(ledger->Scan(lost, WallTime{0}, WallTime{10}).error().code, Code::kNotFound);
  EXPECT_FALSE(ledger->Write([&](Writer& w) { return w.AddTick(WallTime{6}, {{lost, 1}}); }));
  EXPECT_EQ(ledger->Write([&](Writer& w) { return w.PutJob(Job{}); }).error().code, Code::kInvalid);
}

TEST_F(LedgerTest, OneWriterManyReaders) {
  EXPECT_EQ(Ledger::Open(path_, Ledger::Mode::kReader, clock_).error().code, Code::kNotFound);
  auto writer = Open();
  const auto second = Ledger::Open(path_, Ledger::Mode::kWriter, clock_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kUnavailable);
  EXPECT_NE(second.error().Line().find("another Stoker"), std::string::npos);

  auto reader = Open(Ledger::Mode::kReader);
  EXPECT_EQ(reader->Write([](Writer& w) { return w.SetMark("a", "b"); }).error().code,
            Code::kDenied);
  EXPECT_FALSE(reader->Maintain());
  Status seen = Ok();
  Do(*writer, [&](Writer& w) -> Status {
    STOKER_TRY(w.PutJob(SomeJob(1)));
    EXPECT_TRUE(reader->Jobs({})->empty());  // not yet committed
    return Ok();
  });
  EXPECT_EQ(reader->Jobs({})->size(), 1u);
  writer.reset();
  EXPECT_EQ(reader->Jobs({})->size(), 1u);
  EXPECT_EQ(Open()->Jobs({})->size(), 1u);  // the lock went with its owner
}

TEST_F(LedgerTest, ThreadsMayShareOneLedger) {
  auto ledger = Open();
  SeriesId power = 0;
  Do(*ledger, [&](Writer& w) -> Status {
    STOKER_ASSIGN(power, w.SeriesFor(Metric::kPowerW, {Scope::kCard, 1, ""}));
    return Ok();
  });
  std::atomic<int> written = 0;
  {
    const NamedThread writer("writer", [&](StopSignal&) {
      for (int i = 0; i < 200; ++i) {
        EXPECT_TRUE(ledger->Write([&](Writer& w) -> Status {
          STOKER_TRY(w.PutJob(SomeJob(i + 1)));
          return w.AddTick(WallTime{1000 * i}, {{power, 1.0 * i}});
        }));
        ++written;
      }
    });
    const NamedThread keeper("keeper", [&](StopSignal&) {
      while (written < 200) EXPECT_TRUE(ledger->Maintain());
    });
    while (written < 200) {
      const int before = written;
      EXPECT_GE(static_cast<int>(ledger->Jobs({})->size()), before);
      EXPECT_GE(static_cast<int>(ledger->Scan(power, WallTime{0}, WallTime{1'000'000})->size()),
                before);
    }
  }
  EXPECT_EQ(ledger->Latest(power).value()->value, 199);
}

}  // namespace
}  // namespace stoker::ledger
