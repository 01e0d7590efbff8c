// SIGKILL between any two steps, played by a ledger that from its Nth write on keeps nothing more,
// or keeps it and then is gone. What a new vault makes of it must be the same as without the kill.
#include <gtest/gtest.h>

#include <string>

#include "vault/fixture.h"

namespace stoker::vault {
namespace {

using handmade::LegacyTorch;
using handmade::SimpleSafetensors;
using handmade::TorchZip;
using ledger::JobState;

class DyingLedger final : public ledger::Ledger {
 public:
  DyingLedger(ledger::Ledger& inner, int lives, bool keeps_last)
      : inner_(inner), lives_(lives), keeps_last_(keeps_last) {}
  bool dead() const { return lives_ <= 0; }

  Status Write(const std::function<Status(ledger::Writer&)>& change) override {
    if (dead()) return Gone();
    if (--lives_ > 0) return inner_.Write(change);
    if (keeps_last_) STOKER_TRY(inner_.Write(change));
    return Gone();
  }
  Result<std::vector<ledger::Box>> Boxes() override { return inner_.Boxes(); }
  Result<std::vector<ledger::Card>> Cards() override { return inner_.Cards(); }
  Result<std::vector<ledger::Job>> Jobs(const ledger::JobFilter& f) override {
    return inner_.Jobs(f);
  }
  Result<ledger::Job> JobById(int64_t id) override { return inner_.JobById(id); }
  Result<std::vector<ledger::Attempt>> Attempts(int64_t job) override {
    return inner_.Attempts(job);
  }
  Result<std::vector<std::string>> MetricNames(int64_t job) override {
    return inner_.MetricNames(job);
  }
  Result<std::vector<ledger::MetricPoint>> Metrics(int64_t job, const std::string& name) override {
    return inner_.Metrics(job, name);
  }
  Result<std::vector<ledger::Phase>> Phases(int64_t job) override { return inner_.Phases(job); }
  Result<std::vector<ledger::Checkpoint>> Checkpoints(std::optional<int64_t> job) override {
    return inner_.Checkpoints(job);
  }
  Result<ledger::Checkpoint> CheckpointById(int64_t id) override {
    return inner_.CheckpointById(id);
  }
  Result<std::vector<ledger::Copy>> Copies(int64_t checkpoint) override {
    return inner_.Copies(checkpoint);
  }
  Result<std::vector<ledger::Event>> Events(const ledger::EventFilter& f) override {
    return inner_.Events(f);
  }
  Result<std::vector<ledger::Series>> AllSeries() override { return inner_.AllSeries(); }
  Result<std::optional<ledger::SeriesId>> FindSeries(ledger::Metric metric,
                                                     const ledger::Subject& subject) override {
    return inner_.FindSeries(metric, subject);
  }
  Result<std::vector<ledger::Sample>> Scan(ledger::SeriesId series, WallTime from,
                                           WallTime to) override {
    return inner_.Scan(series, from, to);
  }
  Result<std::vector<ledger::Bucket>> ScanBuckets(ledger::SeriesId series, WallTime from,
                                                  WallTime to, int points) override {
    return inner_.ScanBuckets(series, from, to, points);
  }
  Result<std::optional<ledger::Sample>> Latest(ledger::SeriesId series) override {
    return inner_.Latest(series);
  }
  Result<std::optional<std::string>> Mark(const std::string& name) override {
    return inner_.Mark(name);
  }
  Status Maintain() override { return inner_.Maintain(); }

 private:
  static Error Gone() { return Unavailable("killed", "ledger"); }
  ledger::Ledger& inner_;
  int lives_;
  const bool keeps_last_;
};

class RestartTest : public VaultFixture {
 protected:
  // A night in short; true where the ledger died before its end.
  bool Night(int lives, bool keeps_last) {
    DyingLedger dying(*ledger_, lives, keeps_last);
    PutJob(1, JobState::kRunning, work_);
    Start(&dying);
    const auto pass = [&](int ticks) {
      for (int i = 0; i < ticks && !dying.dead(); ++i) {
        clock_.Tick(Millis(500));
        Ignore(vault_->Tick(Millis(0)));
      }
    };
    pass(2);
    WriteInPlace(work_ + "/best.pt", TorchZip(3000, 1));
    WriteInPlace(work_ + "/last.safetensors", SimpleSafetensors(3000, 2));
    Say(1, R"({"path":"best.pt","role":"best","epoch":3})");
    pass(4);
    WriteInPlace(work_ + "/old.pth", LegacyTorch(3000, 3));
    WriteInPlace(work_ + "/broken.pt", TorchZip(3000, 4).substr(0, 2000));
    pass(6);
    PutJob(1, JobState::kSucceeded, work_);
    pass(10);
    vault_.reset();
    return dying.dead();
  }
  // What power loss leaves beside an object on its way.
  void LeaveAPartial() {
    ASSERT_TRUE(MakeDirs(dir_.path() + "/store/sha256/ab"));
    ASSERT_TRUE(WriteDurably(dir_.path() + "/store/sha256/ab/.abc.0123.partial", "half"));
  }
};

// Each kill has a box of its own; the parameter is the count of writes that survive.
class KilledAt : public RestartTest, public testing::WithParamInterface<std::tuple<int, bool>> {};

TEST_P(KilledAt, TheNextVaultMakesItWhole) {
  const auto [lives, keeps_last] = GetParam();
  Night(lives, keeps_last);
  const bool finished = ledger_->Mark("vault.final.1")->has_value();
  PutJob(1, JobState::kSucceeded, work_);
  LeaveAPartial();
  // Written when the first vault was dead already.
  WriteInPlace(work_ + "/final.pt", TorchZip(3000, 5));
  PutJob(2, JobState::kRunning, work_ + "/two");
  WriteInPlace(work_ + "/two/last.pt", TorchZip(3000, 6));
  Start();
  Run(Millis(12'000));

  EXPECT_EQ(StatesOf("best.pt"), "safe");
  EXPECT_EQ(RowOf("best.pt").role, ledger::CheckpointRole::kBest);
  EXPECT_EQ(RowOf("best.pt").epoch, 3);
  EXPECT_EQ(StatesOf("last.safetensors"), "safe");
  EXPECT_EQ(StatesOf("old.pth"), "safe");
  EXPECT_EQ(StatesOf("broken.pt"), "damaged");
  EXPECT_EQ(StatesOf("last.pt"), "safe");
  if (!finished) {
    EXPECT_EQ(StatesOf("final.pt"), "safe");
  }
  EXPECT_TRUE(*ledger_->Mark("vault.final.1"));
  EXPECT_EQ(EventsOf("checkpoint.damaged"), 1);
  EXPECT_EQ(ListDir(dir_.path() + "/store/sha256/ab")->size(), 0u) << "leftovers are cleaned";
  ExpectHonestStore();
}

INSTANTIATE_TEST_SUITE_P(Writes, KilledAt,
                         testing::Combine(testing::Range(1, 26), testing::Bool()));

TEST_F(RestartTest, TheNightHasFewerWritesThanAreKilled) {
  EXPECT_FALSE(Night(26, false)) << "widen the range of KilledAt";
}

TEST_F(RestartTest, ANewVaultTakesUpTheRowThatWasBeingSent) {
  PutJob(1, JobState::kRunning, work_);
  WriteInPlace(work_ + "/best.pt", TorchZip(900'000, 1));
  Run(Millis(200));
  ledger::Checkpoint row = RowOf("best.pt");
  row.state = ledger::CheckpointState::kShipping;
  row.sha256.clear();
  Do([&](ledger::Writer& writer) -> Status {
    const auto id = writer.PutCheckpoint(row);
    return id ? Ok() : Status(id.error());
  });
  Start();
  Run(Millis(1000));
  EXPECT_EQ(StatesOf("best.pt"), "safe");
  ExpectHonestStore();
}

TEST_F(RestartTest, WhatTheRunSaidBeforeTheRestartStillHolds) {
  const TempDir elsewhere = std::move(*TempDir::Make());
  PutJob(1, JobState::kRunning, work_);
  WriteInPlace(elsewhere.path() + "/m.pt", TorchZip(500, 1));
  Say(1, R"({"path":")" + elsewhere.path() + R"(/m.pt","role":"last","epoch":1})");
  Run(Millis(2000));
  Start();
  Run(Millis(1000));
  WriteInPlace(elsewhere.path() + "/m.pt", TorchZip(500, 2));
  Run(Millis(2000));
  EXPECT_EQ(StatesOf("m.pt"), "safe safe");
  EXPECT_EQ(RowOf("m.pt").role, ledger::CheckpointRole::kLast);
  EXPECT_EQ(RowOf("m.pt").epoch, std::nullopt) << "the epoch was said of the version before";
}

}  // namespace
}  // namespace stoker::vault
