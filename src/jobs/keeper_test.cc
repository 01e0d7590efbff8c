#include "jobs/keeper.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/durable_file.h"
#include "base/json.h"
#include "jobs/process_tree.h"
#include "jobs/test_job.h"

namespace stoker::jobs {
namespace {

using ledger::JobState;
using ledger::Ledger;

// A ledger whose writes can be made to fail after they did all their work, as a kill would.
class Breakable final : public Ledger {
 public:
  explicit Breakable(Ledger& real) : real_(real) {}
  bool broken = false;

  Status Write(const std::function<Status(ledger::Writer&)>& change) override {
    return real_.Write([&](ledger::Writer& writer) -> Status {
      STOKER_TRY(change(writer));
      return broken ? Status(Unavailable("the disk is full", "ledger")) : Ok();
    });
  }
  Result<std::vector<ledger::Box>> Boxes() override { return real_.Boxes(); }
  Result<std::vector<ledger::Card>> Cards() override { return real_.Cards(); }
  Result<std::vector<ledger::Job>> Jobs(const ledger::JobFilter& f) override {
    return real_.Jobs(f);
  }
  Result<ledger::Job> JobById(int64_t id) override { return real_.JobById(id); }
  Result<std::vector<ledger::Attempt>> Attempts(int64_t job) override {
    return real_.Attempts(job);
  }
  Result<std::vector<std::string>> MetricNames(int64_t job) override {
    return real_.MetricNames(job);
  }
  Result<std::vector<ledger::MetricPoint>> Metrics(int64_t job, const std::string& n) override {
    return real_.Metrics(job, n);
  }
  Result<std::vector<ledger::Phase>> Phases(int64_t job) override { return real_.Phases(job); }
  Result<std::vector<ledger::Checkpoint>> Checkpoints(std::optional<int64_t> job) override {
    return real_.Checkpoints(job);
  }
  Result<ledger::Checkpoint> CheckpointById(int64_t id) override {
    return real_.CheckpointById(id);
  }
  Result<std::vector<ledger::Copy>> Copies(int64_t id) override { return real_.Copies(id); }
  Result<std::vector<ledger::Event>> Events(const ledger::EventFilter& f) override {
    return real_.Events(f);
  }
  Result<std::vector<ledger::Series>> AllSeries() override { return real_.AllSeries(); }
  Result<std::optional<ledger::SeriesId>> FindSeries(ledger::Metric m,
                                                     const ledger::Subject& s) override {
    return real_.FindSeries(m, s);
  }
  Result<std::vector<ledger::Sample>> Scan(ledger::SeriesId s, WallTime a, WallTime b) override {
    return real_.Scan(s, a, b);
  }
  Result<std::vector<ledger::Bucket>> ScanBuckets(ledger::SeriesId s, WallTime a, WallTime b,
                                                  int n) override {
    return real_.ScanBuckets(s, a, b, n);
  }
  Result<std::optional<ledger::Sample>> Latest(ledger::SeriesId s) override {
    return real_.Latest(s);
  }
  Result<std::optional<std::string>> Mark(const std::string& n) override { return real_.Mark(n); }
  Status Maintain() override { return real_.Maintain(); }

 private:
  Ledger& real_;
};

class KeeperTest : public JobTest {
 protected:
  void SetUp() override {
    JobTest::SetUp();
    if (IsSkipped()) return;
    ASSERT_TRUE(MakeDirs(home_.root()));
    auto ledger = Ledger::Open(home_.ledger(), Ledger::Mode::kWriter, clock_);
    ASSERT_TRUE(ledger) << ledger.error().Line();
    ledger_ = std::move(*ledger);
    books_ = std::make_unique<Breakable>(*ledger_);
    Restart();
  }
  void Restart() { keeper_ = std::make_unique<Keeper>(home_, *books_, log_, clock_); }
  void Tick() {
    const Status status = keeper_->Tick();
    ASSERT_TRUE(status) << status.error().Line();
  }
  ledger::Job Job(const Launched& job) {
    const auto found = ledger_->JobById(job.id);
    EXPECT_TRUE(found) << found.error().Line();
    return found.value_or(ledger::Job{});
  }
  std::string EventKinds(const Launched& job) {
    std::string kinds;
    ledger::EventFilter filter;
    filter.job = job.id;
    const auto events = ledger_->Events(filter);
    EXPECT_TRUE(events);
    for (const ledger::Event& event : *events) kinds += event.kind + " ";
    return kinds;
  }
  static void Log(const Launched& job, const std::string& text) {
    const auto fd = OpenFile(job.folder + "/run.jsonl", O_WRONLY | O_APPEND | O_CREAT);
    ASSERT_TRUE(fd);
    ASSERT_TRUE(WriteAll(*fd, text, ""));
  }

  MemoryLogger log_;
  std::unique_ptr<Ledger> ledger_;
  std::unique_ptr<Breakable> books_;
  std::unique_ptr<Keeper> keeper_;
};

TEST_F(KeeperTest, AJobIsRunningThenEndedWithOneRecordHoweverOftenItLooks) {
  const Launched job = Start("echo ready; while [ ! -e go ]; do sleep 0.05; done; exit 3");
  WaitForOutput(job, "ready");
  Tick();
  Tick();
  EXPECT_EQ(Job(job).state, JobState::kRunning);
  EXPECT_EQ(Job(job).command, (std::vector<std::string>{"sh", "-c", Job(job).command[2]}));
  EXPECT_EQ(EventKinds(job), "job.started ");
  ASSERT_TRUE(WriteDurably(dir_.path() + "/go", "x"));
  End(job);
  Tick();
  Tick();
  Restart();
  Tick();
  const ledger::Job ended = Job(job);
  EXPECT_EQ(ended.state, JobState::kFailed);
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_TRUE(ended.started_at && ended.ended_at && *ended.ended_at > *ended.started_at);
  EXPECT_EQ(ended.folder, job.folder);
  EXPECT_EQ(ended.environment_json.find("hf_abc"), std::string::npos);
  EXPECT_EQ(EventKinds(job), "job.started job.ended ");
  EXPECT_EQ(ledger_->Attempts(job.id)->size(), 1u);
  EXPECT_EQ(ledger_->Jobs({})->size(), 1u);
  const auto events = ledger_->Events({});
  EXPECT_EQ(events->back().severity, ledger::Severity::kWarning);
}

TEST_F(KeeperTest, AWriteThatFailsIsRepeatedWhole) {
  const Launched job =
      Start(R"(echo '{"kind":"epoch","epoch":1,"metrics":{"val/acc":0.5}}' >> $STOKER_RUN_LOG)");
  End(job);
  for (int i = 0; i < 3; ++i) {
    books_->broken = true;
    EXPECT_FALSE(keeper_->Tick());
    if (i == 1) Restart();
    EXPECT_EQ(EventKinds(job), "");
  }
  books_->broken = false;
  Tick();
  Tick();
  EXPECT_EQ(EventKinds(job), "job.started job.ended ");
  EXPECT_EQ(ledger_->Metrics(job.id, "val/acc")->size(), 1u);
  EXPECT_EQ(Job(job).state, JobState::kSucceeded);
}

TEST_F(KeeperTest, TheRunLogBecomesMetricsPhasesEventsAndTheBest) {
  const Launched job = Start("exec sleep 1000");
  Log(job,
      "{\"kind\":\"plan\",\"epochs\":3,\"unit\":\"photo\"}\n"
      "{\"kind\":\"phase\",\"phase\":\"train\",\"edge\":\"begin\"}\n"
      "{\"kind\":\"epoch\",\"epoch\":1,\"metrics\":{\"val/loss\":2,\"train/loss\":3}}\n"
      "{\"kind\":\"epoch\",\"epoch\":2,\"metrics\":{\"val/loss\":1}}\n");
  Tick();
  ASSERT_TRUE(Job(job).best);
  EXPECT_EQ(Job(job).best->metric, "val/loss");
  EXPECT_EQ(Job(job).best->epoch, 2);
  Restart();
  // A better judge appears, and then goes down again.
  Log(job,
      "{\"kind\":\"epoch\",\"epoch\":3,\"metrics\":{\"val/accuracy\":0.7,\"val/loss\":NaN}}\n"
      "{\"kind\":\"epoch\",\"epoch\":4,\"metrics\":{\"val/accuracy\":0.6}}\n"
      "{\"kind\":\"phase\",\"phase\":\"train\",\"edge\":\"end\"}\n"
      "{\"kind\":\"phase\",\"phase\":\"validate\"}\n"
      "{\"kind\":\"throughput\",\"unit\":\"photo\",\"per_s\":900.5}\n"
      "{\"kind\":\"wait\",\"wait_s\":{\"input\":1.5}}\n"
      "{\"kind\":\"checkpoint\",\"path\":\"out/best.pt\",\"role\":\"best\",\"epoch\":3}\n"
      "{\"kind\":\"note\",\"text\":\"hello\"}\n{\"kind\":\"tomorrow\"}\n");
  Tick();
  const ledger::Job now = Job(job);
  EXPECT_EQ(now.best->metric, "val/accuracy");
  EXPECT_EQ(now.best->value, 0.7);
  EXPECT_EQ(now.last_epoch, 4);
  EXPECT_EQ(now.epochs_planned, 3);
  EXPECT_NE(now.plan_json.find("photo"), std::string::npos);
  EXPECT_EQ(ledger_->Metrics(job.id, "throughput/photo_per_s")->at(0).value, 900.5);
  EXPECT_EQ(ledger_->Metrics(job.id, "wait/input_s")->at(0).value, 1.5);
  EXPECT_TRUE(std::isnan(ledger_->Metrics(job.id, "val/loss")->back().value));
  ASSERT_EQ(ledger_->Phases(job.id)->size(), 2u);
  EXPECT_TRUE(ledger_->Phases(job.id)->at(0).ended_at);
  EXPECT_EQ(EventKinds(job), "job.started checkpoint.written job.note ");
  const auto events = ledger_->Events({.kind_prefix = "checkpoint."});
  const auto data = ParseJson(events->at(0).data_json);
  EXPECT_EQ(JsonString(*data, "path"), dir_.path() + "/out/best.pt");
  EXPECT_EQ(JsonString(*data, "role"), "best");
  EXPECT_EQ(JsonNumber(*data, "epoch"), 3);
  ASSERT_TRUE(Stop(job.folder, Millis(0), "ann", clock_));
  End(job);
  Tick();
  EXPECT_TRUE(ledger_->Phases(job.id)->at(1).ended_at) << "nothing goes on after the end";
}

TEST_F(KeeperTest, ThePlanNamesTheJudgeAlsoAfterARestart) {
  const Launched job = Start("exec sleep 1000");
  Log(job,
      "{\"kind\":\"plan\",\"best\":{\"metric\":\"my/score\",\"mode\":\"min\"}}\n"
      "{\"kind\":\"epoch\",\"epoch\":1,\"metrics\":{\"val/accuracy\":0.9,\"my/score\":5}}\n");
  Tick();
  EXPECT_EQ(Job(job).best->metric, "my/score");
  Restart();
  Log(job, "{\"kind\":\"epoch\",\"epoch\":2,\"metrics\":{\"val/accuracy\":0.95,\"my/score\":4}}\n");
  Tick();
  EXPECT_EQ(Job(job).best->value, 4);
}

TEST_F(KeeperTest, BadLinesAreToldOnceAndCounted) {
  const Launched job = Start("exec sleep 1000");
  Log(job, "nonsense\n{\"kind\":\"epoch\",\"epoch\":1}\nmore\n{}\n");
  Tick();
  Log(job, "still\n");
  Restart();
  Tick();
  EXPECT_EQ(EventKinds(job), "job.started job.runlog_damaged ");
  EXPECT_EQ(Job(job).last_epoch, 1);
  ASSERT_TRUE(Stop(job.folder, Millis(0), "ann", clock_));
  End(job);
  Tick();
  const auto events = ledger_->Events({.kind_prefix = "job.ended"});
  EXPECT_EQ(JsonInt(*ParseJson(events->at(0).data_json), "bad_lines"), 4);
}

TEST_F(KeeperTest, TheTornLastLineCountsOnceTheJobHasEnded) {
  const Launched job =
      Start(R"(printf '{"kind":"epoch","epoch":7,"metrics":{"val/acc":0.5}}' >> $STOKER_RUN_LOG)");
  End(job);
  Tick();
  EXPECT_EQ(Job(job).last_epoch, 7);
}

TEST_F(KeeperTest, AFloodOfStepsIsBoundedAndKeepsItsBestAndLast) {
  const Launched job = Start("exec sleep 1000");
  std::string text;
  for (int i = 1; i <= 50000; ++i) {
    text += "{\"kind\":\"step\",\"step\":" + std::to_string(i) +
            ",\"metrics\":{\"val/acc\":" + (i == 777 ? "0.9" : "0.1") + "}}\n";
  }
  Log(job, text);
  Tick();
  Tick();
  const auto points = ledger_->Metrics(job.id, "val/acc");
  EXPECT_LT(points->size(), 2000u);
  EXPECT_GE(points->size(), 200u);
  EXPECT_EQ(points->back().step, 50000);
  EXPECT_EQ(Job(job).best->value, 0.9);
  EXPECT_EQ(EventKinds(job), "job.started job.metrics_thinned ");
}

TEST_F(KeeperTest, AKilledSupervisorMakesTheJobLost) {
  const Launched job = Start("echo ready; exec sleep 1000");
  WaitForOutput(job, "ready");
  Tick();
  ASSERT_TRUE(SignalProcess(*OpenProcess(*ReadShim(job.folder)), SIGKILL));
  const JobEnd end = End(job);
  Tick();
  const ledger::Job lost = Job(job);
  EXPECT_EQ(lost.state, JobState::kLost);
  EXPECT_EQ(lost.reason, end.reason);
  EXPECT_NE(lost.reason.find("still runs"), std::string::npos);
  EXPECT_EQ(EventKinds(job), "job.started job.ended ");
}

TEST_F(KeeperTest, ARemovedFolderIsALostJob) {
  const Launched job = Start("true");
  Start("true");
  End(job);
  books_->broken = true;
  EXPECT_FALSE(keeper_->Tick());
  books_->broken = false;
  const Launched other = Start("exec sleep 1000");
  Tick();
  ASSERT_TRUE(Stop(other.folder, Millis(0), "ann", clock_));
  End(other);
  WaitForShim(other);
  ASSERT_TRUE(RemoveTree(other.folder));
  Tick();
  EXPECT_EQ(Job(other).state, JobState::kLost);
  EXPECT_EQ(Job(job).state, JobState::kSucceeded);
}

TEST_F(KeeperTest, OldFoldersAreTakenUpOnceAndANewLedgerFindsThemAll) {
  for (int i = 0; i < 3; ++i) End(Start("true"));
  ASSERT_TRUE(MakeDirs(home_.jobs() + "/not-a-job"));
  ASSERT_TRUE(MakeDirs(home_.jobs() + "/999"));  // a launch that was killed at once
  Tick();
  EXPECT_EQ(ledger_->Jobs({})->size(), 3u);
  EXPECT_EQ(ledger_->Jobs({.states = {JobState::kSucceeded}})->size(), 3u);
  Restart();
  Tick();
  ledger::EventFilter all;
  EXPECT_EQ(ledger_->Events(all)->size(), 6u);
}

TEST_F(KeeperTest, TheJobKnowsItsCardsOnceTheCollectorDoes) {
  LaunchRequest request = Shell("exec sleep 1000");
  request.gpus = {1};
  const Launched job = Start(request);
  Tick();
  EXPECT_TRUE(Job(job).cards.empty());
  int64_t card = 0;
  ASSERT_TRUE(ledger_->Write([&](ledger::Writer& writer) -> Status {
    ledger::Box box;
    box.hostname = HostName();
    STOKER_ASSIGN(const int64_t box_id, writer.PutBox(box));
    for (const int gpu : {0, 1}) {
      ledger::Card c;
      c.box = box_id;
      c.gpu = gpu;
      c.uuid = "GPU-" + std::to_string(gpu);
      STOKER_ASSIGN(card, writer.PutCard(c));
    }
    return Ok();
  }));
  Tick();
  EXPECT_EQ(Job(job).cards, std::vector<int64_t>{card});
}

}  // namespace
}  // namespace stoker::jobs
