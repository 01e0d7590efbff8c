#include "explain/explain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <random>

#include "base/text.h"
#include "query/fake_ledger.h"
#include "query/night_fixture.h"
#include "query/query.h"

namespace stoker::explain {
namespace {

using ledger::JobState;

const Finding* Find(const Explanation& e, const std::string& id) {
  for (const Finding& f : e.findings) {
    if (f.id == id) return &f;
  }
  return nullptr;
}

double Number(const Finding& finding, const std::string& name) {
  for (const auto& [key, value] : finding.numbers) {
    if (key == name) return value;
  }
  ADD_FAILURE() << finding.id << " has no number " << name;
  return NAN;
}

bool Says(const Finding& finding, const std::string& words) {
  return finding.text.find(words) != std::string::npos;
}

query::JobDetail Detail(JobState state = JobState::kSucceeded, double wall_s = 3600) {
  query::JobDetail d;
  ledger::Job& job = d.view.job;
  job.id = 1;
  job.name = "train";
  job.state = state;
  job.started_at = WallTime{1'790'000'000'000};
  job.ended_at = *job.started_at + Millis(static_cast<int64_t>(wall_s * 1000));
  d.view.wall_s = wall_s;
  return d;
}

query::CardUse Card(int gpu, double busy, double watts, double limit = 600) {
  query::CardUse card;
  card.gpu = gpu;
  card.card = gpu + 1;
  card.samples = 3600;
  card.busy_mean_ratio = busy;
  card.power_mean_w = watts;
  card.power_peak_w = watts + 20;
  card.limit_w = limit;
  card.energy_j = card.energy_counter_j = card.energy_integral_j = watts * 3600;
  card.temperature_mean_c = card.temperature_max_c = 65;
  return card;
}

query::JobUse Use(std::vector<query::CardUse> cards) {
  query::JobUse use;
  use.from = WallTime{1'790'000'000'000};
  use.to = use.from + Millis(3'600'000);
  double busy = 0, watts = 0, joules = 0;
  for (const auto& card : cards) {
    use.total.samples += card.samples;
    use.total.throttled_samples += card.throttled_samples;
    busy += *card.busy_mean_ratio;
    watts += *card.power_mean_w;
    joules += *card.energy_j;
  }
  if (!cards.empty()) {
    use.total.busy_mean_ratio = busy / static_cast<double>(cards.size());
    use.total.power_mean_w = watts / static_cast<double>(cards.size());
    use.total.gpu_energy_j = joules;
  }
  use.cards = std::move(cards);
  return use;
}

void AddCurve(query::JobDetail& d, const std::string& name, const std::vector<double>& y) {
  query::MetricCurve curve{name, {}};
  for (size_t i = 0; i < y.size(); ++i) {
    curve.points.push_back({name, y[i], static_cast<double>(i + 1), std::nullopt,
                            *d.view.job.started_at + Millis(60'000 * static_cast<int64_t>(i + 1))});
  }
  d.curves.push_back(std::move(curve));
}

std::vector<double> Curve(size_t n, double (*f)(double), double noise, std::mt19937& random) {
  std::normal_distribution<double> scatter(0, noise);
  std::vector<double> y;
  for (size_t i = 0; i < n; ++i) {
    y.push_back(f(static_cast<double>(i) / static_cast<double>(n - 1)) + scatter(random));
  }
  return y;
}

double Falling(double t) { return std::exp(-3 * t); }
double TurningAt60(double t) { return t < 0.6 ? 1 - t : 0.4 + 0.6 * (t - 0.6); }
double ScoreTurningAt60(double t) { return t < 0.6 ? t : 0.6 - 0.5 * (t - 0.6); }
double Rising(double t) { return 1 - std::exp(-3 * t); }

TEST(ExplainTest, AReasonThatRepeatsTheExitCodeIsSaidOnce) {
  query::JobDetail d = Detail(JobState::kFailed);
  d.view.job.exit_code = 3;
  d.view.job.reason = "exit code 3";
  const Explanation e = Explain(std::move(d), {});
  ASSERT_FALSE(e.findings.empty());
  const std::string& text = e.findings.front().text;
  EXPECT_EQ(text.find("exit code 3"), text.rfind("exit code 3")) << text;
}

TEST(ExplainTest, BestAndWhatRanAfterIt) {
  query::JobDetail d = Detail();
  std::vector<double> score;
  for (int i = 1; i <= 60; ++i) score.push_back(i <= 40 ? 0.01 * i : 0.4 - 0.002 * (i - 40));
  AddCurve(d, "val/accuracy", score);
  query::JobUse use = Use({Card(0, 0.9, 500)});
  use.total.after_best_energy_j = 600'000;
  const Explanation e = Explain(d, use);
  const Finding* best = Find(e, "best-and-after");
  ASSERT_NE(best, nullptr);
  EXPECT_EQ(best->severity, "notice");
  EXPECT_EQ(Number(*best, "best_epoch"), 40);
  EXPECT_EQ(Number(*best, "after_best_epochs"), 20);
  EXPECT_NEAR(Number(*best, "after_best_s"), 1200, 1e-6);
  EXPECT_NEAR(Number(*best, "after_best_kwh"), 1.0 / 6, 1e-6);
  EXPECT_TRUE(Says(*best, "0.400 at epoch 40, 40 min into the run")) << best->text;
  EXPECT_TRUE(
      Says(*best, "20 epochs ran since (20 min, 167 Wh, 33 % of the run), ending at 0.360."))
      << best->text;
}

TEST(ExplainTest, OverfitIsFoundWhereLossesPartAndTheScoreFollows) {
  std::mt19937 random(5);
  query::JobDetail d = Detail();
  AddCurve(d, "train/loss", Curve(100, Falling, 0.01, random));
  AddCurve(d, "val/loss", Curve(100, TurningAt60, 0.01, random));
  AddCurve(d, "val/accuracy", Curve(100, ScoreTurningAt60, 0.01, random));
  const Explanation e = Explain(d, {});
  const Finding* overfit = Find(e, "overfit");
  ASSERT_NE(overfit, nullptr);
  EXPECT_EQ(overfit->severity, "warning");
  EXPECT_NEAR(Number(*overfit, "onset_epoch"), 60, 6);
  EXPECT_LE(Number(*overfit, "onset_uncertainty_epochs"), 12);
  EXPECT_TRUE(Says(*overfit, "val/accuracy followed it down")) << overfit->text;
  EXPECT_FALSE(overfit->cannot_tell.empty());
}

TEST(ExplainTest, AValidationLossThatTurnsWhileTheScoreRisesIsNotCalledOverfit) {
  std::mt19937 random(5);
  query::JobDetail d = Detail();
  AddCurve(d, "train/loss", Curve(100, Falling, 0.01, random));
  AddCurve(d, "val/loss", Curve(100, TurningAt60, 0.01, random));
  AddCurve(d, "val/accuracy", Curve(100, Rising, 0.01, random));
  const Explanation e = Explain(d, {});
  EXPECT_EQ(Find(e, "overfit"), nullptr);
  ASSERT_NE(Find(e, "val-loss-turned"), nullptr);
}

TEST(ExplainTest, NoOverfitWithoutAFallingTrainLoss) {
  std::mt19937 random(5);
  query::JobDetail d = Detail();
  AddCurve(d, "train/loss", Curve(100, TurningAt60, 0.01, random));
  AddCurve(d, "val/loss", Curve(100, TurningAt60, 0.01, random));
  EXPECT_EQ(Find(Explain(d, {}), "overfit"), nullptr);
}

// Short, noisy runs whose validation wanders without meaning: almost never an alarm.
TEST(ExplainTest, WanderingRunsRaiseAlmostNoOverfitAlarms) {
  std::mt19937 random(11);
  std::normal_distribution<double> step(0, 0.05);
  int alarms = 0;
  constexpr int kRuns = 300;
  for (int run = 0; run < kRuns; ++run) {
    const size_t n = 12 + static_cast<size_t>(run % 90);
    query::JobDetail d = Detail();
    AddCurve(d, "train/loss", Curve(n, Falling, 0.03, random));
    for (const char* name : {"val/loss", "val/accuracy"}) {
      std::vector<double> walk{1};
      while (walk.size() < n) walk.push_back(walk.back() + step(random));
      AddCurve(d, name, walk);
    }
    alarms += Find(Explain(d, {}), "overfit") != nullptr ? 1 : 0;
  }
  EXPECT_LE(alarms, kRuns / 100);
}

TEST(ExplainTest, NoisyButHealthyRunsRaiseNone) {
  std::mt19937 random(12);
  for (int run = 0; run < 200; ++run) {
    const size_t n = 12 + static_cast<size_t>(run % 60);
    query::JobDetail d = Detail();
    AddCurve(d, "train/loss", Curve(n, Falling, 0.05, random));
    AddCurve(d, "val/loss", Curve(n, Falling, 0.1, random));
    AddCurve(d, "val/accuracy", Curve(n, Rising, 0.1, random));
    EXPECT_EQ(Find(Explain(d, {}), "overfit"), nullptr) << n;
  }
}

TEST(ExplainTest, APlateauIsNamedWithItsStart) {
  std::mt19937 random(13);
  query::JobDetail d = Detail();
  AddCurve(d, "val/accuracy",
           Curve(
               100, [](double t) { return t < 0.5 ? 2 * t : 1.0; }, 0.005, random));
  const Explanation e = Explain(d, {});
  const Finding* plateau = Find(e, "plateau");
  ASSERT_NE(plateau, nullptr);
  EXPECT_NEAR(Number(*plateau, "plateau_since_epoch"), 51, 6);
  query::JobDetail rising = Detail();
  AddCurve(rising, "val/accuracy",
           Curve(
               100, [](double t) { return t; }, 0.005, random));
  EXPECT_EQ(Find(Explain(rising, {}), "plateau"), nullptr);
}

TEST(ExplainTest, DivergedByNanAndByGrowth) {
  query::JobDetail d = Detail();
  AddCurve(d, "train/loss", {3, 2, 1, NAN, NAN, NAN});
  const Explanation by_nan = Explain(d, {});
  ASSERT_NE(Find(by_nan, "diverged"), nullptr);
  EXPECT_EQ(Number(*Find(by_nan, "diverged"), "first_bad_epoch"), 4);
  EXPECT_EQ(by_nan.findings[0].severity, "warning");
  query::JobDetail grown = Detail();
  AddCurve(grown, "train/loss", {2, 1.5, 1, 0.9, 0.8, 2, 9, 30, 90, 200});
  EXPECT_NE(Find(Explain(grown, {}), "diverged"), nullptr);
  query::JobDetail fine = Detail();
  AddCurve(fine, "train/loss", {2, 1.5, 1.2, 1, 0.9, 0.95, 0.8, 0.85, 0.8, 0.7});
  EXPECT_EQ(Find(Explain(fine, {}), "diverged"), nullptr);
}

TEST(ExplainTest, CardsThatWereTakenButNotUsed) {
  const Explanation e = Explain(Detail(), Use({Card(0, 0.95, 520), Card(1, 0.0, 60)}));
  const Finding* idle = Find(e, "idle-cards");
  ASSERT_NE(idle, nullptr);
  EXPECT_TRUE(Says(*idle, "GPU 1 was allocated to this job but idle")) << idle->text;
  EXPECT_NEAR(Number(*idle, "idle_energy_j"), 60 * 3600, 1);
  EXPECT_EQ(Find(Explain(Detail(), Use({Card(0, 0.95, 520)})), "idle-cards"), nullptr);
}

TEST(ExplainTest, CardsThatWaitForTheCpu) {
  query::JobUse use = Use({Card(0, 0.12, 120), Card(1, 0.14, 130)});
  use.host.cpu_mean_ratio = 0.94;
  const Explanation e = Explain(Detail(), use);
  ASSERT_NE(Find(e, "cpu-starved"), nullptr);
  EXPECT_TRUE(Says(*Find(e, "cpu-starved"), "94 % busy while the cards were 13 % busy"));
  use.host.cpu_mean_ratio = 0.16;
  EXPECT_EQ(Find(Explain(Detail(), use), "cpu-starved"), nullptr);
}

TEST(ExplainTest, BusyWithoutWattsIsSaidForTheRunThatShowedIt) {
  // 75 % busy at 220 W of 600 W, against 71 % at 344 W on one card and 86 % at 415 W.
  EXPECT_NE(Find(Explain(Detail(), Use({Card(0, 0.75, 220)})), "busy-without-work"), nullptr);
  EXPECT_EQ(Find(Explain(Detail(), Use({Card(0, 0.71, 344)})), "busy-without-work"), nullptr);
  EXPECT_EQ(Find(Explain(Detail(), Use({Card(0, 0.86, 415)})), "busy-without-work"), nullptr);
}

TEST(ExplainTest, ThrottleByReasonAndWhen) {
  query::CardUse card = Card(2, 0.9, 500);
  card.throttled_samples = 400;
  card.throttle = {{"power_cap", 400, 390.5, 100.0, 3000.0}};
  const Explanation e = Explain(Detail(), Use({card, Card(3, 0.9, 500)}));
  const Finding* throttled = Find(e, "throttled");
  ASSERT_NE(throttled, nullptr);
  EXPECT_EQ(throttled->severity, "warning");
  EXPECT_TRUE(Says(*throttled, "the power cap on 400 reads of GPU 2")) << throttled->text;
  EXPECT_TRUE(Says(*throttled, "from 1 min 40 s to 50 min into the run")) << throttled->text;
  EXPECT_NEAR(Number(*throttled, "power_cap_s"), 390.5, 1e-9);
  EXPECT_TRUE(throttled->cannot_tell.empty());
}

TEST(ExplainTest, AWarmCardAmongItsNeighbours) {
  std::vector<query::CardUse> cards;
  for (int gpu = 0; gpu < 4; ++gpu) cards.push_back(Card(gpu, 0.9, 500));
  cards[2].temperature_mean_c = 74;
  cards[2].temperature_max_c = 78;
  cards[2].margin_min_c = 3;
  const Explanation e = Explain(Detail(), Use(cards));
  const Finding* warm = Find(e, "warm-cards");
  ASSERT_NE(warm, nullptr);
  EXPECT_TRUE(Says(*warm, "GPU 2 ran up to 9 °C warmer")) << warm->text;
  EXPECT_EQ(warm->severity, "notice");
  cards[2].temperature_mean_c = 67;
  EXPECT_EQ(Find(Explain(Detail(), Use(cards)), "warm-cards"), nullptr);
}

TEST(ExplainTest, HowAJobEndedInWords) {
  query::JobDetail failed = Detail(JobState::kFailed, 90);
  failed.view.job.exit_code = 137;
  const Explanation f = Explain(failed, {});
  EXPECT_EQ(f.findings[0].id, "failed");
  EXPECT_TRUE(Says(f.findings[0], "exit code 137 (a child of it died of SIGKILL"))
      << f.findings[0].text;
  query::JobDetail killed = Detail(JobState::kFailed, 90);
  killed.view.job.signal = SIGSEGV;
  EXPECT_TRUE(Says(Explain(killed, {}).findings[0], "died of SIGSEGV"));
  query::JobDetail lost = Detail(JobState::kLost, 90);
  lost.view.job.last_epoch = 12;
  lost.view.job.epochs_planned = 50;
  EXPECT_TRUE(Says(Explain(lost, {}).findings[0], "12 of 50 epochs"));
  EXPECT_EQ(Find(Explain(Detail(), {}), "failed"), nullptr);
}

TEST(ExplainTest, CheckpointsThatAreNotSafeYet) {
  query::JobDetail d = Detail();
  ledger::Checkpoint best;
  best.path = "/runs/weights/best.pt";
  best.role = ledger::CheckpointRole::kBest;
  best.state = ledger::CheckpointState::kSeen;
  best.bytes = 40'000'000;
  ledger::Checkpoint last = best;
  last.role = ledger::CheckpointRole::kLast;
  last.state = ledger::CheckpointState::kSafe;
  ledger::Checkpoint old = best;
  old.state = ledger::CheckpointState::kSuperseded;
  d.checkpoints = {{best, {}}, {last, {}}, {old, {}}};
  const Explanation e = Explain(d, {});
  const Finding* unsafe = Find(e, "checkpoints-unsafe");
  ASSERT_NE(unsafe, nullptr);
  EXPECT_EQ(unsafe->severity, "warning");
  EXPECT_EQ(Number(*unsafe, "unsafe"), 1);
  EXPECT_EQ(Number(*unsafe, "seen"), 2);
  EXPECT_TRUE(Says(*unsafe, "the best one among them"));
  d.checkpoints = {{last, {}}, {old, {}}};
  EXPECT_EQ(Find(Explain(d, {}), "checkpoints-unsafe"), nullptr);
}

TEST(ExplainTest, WhatCannotBeSaidIsSaid) {
  EXPECT_NE(Find(Explain(Detail(), {}), "no-cards"), nullptr);
  query::CardUse few = Card(0, 0.5, 300);
  few.samples = 3;
  const Explanation e = Explain(Detail(), Use({few}));
  ASSERT_NE(Find(e, "too-few-samples"), nullptr);
  EXPECT_EQ(Find(e, "busy-without-work"), nullptr);
  query::CardUse lost = Card(0, 0.5, 300);
  lost.unread = 500;
  ASSERT_NE(Find(Explain(Detail(), Use({lost})), "unread"), nullptr);
  query::CardUse odd = Card(0, 0.5, 300);
  odd.energy_integral_j = 1.75 * *odd.energy_counter_j;
  odd.period_s = 1;
  ASSERT_NE(Find(Explain(Detail(), Use({odd})), "energy-disagrees"), nullptr);
  odd.samples = 3000;  // ten minutes without a reading: the two cannot be compared
  EXPECT_EQ(Find(Explain(Detail(), Use({odd})), "energy-disagrees"), nullptr);
  query::CardUse shared = Card(0, 0.5, 300);
  shared.shared_with = {8, 9};
  ASSERT_NE(Find(Explain(Detail(), Use({shared})), "shared-cards"), nullptr);
}

TEST(ExplainTest, WhereTheTimeWent) {
  query::JobDetail d = Detail();
  const WallTime t = *d.view.job.started_at;
  d.phases = {{1, "train", t, t + Millis(1'800'000)},
              {1, "validate", t + Millis(1'800'000), t + Millis(3'000'000)}};
  const Explanation e = Explain(d, {});
  const Finding* phases = Find(e, "phases");
  ASSERT_NE(phases, nullptr);
  EXPECT_EQ(phases->severity, "notice");
  EXPECT_TRUE(Says(*phases, "train 30 min (50 %) and validate 20 min (33 %)")) << phases->text;
  EXPECT_NEAR(Number(*phases, "unnamed_s"), 600, 1e-6);
}

TEST(ExplainTest, AnEmptyJobIsExplainedWithoutInventing) {
  query::JobDetail queued;
  queued.view.job.state = JobState::kQueued;
  EXPECT_TRUE(Explain(queued, {}).findings.empty());
}

std::string DataFolder() {
  if (const char* data = std::getenv("STOKER_DATA")) return data;
  const char* source = std::getenv("STOKER_SOURCE");
  return (source != nullptr ? std::string(source) : std::string(".")) + "/../shared/data";
}

TEST(ExplainTest, TheRecordedNight) {
  const std::string folder = DataFolder() + "/night";
  if (!FileExists(folder + "/sidecar.csv")) GTEST_SKIP() << "no " << folder;
  query::FakeLedger ledger;
  FakeClock clock;
  const auto job = query::LoadNight(ledger, folder);
  ASSERT_TRUE(job) << job.error().Line();
  const Explanation e = Explain(query::GetJob(ledger, job->id, clock).value(),
                                query::GetJobUse(ledger, *job, clock).value());
  const Finding* best = Find(e, "best-and-after");
  ASSERT_NE(best, nullptr);
  EXPECT_EQ(Number(*best, "best_epoch"), 412);
  EXPECT_NEAR(Number(*best, "best_value"), 0.527, 1e-9);
  EXPECT_EQ(Number(*best, "after_best_epochs"), 188);
  EXPECT_NEAR(Number(*best, "after_best_s"), 21625.64, 1);
  const Finding* overfit = Find(e, "overfit");
  ASSERT_NE(overfit, nullptr);
  EXPECT_NEAR(Number(*overfit, "onset_epoch"), 400, 25);
  const Finding* throttled = Find(e, "throttled");
  ASSERT_NE(throttled, nullptr);
  EXPECT_EQ(Number(*throttled, "throttled_samples"), 44);
  ASSERT_NE(Find(e, "warm-cards"), nullptr);
  EXPECT_TRUE(Says(*Find(e, "warm-cards"), "GPUs 2 and 7")) << Find(e, "warm-cards")->text;
  EXPECT_EQ(Find(e, "busy-without-work"), nullptr);
  EXPECT_EQ(Find(e, "unread"), nullptr);
  for (const Finding& f : e.findings) RecordProperty(f.id, f.text);
}

}  // namespace
}  // namespace stoker::explain
