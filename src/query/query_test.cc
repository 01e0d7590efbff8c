// The questions over a whole ledger: now, jobs, use, series, settling.
#include "query/query.h"

#include <gtest/gtest.h>

#include "query/fake_ledger.h"

namespace stoker::query {
namespace {

using ledger::Job;
using ledger::JobOrigin;
using ledger::JobState;
using ledger::Metric;
using ledger::Scope;

// A box "rack-3" with two cards and a host, read at 1 Hz from the start of the clock on.
class QueryTest : public testing::Test {
 protected:
  QueryTest() {
    start_ = clock_.Now();
    box_ = ledger_.PutBox({0, "rack-3", "boot-1", "{}", start_}).value();
    for (int gpu = 0; gpu < 2; ++gpu) {
      ledger::Card card;
      card.box = box_;
      card.gpu = gpu;
      card.uuid = "GPU-" + std::to_string(gpu);
      card.name = "Card";
      card.seen_at = start_;
      card.limit_default_w = 600;
      cards_.push_back(ledger_.PutCard(card).value());
    }
  }

  void Put(Metric metric, const ledger::Subject& subject, double value,
           Absence absence = Absence::kNone) {
    const auto series = ledger_.SeriesFor(metric, subject).value();
    ASSERT_TRUE(ledger_.AddTick(clock_.Now(), {{series, value, absence}}));
  }
  void PutCard(Metric metric, int gpu, double value, Absence absence = Absence::kNone) {
    Put(metric, {Scope::kCard, cards_[gpu], ""}, value, absence);
  }

  // `seconds` of reads: card 0 at 500 W busy, card 1 at 60 W idle.
  void Run(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      joules_[0] += 500;
      joules_[1] += 60;
      for (int gpu = 0; gpu < 2; ++gpu) {
        PutCard(Metric::kBusyRatio, gpu, gpu == 0 ? 0.9 : 0);
        PutCard(Metric::kPowerW, gpu, gpu == 0 ? 500 : 60);
        PutCard(Metric::kEnergyJ, gpu, joules_[gpu]);
        PutCard(Metric::kThrottleBits, gpu, gpu == 0 ? 0x4 : 0x1);
      }
      Put(Metric::kCpuBusyRatio, {}, 0.25);
      Put(Metric::kCoreBusyRatio, {Scope::kCore, 0, ""}, 0.5);
      Put(Metric::kCoreBusyRatio, {Scope::kCore, 1, ""}, 0.0);
      clock_.Tick(Millis(1000));
    }
  }

  Job MakeJob(int64_t id, const std::vector<int>& gpus) {
    Job job;
    job.id = id;
    job.name = "job-" + std::to_string(id);
    job.state = JobState::kRunning;
    job.created_at = clock_.Now();
    job.started_at = clock_.Now();
    job.gpus = gpus;
    for (const int gpu : gpus) job.cards.push_back(cards_[gpu]);
    EXPECT_TRUE(ledger_.PutJob(job));
    return job;
  }
  void End(Job job) {
    job.state = JobState::kSucceeded;
    job.ended_at = clock_.Now();
    job.exit_code = 0;
    EXPECT_TRUE(ledger_.PutJob(job));
  }

  FakeClock clock_;
  FakeLedger ledger_;
  WallTime start_;
  int64_t box_ = 0;
  std::vector<int64_t> cards_;
  double joules_[2] = {1e6, 2e6};
};

TEST_F(QueryTest, NowShowsCardsHostAndWhoRunsWhere) {
  Run(5);
  MakeJob(7, {0});
  Run(30);
  const Now now = GetNow(ledger_, clock_).value();
  ASSERT_EQ(now.cards.size(), 2u);
  EXPECT_EQ(now.box->hostname, "rack-3");
  EXPECT_NEAR(*now.cards[0].readings.at("power_w"), 500, 1e-9);
  EXPECT_EQ(now.cards[0].throttle, std::vector<std::string>{"power_cap"});
  EXPECT_EQ(now.cards[0].jobs, std::vector<int64_t>{7});
  EXPECT_TRUE(now.cards[1].throttle.empty());  // idle is not throttling
  EXPECT_TRUE(now.cards[1].jobs.empty());
  EXPECT_NEAR(now.cards[0].age_s, 1, 1e-9);
  EXPECT_NEAR(now.gpu_power_w, 560, 1e-9);
  EXPECT_EQ(now.cards_answering, 2);
  EXPECT_NEAR(*now.host.at("cpu_busy_ratio"), 0.25, 1e-9);
  ASSERT_EQ(now.cores.size(), 2u);
  EXPECT_NEAR(*now.cores[0], 0.5, 1e-9);
  ASSERT_EQ(now.running.size(), 1u);
  EXPECT_NEAR(now.running[0].wall_s, 30, 1e-9);
  EXPECT_NEAR(*now.running[0].gpu_energy_j, 30 * 500, 600);
}

TEST_F(QueryTest, AFailedReadIsAReasonAndOldDataLooksOld) {
  Run(3);
  PutCard(Metric::kPowerW, 1, 0, Absence::kLost);
  clock_.Tick(Millis(3'600'000));
  const Now now = GetNow(ledger_, clock_).value();
  EXPECT_FALSE(now.cards[1].readings.at("power_w"));
  EXPECT_EQ(now.cards[1].readings.at("power_w").absence(), Absence::kLost);
  EXPECT_GT(now.cards[0].age_s, 3600);
  EXPECT_GT(now.host_age_s, 3600);
  EXPECT_EQ(now.cards_answering, 0);  // an hour ago is not an answer
  EXPECT_EQ(now.gpu_power_w, 0);
}

TEST_F(QueryTest, AMetricThatStoppedLongBeforeTheOthersIsNotShownAsNow) {
  PutCard(Metric::kMemoryUsedBytes, 0, 5e9);
  clock_.Tick(Millis(600'000));
  Run(2);
  const Now now = GetNow(ledger_, clock_).value();
  EXPECT_EQ(now.cards[0].readings.at("memory_used_bytes").absence(), Absence::kNotYet);
}

TEST_F(QueryTest, CardsOfImportedBoxesAreNotThisBox) {
  const int64_t other = ledger_.PutBox({0, "night", "", "{}", start_ + Millis(1)}).value();
  ledger::Card card;
  card.box = other;
  card.uuid = "GPU-night";
  ledger_.PutCard(card).value();
  EXPECT_EQ(GetNow(ledger_, clock_).value().cards.size(), 2u);
}

TEST_F(QueryTest, ABoxWithoutCardsShowsItsHost) {
  FakeLedger empty;
  EXPECT_TRUE(GetNow(empty, clock_).value().cards.empty());
  EXPECT_FALSE(GetNow(empty, clock_).value().box.has_value());
}

TEST_F(QueryTest, JobUseIsCutToTheJob) {
  Run(60);
  const Job job = MakeJob(1, {0, 1});
  Run(600);
  End(job);
  Run(60);
  const JobUse use = GetJobUse(ledger_, ledger_.JobById(1).value(), clock_).value();
  ASSERT_EQ(use.cards.size(), 2u);
  EXPECT_EQ(use.cards[0].samples, 601);
  EXPECT_NEAR(*use.cards[0].energy_j, 600 * 500, 500);
  EXPECT_NEAR(*use.cards[0].energy_integral_j, 600 * 500, 500);
  EXPECT_NEAR(*use.total.gpu_energy_j, 600 * 560, 600);
  EXPECT_EQ(use.total.throttled_samples, 601);
  EXPECT_NEAR(*use.cards[0].limit_w, 600, 1e-9);  // the card's default, none was sampled
  EXPECT_NEAR(*use.host.cpu_mean_ratio, 0.25, 1e-9);
  EXPECT_TRUE(use.cards[0].shared_with.empty());
}

TEST_F(QueryTest, ACounterThatBeganAgainAfterADriverReloadLosesNothingElse) {
  const Job job = MakeJob(1, {0});
  Run(100);
  joules_[0] = 0;
  Run(100);
  End(job);
  const JobUse use = GetJobUse(ledger_, ledger_.JobById(1).value(), clock_).value();
  EXPECT_NEAR(*use.cards[0].energy_j, 200 * 500, 600);
}

TEST_F(QueryTest, EnergyAfterTheBestIsMeasuredNotShared) {
  Job job = MakeJob(1, {0});
  Run(100);
  job.best = ledger::Best{"val/acc", 0.9, true, 3.0, clock_.Now()};
  Run(50);
  End(job);
  const JobUse use = GetJobUse(ledger_, ledger_.JobById(1).value(), clock_).value();
  EXPECT_NEAR(*use.total.after_best_energy_j, 50 * 500, 600);
}

TEST_F(QueryTest, JobsOnTheSameCardAtTheSameTimeAreNamed) {
  const Job first = MakeJob(1, {0});
  Run(10);
  const Job second = MakeJob(2, {0, 1});
  Run(10);
  End(first);
  clock_.Tick(Millis(1000));
  MakeJob(3, {0});
  Run(10);
  End(second);
  const JobUse use = GetJobUse(ledger_, ledger_.JobById(1).value(), clock_).value();
  EXPECT_EQ(use.cards[0].shared_with, std::vector<int64_t>{2});
  const JobUse wide = GetJobUse(ledger_, ledger_.JobById(2).value(), clock_).value();
  EXPECT_EQ(wide.cards[0].shared_with, (std::vector<int64_t>{1, 3}));
  EXPECT_TRUE(wide.cards[1].shared_with.empty());
}

TEST_F(QueryTest, AQueuedJobUsedNothing) {
  Job job = MakeJob(1, {0});
  job.state = JobState::kQueued;
  job.started_at.reset();
  const JobUse use = GetJobUse(ledger_, job, clock_).value();
  EXPECT_TRUE(use.cards.empty());
  EXPECT_FALSE(use.total.gpu_energy_j.has_value());
}

TEST_F(QueryTest, ProgressAndEtaFollowTheEpochsLately) {
  Job job = MakeJob(1, {});
  job.last_epoch = 310;
  job.epochs_planned = 400;
  job.best = ledger::Best{"val/acc", 0.5, true, 302.0, std::nullopt};
  for (int epoch = 301; epoch <= 310; ++epoch) {  // resumed at 300, 20 s an epoch
    clock_.Tick(Millis(20'000));
    ASSERT_TRUE(ledger_.AddMetrics(
        1, {{"val/acc", 0.5, static_cast<double>(epoch), std::nullopt, clock_.Now()}}));
  }
  ASSERT_TRUE(ledger_.PutJob(job));
  const JobView view = GetJobs(ledger_, {}, clock_).value().at(0);
  EXPECT_NEAR(*view.progress_ratio, 310.0 / 400, 1e-9);
  EXPECT_NEAR(*view.eta_s, 90 * 20, 1e-6);
}

TEST_F(QueryTest, JobDetailGathersEverythingOfTheJob) {
  MakeJob(1, {0});
  const WallTime at = clock_.Now();
  ASSERT_TRUE(ledger_.AddMetrics(1, {{"val/acc", 0.1, 1.0, std::nullopt, at},
                                     {"train/loss", 2.0, 1.0, std::nullopt, at},
                                     {"val/acc", 0.2, 2.0, std::nullopt, at}}));
  ASSERT_TRUE(ledger_.PutPhase({1, "train", at, std::nullopt}));
  ledger::Checkpoint checkpoint;
  checkpoint.job = 1;
  checkpoint.path = "/runs/best.pt";
  const int64_t id = ledger_.PutCheckpoint(checkpoint).value();
  ASSERT_TRUE(ledger_.PutCopy({id, "home", "job-1/best.pt", at}));
  const JobDetail detail = GetJob(ledger_, 1, clock_).value();
  ASSERT_EQ(detail.curves.size(), 2u);
  EXPECT_EQ(detail.curves[0].name, "val/acc");
  EXPECT_EQ(detail.curves[0].points.size(), 2u);
  EXPECT_EQ(detail.phases.size(), 1u);
  ASSERT_EQ(detail.checkpoints.size(), 1u);
  EXPECT_EQ(detail.checkpoints[0].copies.size(), 1u);
  EXPECT_EQ(GetJob(ledger_, 99, clock_).error().code, Code::kNotFound);
}

TEST_F(QueryTest, SettlingStoresTheEnergyOnceAndAgainChangesNothing) {
  const Job job = MakeJob(1, {0});
  Run(120);
  ASSERT_TRUE(SettleEndedJobs(ledger_, clock_));
  EXPECT_FALSE(ledger_.JobById(1).value().gpu_energy_j.has_value());  // it still runs
  End(job);
  ASSERT_TRUE(SettleEndedJobs(ledger_, clock_));
  const Job settled = ledger_.JobById(1).value();
  EXPECT_NEAR(*settled.gpu_energy_j, 120 * 500, 1100);
  const int writes = ledger_.writes();
  ASSERT_TRUE(SettleEndedJobs(ledger_, clock_));
  EXPECT_EQ(ledger_.writes(), writes);
}

TEST_F(QueryTest, AJobFoundToHaveEndedLongAgoIsStillSettled) {
  Job job = MakeJob(1, {0});
  Run(60);
  ASSERT_TRUE(SettleEndedJobs(ledger_, clock_));
  const WallTime died = clock_.Now();
  Run(600);
  ASSERT_TRUE(SettleEndedJobs(ledger_, clock_));
  job.state = JobState::kLost;
  job.ended_at = died;
  ASSERT_TRUE(ledger_.PutJob(job));
  ASSERT_TRUE(SettleEndedJobs(ledger_, clock_));
  EXPECT_NEAR(*ledger_.JobById(1).value().gpu_energy_j, 60 * 500, 600);
}

TEST_F(QueryTest, AnImportedJobOfLongAgoIsSettledTooOnceItsSamplesAreThere) {
  Run(60);
  const WallTime old = clock_.Now();
  clock_.Tick(Millis(86'400'000));
  ASSERT_TRUE(SettleEndedJobs(ledger_, clock_));
  Job job = MakeJob(1, {0});
  job.started_at = old - Millis(50'000);
  job.ended_at = old + Millis(20'000);
  job.state = JobState::kSucceeded;
  job.cards = {ledger_.PutCard({0, box_, 5, "GPU-late", "Card"}).value()};
  ASSERT_TRUE(ledger_.PutJob(job));
  ASSERT_TRUE(SettleEndedJobs(ledger_, clock_));
  EXPECT_FALSE(ledger_.JobById(1).value().gpu_energy_j.has_value());
  const int writes = ledger_.writes();
  ASSERT_TRUE(SettleEndedJobs(ledger_, clock_));
  EXPECT_EQ(ledger_.writes(), writes);  // not yet due again
  const auto power = ledger_.SeriesFor(Metric::kPowerW, {Scope::kCard, job.cards[0], ""}).value();
  for (int i = -50; i < 20; ++i) {
    ASSERT_TRUE(ledger_.AddSamples(power, {{old + Millis(1000 * i), 100}}));
  }
  clock_.Tick(Millis(3000));
  ASSERT_TRUE(SettleEndedJobs(ledger_, clock_));
  EXPECT_NEAR(*ledger_.JobById(1).value().gpu_energy_j, 7000, 1);
}

TEST_F(QueryTest, AJobWithoutAnyReadingIsGivenUpQuietly) {
  Job job = MakeJob(1, {0});
  clock_.Tick(Millis(5000));
  End(job);
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(SettleEndedJobs(ledger_, clock_));
    clock_.Tick(Millis(3'600'000));
  }
  const int writes = ledger_.writes();
  ASSERT_TRUE(SettleEndedJobs(ledger_, clock_));
  EXPECT_EQ(ledger_.writes(), writes);
  EXPECT_FALSE(ledger_.JobById(1).value().gpu_energy_j.has_value());
}

TEST_F(QueryTest, ADamagedMarkIsStartedAfresh) {
  const Job job = MakeJob(1, {0});
  Run(60);
  End(job);
  for (const char* mark : {"", "x", "99999999999999999999", "5 1:2", "7 1:a:b", "7  ::"}) {
    ASSERT_TRUE(ledger_.SetMark("query.unsettled", mark));
    ASSERT_TRUE(SettleEndedJobs(ledger_, clock_)) << mark;
  }
  EXPECT_TRUE(ledger_.JobById(1).value().gpu_energy_j.has_value());
}

TEST_F(QueryTest, OneUnreadableJobDoesNotKeepOthersUnsettled) {
  const Job good = MakeJob(1, {1});
  const Job bad = MakeJob(2, {0});
  Run(60);
  End(good);
  End(bad);
  ledger_.Break(ledger_.FindSeries(Metric::kPowerW, {Scope::kCard, cards_[0], ""}).value().value());
  EXPECT_EQ(SettleEndedJobs(ledger_, clock_).error().code, Code::kCorrupt);
  EXPECT_TRUE(ledger_.JobById(1).value().gpu_energy_j.has_value());
  EXPECT_FALSE(ledger_.JobById(2).value().gpu_energy_j.has_value());
}

TEST_F(QueryTest, SeriesHaveLabelsAndLeaveOutWhatHasNoData) {
  Run(100);
  const WallTime to = clock_.Now();
  const auto busy = GetSeries(ledger_, Metric::kBusyRatio, start_, to, 10).value();
  ASSERT_EQ(busy.size(), 2u);
  EXPECT_EQ(busy[0].label, "GPU 0");
  EXPECT_EQ(busy[0].buckets.size(), 10u);
  EXPECT_EQ(GetSeries(ledger_, Metric::kCoreBusyRatio, start_, to, 10).value()[1].label, "core 1");
  EXPECT_EQ(GetSeries(ledger_, Metric::kCpuBusyRatio, start_, to, 10).value()[0].label, "host");
  EXPECT_TRUE(GetSeries(ledger_, Metric::kBusyRatio, to, to + Millis(9), 10).value().empty());
  EXPECT_EQ(GetSeries(ledger_, Metric::kBusyRatio, to, to, 10).error().code, Code::kInvalid);
  EXPECT_EQ(GetSeries(ledger_, Metric::kBusyRatio, start_, to, 0).error().code, Code::kInvalid);
}

TEST_F(QueryTest, JobSeriesAreTheJobsCardsAndNoOtherMachinesHost) {
  Run(10);
  Job job = MakeJob(1, {1});
  Run(50);
  End(job);
  job = ledger_.JobById(1).value();
  const auto power = GetJobSeries(ledger_, job, Metric::kPowerW, 10, clock_).value();
  ASSERT_EQ(power.size(), 1u);
  EXPECT_EQ(power[0].label, "GPU 1");
  EXPECT_GE(power[0].buckets.front().from, *job.started_at);
  EXPECT_EQ(GetJobSeries(ledger_, job, Metric::kCpuBusyRatio, 10, clock_).value().size(), 1u);
  job.origin = JobOrigin::kImported;
  EXPECT_TRUE(GetJobSeries(ledger_, job, Metric::kCpuBusyRatio, 10, clock_).value().empty());
}

}  // namespace
}  // namespace stoker::query
