#include "jobs/import.h"

#include <gtest/gtest.h>

#include "base/durable_file.h"
#include "base/file.h"
#include "base/log.h"
#include "jobs/keeper.h"

namespace stoker::jobs {
namespace {

class ImportTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(MakeDirs(run_dir_));
    ASSERT_TRUE(
        WriteDurably(run_dir_ + "/results.csv", "epoch,time,val/loss\n1,30,3\n2,60,2\n3,90,4\n"));
    ASSERT_TRUE(
        WriteDurably(run_dir_ + "/args.yaml",
                     "epochs: 3\nname: train9\nmodel: m.yaml\ntask: detect\nmode: train\n"));
    std::string csv = "timestamp, index, power.draw [W], utilization.gpu [%]\n";
    for (int read = 0; read < 4; ++read) {
      for (int card = 0; card < 2; ++card) {
        csv += "2026/10/18 06:3" + std::to_string(5 + read / 2) + (read % 2 ? ":30" : ":00") +
               ", " + std::to_string(card) + ", " + std::to_string(100 + 10 * read + card) +
               " W, 50 %\n";
      }
    }
    ASSERT_TRUE(WriteDurably(sidecar_, csv));
    auto ledger = ledger::Ledger::Open(home_.ledger(), ledger::Ledger::Mode::kWriter, clock_);
    ASSERT_TRUE(ledger) << ledger.error().Line();
    ledger_ = std::move(*ledger);
  }
  const Result<TempDir> dir_ = TempDir::Make();
  const Home home_{dir_->path()};
  const std::string run_dir_ = dir_->path() + "/run";
  const std::string sidecar_ = dir_->path() + "/cards.csv";
  FakeClock clock_{WallTime{1'795'000'000'000}};
  NullLogger log_;
  std::unique_ptr<ledger::Ledger> ledger_;
};

TEST_F(ImportTest, ARunWithItsSidecarBecomesAFinishedJobWithCards) {
  const auto imported =
      Import(home_, {.run_dir = run_dir_, .sidecar = sidecar_, .user = "ann"}, clock_);
  ASSERT_TRUE(imported) << imported.error().Line();
  EXPECT_EQ(imported->samples, 8);
  Keeper keeper(home_, *ledger_, log_, clock_);
  ASSERT_TRUE(keeper.Tick());
  ASSERT_TRUE(keeper.Tick());  // once is enough, twice changes nothing
  const auto job = ledger_->JobById(imported->job.id);
  ASSERT_TRUE(job) << job.error().Line();
  EXPECT_EQ(job->name, "train9");
  EXPECT_EQ(job->origin, ledger::JobOrigin::kImported);
  EXPECT_EQ(job->state, ledger::JobState::kSucceeded);
  EXPECT_EQ(FormatTime(*job->started_at), "2026-10-18T06:35:00.000Z");
  EXPECT_EQ((*job->ended_at - *job->started_at).count(), 90'000);
  EXPECT_EQ(job->gpus, (std::vector<int>{0, 1}));
  ASSERT_EQ(job->cards.size(), 2u);
  ASSERT_TRUE(job->best);
  EXPECT_EQ(job->best->epoch, 2);
  const auto series = ledger_->FindSeries(ledger::Metric::kPowerW,
                                          {.scope = ledger::Scope::kCard, .id = job->cards[1]});
  ASSERT_TRUE(series && *series);
  const auto samples = ledger_->Scan(**series, *job->started_at, *job->ended_at);
  ASSERT_EQ(samples->size(), 4u);
  EXPECT_EQ(samples->back().value, 131);
  EXPECT_EQ(ledger_->Metrics(job->id, "val/loss")->size(), 3u);
}

TEST_F(ImportTest, BadFilesLeaveNothingBehind) {
  EXPECT_EQ(Import(home_, {.run_dir = dir_->path()}, clock_).error().code, Code::kNotFound);
  ASSERT_TRUE(WriteDurably(dir_->path() + "/bad.csv", "hello\n"));
  EXPECT_EQ(Import(home_, {.run_dir = run_dir_, .sidecar = dir_->path() + "/bad.csv"}, clock_)
                .error()
                .code,
            Code::kInvalid);
  Keeper keeper(home_, *ledger_, log_, clock_);
  ASSERT_TRUE(keeper.Tick());
  EXPECT_TRUE(ledger_->Jobs({})->empty());
}

TEST_F(ImportTest, ALogOfCardsAloneIsAJobToo) {
  const auto imported =
      Import(home_, {.name = "cards", .sidecar = sidecar_, .utc_offset_s = -7200}, clock_);
  ASSERT_TRUE(imported);
  Keeper keeper(home_, *ledger_, log_, clock_);
  ASSERT_TRUE(keeper.Tick());
  const auto job = ledger_->JobById(imported->job.id);
  EXPECT_EQ(FormatTime(*job->started_at), "2026-10-18T04:35:00.000Z");
  EXPECT_EQ(job->name, "cards");
}

}  // namespace
}  // namespace stoker::jobs
