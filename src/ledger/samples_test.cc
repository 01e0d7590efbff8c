#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "base/file.h"
#include "ledger/open.h"

namespace stoker::ledger {
namespace {

constexpr int64_t kStart = 1'790'000'000'000;
const Subject kCard{Scope::kCard, 1, ""};

class SamplesTest : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = TempDir::Make().value();
    path_ = dir_->path() + "/ledger.db";
    tuning_.seal_above = 120;
    tuning_.keep = 30;
    tuning_.batch = 90;
    Reopen();
  }
  void Reopen() {
    ledger_.reset();
    auto opened = OpenTuned(path_, Ledger::Mode::kWriter, clock_, tuning_);
    ASSERT_TRUE(opened) << opened.error().Line();
    ledger_ = std::move(*opened);
  }
  SeriesId Make(Metric metric, const Subject& subject = kCard) {
    SeriesId id = 0;
    EXPECT_TRUE(ledger_->Write([&](Writer& w) -> Status {
      STOKER_ASSIGN(id, w.SeriesFor(metric, subject));
      return Ok();
    }));
    return id;
  }
  void Tick(int64_t at, const std::vector<TickValue>& values) {
    const Status done = ledger_->Write([&](Writer& w) { return w.AddTick(WallTime{at}, values); });
    ASSERT_TRUE(done) << done.error().Line();
  }
  void Add(SeriesId series, const std::vector<Sample>& samples) {
    const Status done = ledger_->Write([&](Writer& w) { return w.AddSamples(series, samples); });
    ASSERT_TRUE(done) << done.error().Line();
  }
  void Maintain() {
    const Status done = ledger_->Maintain();
    ASSERT_TRUE(done) << done.error().Line();
  }
  std::vector<Sample> All(SeriesId series) {
    return ledger_->Scan(series, WallTime{0}, WallTime{kStart * 2}).value();
  }

  FakeClock clock_{WallTime{kStart}};
  Tuning tuning_;
  std::optional<TempDir> dir_;
  std::string path_;
  std::unique_ptr<Ledger> ledger_;
};

TEST_F(SamplesTest, SeriesAreMadeOnce) {
  const SeriesId power = Make(Metric::kPowerW);
  EXPECT_EQ(Make(Metric::kPowerW), power);
  const SeriesId disk = Make(Metric::kDiskBusyRatio, {Scope::kDisk, 0, "nvme0n1"});
  EXPECT_NE(disk, power);
  EXPECT_EQ(ledger_->FindSeries(Metric::kDiskBusyRatio, {Scope::kDisk, 0, "nvme0n1"}).value(),
            disk);
  EXPECT_FALSE(ledger_->FindSeries(Metric::kDiskBusyRatio, {Scope::kDisk, 0, "sda"}).value());
  const auto all = ledger_->AllSeries().value();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].metric, Metric::kDiskBusyRatio);
  EXPECT_EQ(all[1].subject.name, "nvme0n1");
}

TEST_F(SamplesTest, AValueOrAReasonNeverAZero) {
  const SeriesId power = Make(Metric::kPowerW);
  const SeriesId clock = Make(Metric::kSmClockHz);
  Tick(kStart, {{power, 440.61}, {clock, 1980e6}});
  Tick(kStart + 1000, {{power, 0, Absence::kTimeout}, {clock, 0, Absence::kLost}});
  Tick(kStart + 2000, {{power, std::nan("")}, {clock, 1e300}});
  const auto watts = All(power);
  ASSERT_EQ(watts.size(), 3u);
  EXPECT_EQ(watts[0].value, 440.61);
  EXPECT_EQ(watts[1].absence, Absence::kTimeout);
  EXPECT_EQ(watts[2].absence, Absence::kError);
  EXPECT_EQ(All(clock)[0].value, 1980e6);
  EXPECT_EQ(All(clock)[2].absence, Absence::kError);
  EXPECT_EQ(ledger_->Latest(power).value()->absence, Absence::kError);
  EXPECT_FALSE(ledger_->Latest(Make(Metric::kLimitW)).value());
}

TEST_F(SamplesTest, SealingChangesNothingThatIsRead) {
  const SeriesId power = Make(Metric::kPowerW);
  const SeriesId used = Make(Metric::kMemoryUsedBytes);
  std::mt19937_64 random(3);
  std::vector<Sample> expected;
  for (int i = 0; i < 1000; ++i) {
    const int64_t at = kStart + i * 1000 + static_cast<int64_t>(random() % 5);
    const double watts = static_cast<double>(random() % 600'000) / 1000;
    const bool absent = random() % 10 == 0;
    expected.push_back(
        Sample{WallTime{at}, absent ? 0 : watts, absent ? Absence::kTimeout : Absence::kNone});
    std::vector<TickValue> tick{{power, watts, expected.back().absence}};
    if (i % 10 == 0) tick.push_back({used, 34e9 + i});
    Tick(at, tick);
    if (i % 50 == 49) Maintain();
  }
  const auto check = [&] {
    const auto got = All(power);
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i].at, expected[i].at) << i;
      ASSERT_EQ(got[i].absence, expected[i].absence) << i;
      ASSERT_EQ(got[i].value, expected[i].value) << i;
    }
    EXPECT_EQ(All(used).size(), 100u);
    EXPECT_EQ(All(used)[99].value, 34e9 + 990);
  };
  check();
  Reopen();
  check();
  // Left alone for a day: all of it is sealed, and the same.
  clock_.Tick(std::chrono::hours(24));
  Maintain();
  Maintain();
  check();
  EXPECT_EQ(ledger_->Latest(power).value()->at, expected.back().at);
  const auto part = ledger_->Scan(power, expected[100].at, expected[199].at).value();
  ASSERT_EQ(part.size(), 100u);
  EXPECT_EQ(part[0].at, expected[100].at);
}

TEST_F(SamplesTest, ALedgerOfOneTickIsSealedToo) {
  const SeriesId power = Make(Metric::kPowerW);
  Tick(kStart, {{power, 100}});
  Maintain();
  clock_.Tick(std::chrono::hours(3));
  Maintain();
  Maintain();
  ASSERT_EQ(All(power).size(), 1u);
  EXPECT_EQ(ledger_->Latest(power).value()->value, 100);
}

TEST_F(SamplesTest, ImportsGoIntoThePastAndOverOneAnother) {
  const SeriesId power = Make(Metric::kPowerW);
  std::map<int64_t, double> model;
  std::mt19937_64 random(17);
  for (int round = 0; round < 30; ++round) {
    std::vector<Sample> batch;
    const auto step = static_cast<int64_t>(1 + random() % 4000);
    int64_t at = kStart - static_cast<int64_t>(random() % 90'000'000);
    const size_t size = 1 + random() % 6000;
    for (size_t i = 0; i < size; ++i) {
      const double value = static_cast<double>(random() % 600'000) / 1000;
      batch.push_back({WallTime{at}, value});
      model[at] = value;
      at += step;
    }
    Add(power, batch);
  }
  Tick(kStart + 50'000'000, {{power, 1}});
  model[kStart + 50'000'000] = 1;
  const auto got = All(power);
  ASSERT_EQ(got.size(), model.size());
  size_t i = 0;
  for (const auto& [at, value] : model) {
    ASSERT_EQ(got[i].at.ms, at) << i;
    ASSERT_EQ(got[i].value, value) << i;
    ++i;
  }
  // The tiers followed every change: whole minutes and quarters agree with the samples.
  for (const int points : {2000, 100}) {
    const WallTime from{kStart - 100'000'000}, to{kStart + 60'000'000};
    const auto buckets = ledger_->ScanBuckets(power, from, to, points).value();
    int64_t count = 0;
    double most = 0;
    for (const Bucket& b : buckets) {
      count += b.count;
      most = std::max(most, b.max);
    }
    EXPECT_EQ(count, static_cast<int64_t>(model.size()));
    double expected = 0;
    for (const auto& [at, value] : model) expected = std::max(expected, value);
    EXPECT_EQ(most, expected);
  }
  const auto refused = ledger_->Write([&](Writer& w) {
    return w.AddSamples(power, {{WallTime{2}, 1}, {WallTime{1}, 1}});
  });
  EXPECT_EQ(refused.error().code, Code::kInvalid);
}

TEST_F(SamplesTest, SmallImportsGrowOneChunk) {
  const SeriesId power = Make(Metric::kPowerW);
  for (int i = 0; i < 200; ++i) Add(power, {{WallTime{kStart + i * 30'000}, 1.0 * i}});
  EXPECT_EQ(All(power).size(), 200u);
  const auto db = Db::Open(path_, Db::Access::kRead).value();
  EXPECT_EQ(db->AskInt("SELECT count(*) FROM chunks").value(), 1);
  EXPECT_EQ(db->AskInt("SELECT count(*) FROM timelines").value(), 1);
}

// The truth that buckets are held against: one pass over the samples.
struct Truth {
  double min = INFINITY, max = -INFINITY, sum = 0, last = 0;
  int64_t count = 0, absent = 0;
};

TEST_F(SamplesTest, BucketsOfEveryZoomHoldEverySampleOfTheRangeAndNoOther) {
  const SeriesId power = Make(Metric::kPowerW);
  std::mt19937_64 random(23);
  std::vector<Sample> samples;
  for (int i = 0; i < 40'000; ++i) {
    const bool absent = random() % 100 == 0;
    samples.push_back({WallTime{kStart + i * 2000 + static_cast<int64_t>(random() % 900)},
                       absent ? 0 : static_cast<double>(random() % 600'000) / 1000,
                       absent ? Absence::kLost : Absence::kNone});
  }
  samples[20'000].value = 999;  // a spike of two seconds in 22 hours
  samples[20'000].absence = Absence::kNone;
  const size_t hot_from = samples.size() - 100;  // the last ones are not sealed
  Add(power, {samples.begin(), samples.begin() + static_cast<ptrdiff_t>(hot_from)});
  for (size_t i = hot_from; i < samples.size(); ++i) {
    Tick(samples[i].at.ms, {{power, samples[i].value, samples[i].absence}});
  }
  const int64_t length = 40'000 * 2000;
  for (int round = 0; round < 60; ++round) {
    int64_t from = kStart - 1000 + static_cast<int64_t>(random() % static_cast<uint64_t>(length));
    int64_t to = from + static_cast<int64_t>(random() % static_cast<uint64_t>(length));
    if (round == 0) from = kStart, to = kStart + length + 10'000;
    const int points = 1 + static_cast<int>(random() % 1500);
    const auto buckets = ledger_->ScanBuckets(power, WallTime{from}, WallTime{to}, points).value();
    ASSERT_LE(buckets.size(), static_cast<size_t>(points) + 1);
    size_t next = 0;
    const auto in_range = [&](const Sample& s) { return s.at.ms >= from && s.at.ms < to; };
    while (next < samples.size() && samples[next].at.ms < from) ++next;
    for (size_t b = 0; b < buckets.size(); ++b) {
      const int64_t end = b + 1 < buckets.size() ? buckets[b + 1].from.ms : to;
      Truth truth;
      for (; next < samples.size() && samples[next].at.ms < end && in_range(samples[next]);
           ++next) {
        const Sample& s = samples[next];
        if (s.absence != Absence::kNone) {
          ++truth.absent;
          continue;
        }
        truth.min = std::min(truth.min, s.value);
        truth.max = std::max(truth.max, s.value);
        truth.sum += s.value;
        truth.last = s.value;
        ++truth.count;
      }
      ASSERT_EQ(buckets[b].count, truth.count) << round << " " << b << " of " << points;
      ASSERT_EQ(buckets[b].absent, truth.absent);
      if (truth.count == 0) {
        ASSERT_TRUE(std::isnan(buckets[b].mean));
        continue;
      }
      ASSERT_EQ(buckets[b].min, truth.min);
      ASSERT_EQ(buckets[b].max, truth.max);
      ASSERT_EQ(buckets[b].last, truth.last);
      ASSERT_NEAR(buckets[b].mean, truth.sum / static_cast<double>(truth.count), 1e-3);
    }
    ASSERT_TRUE(next == samples.size() || !in_range(samples[next]));
  }
  const auto week = ledger_->ScanBuckets(power, WallTime{kStart - 3 * length},
                                         WallTime{kStart + 3 * length}, 100);
  EXPECT_TRUE(
      std::any_of(week->begin(), week->end(), [](const Bucket& b) { return b.max == 999; }));
}

TEST_F(SamplesTest, OddRangesAreAnswered) {
  const SeriesId power = Make(Metric::kPowerW);
  Tick(kStart, {{power, 5}});
  EXPECT_TRUE(ledger_->ScanBuckets(power, WallTime{10}, WallTime{10}, 10)->empty());
  EXPECT_TRUE(ledger_->ScanBuckets(power, WallTime{10}, WallTime{0}, 10)->empty());
  EXPECT_EQ(ledger_->ScanBuckets(power, WallTime{0}, WallTime{1}, 0).error().code, Code::kInvalid);
  const auto forever =
      ledger_->ScanBuckets(power, WallTime{INT64_MIN}, WallTime{INT64_MAX}, 10).value();
  ASSERT_EQ(forever.size(), 1u);
  EXPECT_EQ(forever[0].count, 1);
  EXPECT_EQ(ledger_->Scan(999, WallTime{0}, WallTime{1}).error().code, Code::kNotFound);
}

TEST_F(SamplesTest, AClockThatWasSetBackLosesNoTick) {
  const SeriesId power = Make(Metric::kPowerW);
  for (int i = 0; i < 100; ++i) Tick(kStart + i * 1000, {{power, 1}});
  for (int i = 0; i < 100; ++i) Tick(kStart - 50'500 + i * 1000, {{power, 2}});
  EXPECT_EQ(All(power).size(), 200u);
  EXPECT_EQ(ledger_->Latest(power).value()->value, 2);
  Maintain();
  clock_.Tick(std::chrono::hours(3));
  Maintain();
  const auto all = All(power);
  ASSERT_EQ(all.size(), 200u);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(),
                             [](const Sample& a, const Sample& b) { return a.at < b.at; }));
}

TEST_F(SamplesTest, AReaderFollowsTheWriterThroughSealing) {
  const SeriesId power = Make(Metric::kPowerW);
  const auto reader = OpenTuned(path_, Ledger::Mode::kReader, clock_, tuning_).value();
  for (int i = 0; i < 500; ++i) {
    Tick(kStart + i * 1000, {{power, 1.0 * i}});
    if (i % 37 == 0) Maintain();
    if (i % 13 != 0) continue;
    const auto seen = reader->Scan(power, WallTime{0}, WallTime{kStart * 2}).value();
    ASSERT_EQ(seen.size(), static_cast<size_t>(i + 1));
    ASSERT_EQ(seen.back().value, i);
    ASSERT_EQ(reader->Latest(power).value()->value, i);
  }
}

TEST_F(SamplesTest, BadTicksAreRefusedWhole) {
  const SeriesId power = Make(Metric::kPowerW);
  const auto refused = [&](WallTime at, const std::vector<TickValue>& values) {
    return !ledger_->Write([&](Writer& w) { return w.AddTick(at, values); });
  };
  EXPECT_TRUE(refused(WallTime{1}, {{power, 1}, {power, 2}}));
  EXPECT_TRUE(refused(WallTime{1}, {{power, 1}, {99, 2}}));
  EXPECT_TRUE(refused(WallTime{INT64_MAX}, {{power, 1}}));
  EXPECT_TRUE(All(power).empty());
}

}  // namespace
}  // namespace stoker::ledger
