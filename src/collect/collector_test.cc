#include "collect/collector.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"

namespace stoker::collect {
namespace {

using device::GpuIdentity;
using device::GpuReading;
using device::HostReading;
using device::ReadPlan;
using ledger::Ledger;
using ledger::Metric;
using ledger::Scope;
using ledger::Subject;

class FakeGpuProbe final : public device::GpuProbe {
 public:
  Result<std::vector<GpuIdentity>> List() override {
    ++lists;
    if (!answers) return Unavailable("the driver does not answer", "fake");
    return cards;
  }
  GpuReading Read(int index, const ReadPlan& plan) override {
    GpuReading r = readings[index];
    if (!plan.slow) r.memory_used = Absence::kNotYet;
    return r;
  }
  std::vector<std::pair<std::string, std::string>> Facts() override {
    return {{"driver", "580.65.06"}};
  }
  bool simulated() const override { return simulation; }

  static GpuIdentity Card(int index) {
    GpuIdentity card;
    card.index = index;
    card.uuid = "GPU-" + std::to_string(index);
    card.name = "a card";
    card.limit_default = Watts(600);
    return card;
  }
  static GpuReading Good() {
    GpuReading r;
    r.took = std::chrono::microseconds(1500);
    r.power_average = Watts(440.61);
    r.power_instant = Absence::kUnsupported;
    r.busy = Ratio(0.86);
    r.temperature = Celsius(71);
    r.memory_used = Bytes(34e9);
    r.throttle = device::ThrottleBits{0};
    r.throttled_power_ns = uint64_t{2'500'000'000};
    return r;
  }
  static GpuReading Lost() {
    GpuReading r;
    r.power_average = Absence::kLost;
    r.temperature = Absence::kLost;
    r.busy = Absence::kLost;
    r.throttle = Absence::kLost;
    return r;
  }

  std::vector<GpuIdentity> cards;
  std::map<int, GpuReading> readings;
  bool answers = true;
  bool simulation = false;
  int lists = 0;
};

class FakeHostProbe final : public device::HostProbe {
 public:
  device::HostFacts Facts() override {
    device::HostFacts facts;
    facts.hostname = "vast";
    facts.kernel = "6.1";
    facts.cores = 2;
    return facts;
  }
  HostReading Read() override { return reading; }
  HostReading reading;
};

class CollectorTest : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = TempDir::Make().value();
    ledger_ = Ledger::Open(dir_->path() + "/ledger.db", Ledger::Mode::kWriter, clock_).value();
    for (int i = 0; i < 2; ++i) {
      gpus_.cards.push_back(FakeGpuProbe::Card(i));
      gpus_.readings[i] = FakeGpuProbe::Good();
    }
    host_.reading.cpu_busy = Ratio(0.25);
    host_.reading.core_busy = {Ratio(0.5), Absence::kError};
    host_.reading.disks = {{"nvme0n1", 1e6, Absence::kNotYet, Ratio(0.1)}};
    host_.reading.nets = {{"eth0", 5e5, 6e5}};
    Restart();
  }
  void Restart(device::GpuProbe* gpus) {
    collector_ = std::make_unique<Collector>(config_, gpus, host_, *ledger_, log_, clock_);
  }
  void Restart() { Restart(&gpus_); }
  void Tick(int times = 1) {
    for (int i = 0; i < times; ++i) {
      const Status done = collector_->Tick();
      ASSERT_TRUE(done) << done.error().Line();
      clock_.Tick(Millis(1000));
    }
  }
  std::vector<ledger::Sample> Samples(Metric metric, const Subject& subject) {
    const auto id = ledger_->FindSeries(metric, subject).value();
    if (!id) return {};
    return ledger_->Scan(*id, WallTime{0}, WallTime{INT64_MAX / 2}).value();
  }
  Subject CardSubject(int gpu) {
    const auto cards = ledger_->Cards().value();
    for (const ledger::Card& card : cards) {
      if (card.gpu == gpu) return {Scope::kCard, card.id, ""};
    }
    return {Scope::kCard, -1, ""};
  }
  // "gpu.lost:1 …": the kinds and the card's index, of all events with this prefix.
  std::vector<std::string> Kinds(const std::string& prefix) {
    ledger::EventFilter filter;
    filter.kind_prefix = prefix;
    std::vector<std::string> out;
    const auto cards = ledger_->Cards().value();
    const auto events = ledger_->Events(filter).value();
    for (const ledger::Event& event : events) {
      out.push_back(event.kind);
      for (const ledger::Card& card : cards) {
        if (event.card == card.id) out.back() += ":" + std::to_string(card.gpu);
      }
    }
    return out;
  }
  using Words = std::vector<std::string>;

  FakeClock clock_;
  std::optional<TempDir> dir_;
  std::unique_ptr<Ledger> ledger_;
  FakeGpuProbe gpus_;
  FakeHostProbe host_;
  NullLogger log_;
  Config config_;
  std::unique_ptr<Collector> collector_;
};

TEST_F(CollectorTest, TheBoxAndItsCardsAreWritten) {
  ASSERT_TRUE(collector_->Begin());
  const auto boxes = ledger_->Boxes().value();
  ASSERT_EQ(boxes.size(), 1u);
  EXPECT_EQ(boxes[0].hostname, "vast");
  EXPECT_NE(boxes[0].facts_json.find("580.65.06"), std::string::npos);
  const auto cards = ledger_->Cards().value();
  ASSERT_EQ(cards.size(), 2u);
  EXPECT_EQ(cards[1].uuid, "GPU-1");
  EXPECT_EQ(cards[1].limit_default_w, 600);
  EXPECT_FALSE(cards[1].memory_bytes);
  EXPECT_FALSE(cards[1].simulated);
  EXPECT_EQ(Kinds(""), (Words{"stoker.started", "gpu.appeared:0", "gpu.appeared:1"}));
  ASSERT_TRUE(collector_->Begin());
  Tick(30);
  Restart();
  Tick(2);
  EXPECT_EQ(Kinds("gpu."), (Words{"gpu.appeared:0", "gpu.appeared:1"}));
  EXPECT_EQ(Kinds("stoker."), (Words{"stoker.started", "stoker.started"}));
}

TEST_F(CollectorTest, EveryAnswerIsAValueOrItsReason) {
  gpus_.readings[1].power_average = Absence::kTimeout;
  Tick(3);
  const auto watts = Samples(Metric::kPowerW, CardSubject(0));
  ASSERT_EQ(watts.size(), 3u);
  EXPECT_EQ(watts[0].value, 440.61);
  EXPECT_EQ(watts[1].at - watts[0].at, Millis(1000));
  EXPECT_EQ(Samples(Metric::kPowerW, CardSubject(1))[2].absence, Absence::kTimeout);
  EXPECT_EQ(Samples(Metric::kPowerInstantW, CardSubject(0))[0].absence, Absence::kUnsupported);
  EXPECT_EQ(Samples(Metric::kThrottledPowerS, CardSubject(0))[0].value, 2.5);
  EXPECT_EQ(Samples(Metric::kReadCostS, CardSubject(0))[0].value, 0.0015);
  EXPECT_EQ(Samples(Metric::kCpuBusyRatio, {})[0].value, 0.25);
  EXPECT_EQ(Samples(Metric::kCoreBusyRatio, {Scope::kCore, 0, ""})[0].value, 0.5);
  EXPECT_EQ(Samples(Metric::kCoreBusyRatio, {Scope::kCore, 1, ""})[0].absence, Absence::kError);
  EXPECT_EQ(Samples(Metric::kDiskReadBytesPerS, {Scope::kDisk, 0, "nvme0n1"})[0].value, 1e6);
  EXPECT_TRUE(Samples(Metric::kDiskWrittenBytesPerS, {Scope::kDisk, 0, "nvme0n1"}).empty());
  EXPECT_EQ(Samples(Metric::kNetSentBytesPerS, {Scope::kNet, 0, "eth0"})[0].value, 6e5);
}

TEST_F(CollectorTest, DearReadsComeEveryTenthTick) {
  Tick(21);
  EXPECT_EQ(Samples(Metric::kMemoryUsedBytes, CardSubject(0)).size(), 3u);
  EXPECT_EQ(Samples(Metric::kTemperatureC, CardSubject(0)).size(), 21u);
}

TEST_F(CollectorTest, ItsOwnCostIsOnRecord) {
  Tick(3);
  EXPECT_GT(Samples(Metric::kServeMemoryBytes, {})[0].value, 1e6);
  const auto cpu = Samples(Metric::kServeCpuRatio, {});
  ASSERT_EQ(cpu.size(), 2u);  // the first read has nothing to compare with
  EXPECT_GE(cpu[0].value, 0);
}

TEST_F(CollectorTest, ABoxWithoutCardsShowsItsHost) {
  Restart(nullptr);
  Tick(2);
  EXPECT_TRUE(ledger_->Cards()->empty());
  EXPECT_EQ(Samples(Metric::kCpuBusyRatio, {}).size(), 2u);
  EXPECT_EQ(Kinds(""), (Words{"stoker.started"}));
}

TEST_F(CollectorTest, ACardThatStopsAnsweringIsLostAfterThreeReadsAndComesBack) {
  Tick(5);
  gpus_.readings[1] = FakeGpuProbe::Lost();
  Tick(2);
  gpus_.readings[1] = FakeGpuProbe::Good();  // a hiccup is no loss
  Tick(5);
  EXPECT_EQ(Kinds("gpu.l"), Words{});
  gpus_.readings[1] = FakeGpuProbe::Lost();
  Tick(20);
  EXPECT_EQ(Kinds("gpu.l"), (Words{"gpu.lost:1"}));
  EXPECT_FALSE(ledger_->Cards()->at(1).present);
  const auto watts = Samples(Metric::kPowerW, CardSubject(1));
  EXPECT_EQ(watts.back().absence, Absence::kLost);
  gpus_.readings[1] = FakeGpuProbe::Good();
  Tick(5);
  EXPECT_EQ(Kinds("gpu.b"), (Words{"gpu.back:1"}));
  EXPECT_TRUE(ledger_->Cards()->at(1).present);
}

TEST_F(CollectorTest, CardsThatLeaveAndJoinTheListAreSeen) {
  Tick(5);
  gpus_.cards.pop_back();
  Tick(20);
  EXPECT_EQ(Kinds("gpu.l"), (Words{"gpu.lost:1"}));
  EXPECT_EQ(Samples(Metric::kTemperatureC, CardSubject(1)).back().absence, Absence::kLost);
  gpus_.cards.push_back(FakeGpuProbe::Card(1));
  gpus_.cards.push_back(FakeGpuProbe::Card(2));
  gpus_.readings[2] = FakeGpuProbe::Good();
  Tick(20);
  EXPECT_EQ(Kinds("gpu.b"), (Words{"gpu.back:1"}));
  EXPECT_EQ(Kinds("gpu.a"), (Words{"gpu.appeared:0", "gpu.appeared:1", "gpu.appeared:2"}));
  EXPECT_EQ(Samples(Metric::kTemperatureC, CardSubject(1)).back().value, 71);
  EXPECT_TRUE(ledger_->Cards()->at(1).present);
}

TEST_F(CollectorTest, CardsGoneWhileStokerWasDownAreSaidUnlessSimulated) {
  Tick();
  gpus_.cards.pop_back();
  Restart();
  Tick();
  EXPECT_EQ(Kinds("gpu.l"), (Words{"gpu.lost:1"}));
  EXPECT_FALSE(ledger_->Cards()->at(1).present);
  gpus_.simulation = true;
  gpus_.cards = {FakeGpuProbe::Card(5)};
  gpus_.readings[5] = FakeGpuProbe::Good();
  Restart();
  Tick();
  const size_t losses = Kinds("gpu.l").size();
  Restart(nullptr);
  Tick();
  EXPECT_EQ(Kinds("gpu.l").size(), losses);
}

TEST_F(CollectorTest, ADriverThatDoesNotListIsNoLoss) {
  Tick(5);
  gpus_.answers = false;
  Tick(40);
  EXPECT_EQ(Kinds("gpu.l"), Words{});
  EXPECT_GE(gpus_.lists, 3);
  Restart();
  EXPECT_FALSE(collector_->Tick());
  gpus_.answers = true;
  Tick(2);  // begins by itself
  EXPECT_EQ(Kinds("stoker.").size(), 2u);
}

TEST_F(CollectorTest, ThrottlingIsSaidOnceWithItsReasonAndFigures) {
  Tick(5);
  for (int i = 0; i < 20; ++i) {  // flickers, never three reads in a row
    gpus_.readings[0].throttle =
        i % 3 == 0 ? device::ThrottleBits{0} : device::kReasonPowerCap | device::kReasonGpuIdle;
    Tick();
  }
  EXPECT_EQ(Kinds("throttle."), Words{});
  gpus_.readings[0].throttle = device::kReasonHwThermal;
  gpus_.readings[0].power_average = Watts(598.2);
  gpus_.readings[0].temperature = Celsius(93);
  Tick(30);
  gpus_.readings[0].throttle = Absence::kTimeout;  // no answer is no end
  Tick(30);
  EXPECT_EQ(Kinds("throttle."), (Words{"throttle.began:0"}));
  gpus_.readings[0].throttle = device::ThrottleBits{0};
  Tick(9);
  EXPECT_EQ(Kinds("throttle.").size(), 1u);
  Tick(5);
  EXPECT_EQ(Kinds("throttle."), (Words{"throttle.began:0", "throttle.ended:0"}));
  const auto events = ledger_->Events({.kind_prefix = "throttle."}).value();
  EXPECT_NE(events[0].text.find("hw_thermal at 598 W, 93 °C"), std::string::npos) << events[0].text;
  EXPECT_EQ(events[0].severity, ledger::Severity::kWarning);
  EXPECT_NE(events[0].data_json.find("\"reason\":\"hw_thermal\""), std::string::npos);
  EXPECT_NE(events[1].data_json.find("\"seconds\":"), std::string::npos);
}

TEST_F(CollectorTest, AWallClockThatIsSetIsSaid) {
  Tick(3);
  clock_.StepWall(Millis(1500));
  Tick(2);
  EXPECT_EQ(Kinds("clock."), Words{});
  clock_.StepWall(Millis(-90'000));
  Tick(3);
  EXPECT_EQ(Kinds("clock."), (Words{"clock.stepped"}));
  const auto events = ledger_->Events({.kind_prefix = "clock."}).value();
  EXPECT_NE(events[0].text.find("back"), std::string::npos) << events[0].text;
  EXPECT_NE(events[0].data_json.find("-90"), std::string::npos);
}

}  // namespace
}  // namespace stoker::collect
