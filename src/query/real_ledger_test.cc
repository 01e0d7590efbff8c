// The same questions over the ledger on disk: its chunks, tiers and reader must change no answer.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.h"
#include "query/fake_ledger.h"
#include "query/night_fixture.h"
#include "query/query.h"

namespace stoker::query {
namespace {

using ledger::Ledger;
using ledger::Metric;
using ledger::Scope;
using ledger::Subject;

// A box with one card, read at 1 Hz for two hours, and a job of one of them.
Status Fill(Ledger& ledger, FakeClock& clock) {
  const WallTime start = clock.Now();
  ledger::Job job;
  STOKER_TRY(ledger.Write([&](ledger::Writer& w) -> Status {
    STOKER_ASSIGN(const int64_t box, w.PutBox({0, "rack-3", "boot", "{}", start}));
    ledger::Card card;
    card.box = box;
    card.uuid = "GPU-0";
    card.name = "Card";
    card.seen_at = start;
    STOKER_ASSIGN(const int64_t id, w.PutCard(card));
    job.id = 1;
    job.state = ledger::JobState::kSucceeded;
    job.created_at = job.started_at.emplace(start + Millis(1'800'000));
    job.ended_at = start + Millis(5'400'000);
    job.cards = {id};
    job.gpus = {0};
    STOKER_TRY(w.PutJob(job));
    return Ok();
  }));
  const Subject card{Scope::kCard, job.cards[0], ""};
  for (int minute = 0; minute < 120; ++minute) {
    STOKER_TRY(ledger.Write([&](ledger::Writer& w) -> Status {
      STOKER_ASSIGN(const auto busy, w.SeriesFor(Metric::kBusyRatio, card));
      STOKER_ASSIGN(const auto power, w.SeriesFor(Metric::kPowerW, card));
      STOKER_ASSIGN(const auto energy, w.SeriesFor(Metric::kEnergyJ, card));
      STOKER_ASSIGN(const auto bits, w.SeriesFor(Metric::kThrottleBits, card));
      for (int second = 0; second < 60; ++second) {
        const int t = minute * 60 + second;
        const Absence absence = t % 600 == 7 ? Absence::kTimeout : Absence::kNone;
        STOKER_TRY(w.AddTick(clock.Now(), {{busy, 0.5 + 0.001 * (t % 100), absence},
                                           {power, 300.0 + t % 50, absence},
                                           {energy, 1e6 + 324.5 * t, absence},
                                           {bits, t % 1000 == 0 ? 4.0 : 1.0, absence}}));
        clock.Tick(Millis(1000));
      }
      return Ok();
    }));
    STOKER_TRY(ledger.Maintain());
  }
  return Ok();
}

void ExpectSame(const std::optional<double>& a, const std::optional<double>& b) {
  ASSERT_EQ(a.has_value(), b.has_value());
  if (!a) return;
  EXPECT_NEAR(*a, *b, 1e-6 * std::max(1.0, std::abs(*b)));
}

TEST(RealLedgerTest, GivesTheAnswersOfTheSamplesThatWentIn) {
  const auto folder = TempDir::Make();
  FakeClock clock, fake_clock;
  const auto real = Ledger::Open(folder->path() + "/ledger.db", Ledger::Mode::kWriter, clock);
  ASSERT_TRUE(real) << real.error().Line();
  FakeLedger fake;
  ASSERT_TRUE(Fill(**real, clock));
  ASSERT_TRUE(Fill(fake, fake_clock));
  // Asked through a second connection that only reads, as the command line does.
  const auto reader = Ledger::Open(folder->path() + "/ledger.db", Ledger::Mode::kReader, clock);
  ASSERT_TRUE(reader) << reader.error().Line();
  const ledger::Job job = (*reader)->JobById(1).value();
  const JobUse use = GetJobUse(**reader, job, clock).value();
  const JobUse wanted = GetJobUse(fake, fake.JobById(1).value(), clock).value();
  ASSERT_EQ(use.cards.size(), 1u);
  EXPECT_EQ(use.cards[0].samples, 3595);
  EXPECT_EQ(use.cards[0].unread, 6);
  EXPECT_EQ(use.cards[0].samples, wanted.cards[0].samples);
  EXPECT_EQ(use.cards[0].throttled_samples, wanted.cards[0].throttled_samples);
  ExpectSame(use.cards[0].busy_mean_ratio, wanted.cards[0].busy_mean_ratio);
  ExpectSame(use.cards[0].power_peak_w, wanted.cards[0].power_peak_w);
  ExpectSame(use.cards[0].energy_j, wanted.cards[0].energy_j);
  EXPECT_NEAR(*use.cards[0].energy_j, 3600 * 324.5, 1);
  const auto series = GetJobSeries(**reader, job, Metric::kPowerW, 60, clock).value();
  ASSERT_EQ(series.size(), 1u);
  EXPECT_EQ(series[0].label, "GPU 0");
  EXPECT_GE(series[0].buckets.size(), 30u);
  double most = 0;
  for (const ledger::Bucket& bucket : series[0].buckets) most = std::max(most, bucket.max);
  EXPECT_EQ(most, 349);
  const Now now = GetNow(**reader, clock).value();
  ASSERT_EQ(now.cards.size(), 1u);
  EXPECT_NEAR(now.cards[0].age_s, 1, 1e-9);
}

TEST(RealLedgerTest, SettlesAndKeepsTheRestOfTheRow) {
  const auto folder = TempDir::Make();
  FakeClock clock;
  const auto real = Ledger::Open(folder->path() + "/ledger.db", Ledger::Mode::kWriter, clock);
  ASSERT_TRUE(real) << real.error().Line();
  ASSERT_TRUE(Fill(**real, clock));
  ASSERT_TRUE(SettleEndedJobs(**real, clock));
  const ledger::Job job = (*real)->JobById(1).value();
  EXPECT_NEAR(*job.gpu_energy_j, 3600 * 324.5, 1);
  EXPECT_EQ(job.gpus, std::vector<int>{0});
}

TEST(RealLedgerTest, TheRecordedNight) {
  const char* data = std::getenv("STOKER_DATA");
  const char* source = std::getenv("STOKER_SOURCE");
  const std::string night =
      data != nullptr
          ? std::string(data) + "/night"
          : (source != nullptr ? std::string(source) : std::string(".")) + "/../shared/data/night";
  if (!FileExists(night + "/sidecar.csv")) GTEST_SKIP() << "no " << night;
  const auto folder = TempDir::Make();
  FakeClock clock;
  const auto real = Ledger::Open(folder->path() + "/ledger.db", Ledger::Mode::kWriter, clock);
  ASSERT_TRUE(real) << real.error().Line();
  const auto job = LoadNight(**real, night);
  ASSERT_TRUE(job) << job.error().Line();
  const JobUse use = GetJobUse(**real, *job, clock).value();
  EXPECT_EQ(use.total.samples, 18'400);
  EXPECT_NEAR(*use.total.busy_mean_ratio, 0.8600359, 1e-6);
  EXPECT_NEAR(*use.total.power_mean_w, 414.7467, 1e-3);
  EXPECT_EQ(*use.total.power_peak_w, 459);
  EXPECT_NEAR(*use.total.gpu_energy_j, 228'940'189, 0.001 * 228'940'189);
  EXPECT_EQ(use.total.throttled_samples, 44);
}

}  // namespace
}  // namespace stoker::query
