// The contract of GpuProbe, held against the simulated driver that STOKER_SIM_NVML names.
#include "device/nvml/nvml_probe.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <limits>
#include <string>

#include "base/durable_file.h"
#include "base/dynlib.h"
#include "base/file.h"
#include "base/process.h"
#include "device/nvml/nvml_card.h"

namespace stoker::device {
namespace {

std::string SimLibrary() {
  const char* path = getenv("STOKER_SIM_NVML");
  return path != nullptr ? path : "";
}
std::string OldLibrary() { return DirName(SimLibrary()) + "/old-driver/libnvidia-ml.so.1"; }

class NvmlProbeTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_FALSE(SimLibrary().empty()) << "STOKER_SIM_NVML must name the simulated driver";
    ASSERT_TRUE(dir_);
    // A box of its own: simulated trainers that run beside this test belong to others.
    setenv("STOKER_SIM_DIR", Path("sim").c_str(), 1);
    Describe(R"({"speed":0,"card":{"noise_ratio":0}})");
    setenv("STOKER_SIM_BOX", Path("box.json").c_str(), 1);
  }

  std::string Path(const std::string& name) const { return dir_->path() + "/" + name; }
  void Describe(const std::string& json) { ASSERT_TRUE(WriteDurably(Path("box.json"), json)); }

  std::unique_ptr<GpuProbe> Open(const std::string& library = SimLibrary()) {
    auto probe = OpenNvml(library, clock_);
    EXPECT_TRUE(probe) << probe.error().Line();
    if (!probe) return nullptr;
    auto handle = DynLib::Open(library);
    EXPECT_TRUE(handle);
    advance_ = handle->Find<int(uint64_t)>("stokerSimAdvance");
    library_ = std::make_unique<DynLib>(std::move(*handle));
    return std::move(*probe);
  }
  // Simulated time; the box also looks at its files and at the processes.
  void Advance(Seconds time) { ASSERT_EQ(advance_(static_cast<uint64_t>(time.count() * 1000)), 0); }

  // A process that asks for cards and loads them as the file says.
  std::unique_ptr<Process> StartLoad(const std::string& cards, const std::string& json) {
    EXPECT_TRUE(WriteDurably(Path("load.json"), json));
    Command command;
    command.argv = {"/bin/sleep", "600"};
    command.environment =
        std::vector<std::string>{"STOKER_SIM_DIR=" + Path("sim"), "CUDA_VISIBLE_DEVICES=" + cards,
                                 "STOKER_SIM_LOAD=" + Path("load.json")};
    auto process = Process::Start(command);
    EXPECT_TRUE(process);
    return std::make_unique<Process>(std::move(*process));
  }

  Result<TempDir> dir_ = TempDir::Make("nvml");
  SystemClock clock_;
  std::unique_ptr<DynLib> library_;
  int (*advance_)(uint64_t) = nullptr;
};

TEST_F(NvmlProbeTest, ListsWhoTheCardsAre) {
  auto probe = Open();
  const auto cards = probe->List();
  ASSERT_TRUE(cards);
  ASSERT_EQ(cards->size(), 8u);
  for (int i = 0; i < 8; ++i) {
    const GpuIdentity& card = (*cards)[static_cast<size_t>(i)];
    EXPECT_EQ(card.index, i);
    EXPECT_EQ(card.name, "NVIDIA RTX PRO 6000 Blackwell (simulated)");
    EXPECT_EQ(card.uuid.substr(0, 4), "GPU-");
    EXPECT_EQ(card.limit_min->value, 150);
    EXPECT_EQ(card.limit_max->value, 600);
    EXPECT_EQ(card.limit_default->value, 600);
    EXPECT_EQ(card.slowdown_at->value, 93);
    EXPECT_EQ(card.pcie_generation_max, 5);
    EXPECT_EQ(card.pcie_width_max, 16);
    EXPECT_NEAR(card.memory_total->value, 102.6e9, 0.1e9);
  }
  EXPECT_NE((*cards)[0].uuid, (*cards)[1].uuid);
  EXPECT_EQ((*cards)[0].pci_bus_id, "00000000:11:00.0");
  EXPECT_TRUE(probe->simulated());
}

TEST_F(NvmlProbeTest, FactsNameVersionsAndSources) {
  auto probe = Open();
  std::string driver, sources;
  for (const auto& [name, value] : probe->Facts()) {
    if (name == "driver") driver = value;
    if (name == "gpu0.sources") sources = value;
  }
  EXPECT_NE(driver.find("simulated"), std::string::npos);
  EXPECT_NE(sources.find("power_average=field 185"), std::string::npos) << sources;
}

TEST_F(NvmlProbeTest, AnIdleCardAnswersEveryField) {
  auto probe = Open();
  Advance(Seconds(10));
  const GpuReading r = probe->Read(0, {});
  ASSERT_TRUE(r.power_average && r.power_instant && r.energy && r.limit && r.busy && r.temperature);
  EXPECT_NEAR(r.power_average->value, r.power_instant->value, 0.5);
  EXPECT_GE(r.power_average->value, 35);
  EXPECT_LE(r.power_average->value, 60);
  EXPECT_EQ(r.limit->value, 600);
  EXPECT_EQ(r.busy->value, 0);
  EXPECT_EQ(r.memory_busy->value, 0);
  EXPECT_EQ(r.temperature->value + r.margin->value, 93);
  EXPECT_EQ(r.memory_used->value, 0);
  EXPECT_EQ(r.sm_clock->value, 180e6);
  EXPECT_EQ(*r.throttle, kReasonGpuIdle);
  EXPECT_EQ(*r.throttled_power_ns, 0u);
  EXPECT_EQ(*r.pcie_generation, 1);
  EXPECT_EQ(*r.pcie_width, 16);
  EXPECT_TRUE(r.processes->empty());
  // The simulated board has no sensor on its memory, as the real one.
  EXPECT_EQ(r.memory_temperature.absence(), Absence::kUnsupported);
  EXPECT_GT(r.took.count(), 0);
}

TEST_F(NvmlProbeTest, AQuickReadLeavesTheDearFieldsOut) {
  auto probe = Open();
  const GpuReading r = probe->Read(0, ReadPlan{.slow = false});
  EXPECT_TRUE(r.power_average);
  EXPECT_EQ(r.memory_used.absence(), Absence::kNotYet);
  EXPECT_EQ(r.processes.absence(), Absence::kNotYet);
  EXPECT_EQ(r.pcie_width.absence(), Absence::kNotYet);
}

TEST_F(NvmlProbeTest, AProcessLoadsItsCardsAndNoOthers) {
  auto probe = Open();
  auto process = StartLoad("1,3", R"({"busy_ratio":0.86,"memory_busy_ratio":0.4,"power_ratio":0.6,
                                      "memory_bytes":34e9})");
  Advance(Seconds(300));
  for (const int card : {1, 3}) {
    const GpuReading r = probe->Read(card, {});
    EXPECT_NEAR(r.busy->value, 0.86, 0.005);
    EXPECT_NEAR(r.memory_busy->value, 0.40, 0.005);
    EXPECT_GT(r.power_average->value, 350);
    EXPECT_GT(r.temperature->value, 55);
    EXPECT_EQ(r.memory_used->value, 34e9);
    EXPECT_EQ(*r.pcie_generation, 5);
    ASSERT_EQ(r.processes->size(), 1u);
    EXPECT_EQ((*r.processes)[0].pid, process->pid());
    EXPECT_EQ((*r.processes)[0].memory->value, 34e9);
  }
  EXPECT_EQ(probe->Read(2, {}).busy->value, 0);
  process.reset();
  Advance(Seconds(1));
  const GpuReading after = probe->Read(1, {});
  EXPECT_EQ(after.busy->value, 0);
  EXPECT_TRUE(after.processes->empty());
}

TEST_F(NvmlProbeTest, TheEnergyCounterIsPowerTimesTime) {
  auto probe = Open();
  auto process = StartLoad("0", R"({"busy_ratio":1,"power_ratio":0.5})");
  Advance(Seconds(1));
  const double before = probe->Read(0, {}).energy->value;
  Advance(Seconds(1000));
  const GpuReading r = probe->Read(0, {});
  EXPECT_NEAR(r.energy->value - before, r.power_average->value * 1000, 10);
}

TEST_F(NvmlProbeTest, ALimitCapsPowerAndIsCounted) {
  Describe(R"({"speed":0,"card":{"noise_ratio":0,"limit_w":300}})");
  auto probe = Open();
  auto process = StartLoad("0", R"({"busy_ratio":1,"power_ratio":1})");
  Advance(Seconds(60));
  const GpuReading r = probe->Read(0, {});
  EXPECT_NEAR(r.power_average->value, 300, 0.5);
  EXPECT_EQ(r.limit->value, 300);
  EXPECT_EQ(*r.throttle, kReasonPowerCap);
  EXPECT_NEAR(static_cast<double>(*r.throttled_power_ns), 60e9, 0.2e9);
  EXPECT_EQ(*r.throttled_sw_thermal_ns, 0u);
  EXPECT_LT(r.sm_clock->value, 2000e6);
}

TEST_F(NvmlProbeTest, AHotRoomSlowsTheCard) {
  Describe(R"({"speed":0,"card":{"noise_ratio":0,"ambient_c":60}})");
  auto probe = Open();
  auto process = StartLoad("0", R"({"busy_ratio":1,"power_ratio":0.9})");
  Advance(Seconds(1200));
  const GpuReading r = probe->Read(0, {});
  EXPECT_TRUE(*r.throttle & kReasonSwThermal);
  EXPECT_GT(*r.throttled_sw_thermal_ns, 60'000'000'000u);
  EXPECT_LE(r.margin->value, 2);
}

struct Refusal {
  const char* code;
  Absence absence;
};
class NvmlRefusalTest : public NvmlProbeTest, public testing::WithParamInterface<Refusal> {};

TEST_P(NvmlRefusalTest, EveryFieldSaysWhy) {
  const std::string code = GetParam().code;
  Describe(R"({"speed":0,"cards":{"1":{"fail":{"*":")" + code + "\"}}}}");
  auto probe = Open();
  const GpuReading r = probe->Read(1, {});
  const Absence why = GetParam().absence;
  EXPECT_EQ(r.power_average.absence(), why);
  EXPECT_EQ(r.power_instant.absence(), why);
  EXPECT_EQ(r.energy.absence(), why);
  EXPECT_EQ(r.limit.absence(), why);
  EXPECT_EQ(r.busy.absence(), why);
  EXPECT_EQ(r.memory_used.absence(), why);
  EXPECT_EQ(r.temperature.absence(), why);
  EXPECT_EQ(r.margin.absence(), why);
  EXPECT_EQ(r.sm_clock.absence(), why);
  EXPECT_EQ(r.throttle.absence(), why);
  EXPECT_EQ(r.throttled_power_ns.absence(), why);
  EXPECT_EQ(r.pcie_width.absence(), why);
  EXPECT_EQ(r.processes.absence(), why);
  // Its neighbours are none the worse.
  EXPECT_TRUE(probe->Read(0, {}).power_average);
  EXPECT_TRUE(probe->Read(2, {}).power_average);
}

INSTANTIATE_TEST_SUITE_P(Codes, NvmlRefusalTest,
                         testing::Values(Refusal{"not_supported", Absence::kUnsupported},
                                         Refusal{"function_not_found", Absence::kUnsupported},
                                         Refusal{"no_permission", Absence::kDenied},
                                         Refusal{"timeout", Absence::kTimeout},
                                         Refusal{"gpu_is_lost", Absence::kLost},
                                         Refusal{"reset_required", Absence::kLost},
                                         Refusal{"unknown", Absence::kError}),
                         [](const auto& info) { return std::string(info.param.code); });

TEST_F(NvmlProbeTest, NumbersThatNoCardHasAreErrors) {
  auto probe = Open();
  ASSERT_TRUE(probe->List());
  Describe(R"({"speed":0,"cards":{"0":{"fail":{
      "nvmlDeviceGetUtilizationRates":"garbage", "nvmlDeviceGetEnforcedPowerLimit":"garbage",
      "nvmlDeviceGetClockInfo":"garbage", "nvmlDeviceGetCurrentClocksEventReasons":"garbage",
      "nvmlDeviceGetTemperatureV":"garbage", "nvmlDeviceGetMemoryInfo_v2":"garbage",
      "nvmlDeviceGetCurrPcieLinkWidth":"garbage",
      "nvmlDeviceGetComputeRunningProcesses_v3":"garbage",
      "field:83":"garbage", "field:185":"garbage", "field:74":"garbage"}}}})");
  Advance(Seconds(1));
  const GpuReading r = probe->Read(0, {});
  EXPECT_EQ(r.busy.absence(), Absence::kError);
  EXPECT_EQ(r.limit.absence(), Absence::kError);
  EXPECT_EQ(r.sm_clock.absence(), Absence::kError);
  EXPECT_EQ(r.throttle.absence(), Absence::kError);
  EXPECT_EQ(r.temperature.absence(), Absence::kError);
  EXPECT_EQ(r.memory_used.absence(), Absence::kError);
  EXPECT_EQ(r.pcie_width.absence(), Absence::kError);
  EXPECT_EQ(r.processes.absence(), Absence::kError);
  EXPECT_EQ(r.energy.absence(), Absence::kError);
  EXPECT_EQ(r.power_average.absence(), Absence::kError);
  EXPECT_EQ(r.throttled_power_ns.absence(), Absence::kError);
  EXPECT_TRUE(r.power_instant);
}

TEST_F(NvmlProbeTest, OneSourceOfPowerStandsInForAnother) {
  // A card whose average is not available but its instant power is, and the other way round.
  Describe(R"({"speed":0,"cards":{
      "0":{"fail":{"field:185":"not_supported","nvmlDeviceGetPowerUsage":"not_supported"}},
      "1":{"fail":{"field:185":"not_supported","field:186":"not_supported",
                   "field:83":"not_supported"}}}})");
  auto probe = Open();
  const GpuReading a = probe->Read(0, {});
  EXPECT_EQ(a.power_average.absence(), Absence::kUnsupported);
  EXPECT_TRUE(a.power_instant);
  const GpuReading b = probe->Read(1, {});
  EXPECT_TRUE(b.power_average);
  EXPECT_EQ(b.power_instant.absence(), Absence::kUnsupported);
  EXPECT_TRUE(b.energy);
}

TEST_F(NvmlProbeTest, ACardThatIsLostStaysListedAndMayComeBack) {
  auto probe = Open();
  const auto before = probe->List();
  ASSERT_TRUE(before);
  Describe(R"({"speed":0,"cards":{"2":{"fail":{"*":"gpu_is_lost"}}}})");
  Advance(Seconds(1));
  EXPECT_EQ(probe->Read(2, {}).power_average.absence(), Absence::kLost);
  const auto during = probe->List();
  ASSERT_TRUE(during);
  ASSERT_EQ(during->size(), 8u);
  EXPECT_EQ((*during)[2].uuid, (*before)[2].uuid);
  EXPECT_EQ(probe->Read(2, {}).power_average.absence(), Absence::kLost);
  Describe(R"({"speed":0})");
  Advance(Seconds(1));
  ASSERT_TRUE(probe->List());
  EXPECT_TRUE(probe->Read(2, {}).power_average);
}

TEST_F(NvmlProbeTest, ACardWithoutAHandleIsListedAndLost) {
  Describe(R"({"speed":0,"cards":{"2":{"fail":{"nvmlDeviceGetHandleByIndex_v2":"gpu_is_lost"}}}})");
  auto probe = Open();
  const auto cards = probe->List();
  ASSERT_TRUE(cards);
  ASSERT_EQ(cards->size(), 8u);
  EXPECT_EQ((*cards)[2].index, 2);
  EXPECT_EQ(probe->Read(2, {}).temperature.absence(), Absence::kLost);
}

TEST_F(NvmlProbeTest, TheNumberOfCardsMayChange) {
  auto probe = Open();
  Describe(R"({"speed":0,"count":3})");
  Advance(Seconds(1));
  // Before anybody lists again the missing ones are simply gone.
  EXPECT_FALSE(probe->Read(5, {}).power_average);
  ASSERT_EQ(probe->List()->size(), 3u);
  EXPECT_EQ(probe->Read(5, {}).power_average.absence(), Absence::kLost);
  Describe(R"({"speed":0,"count":9})");
  Advance(Seconds(1));
  ASSERT_EQ(probe->List()->size(), 9u);
  EXPECT_TRUE(probe->Read(8, {}).power_average);
  EXPECT_EQ(probe->Read(99, {}).power_average.absence(), Absence::kLost);
  EXPECT_EQ(probe->Read(-1, {}).power_average.absence(), Absence::kLost);
}

TEST_F(NvmlProbeTest, ABoxWithoutCardsIsNormal) {
  Describe(R"({"count":0})");
  auto probe = Open();
  EXPECT_TRUE(probe->List()->empty());
}

TEST_F(NvmlProbeTest, AnOldDriverGivesWhatItHas) {
  auto probe = Open(OldLibrary());
  Advance(Seconds(1));
  EXPECT_EQ(probe->List()->size(), 8u);
  const GpuReading r = probe->Read(0, {});
  EXPECT_TRUE(r.power_average);
  EXPECT_EQ(r.power_instant.absence(), Absence::kUnsupported);
  EXPECT_TRUE(r.energy);
  EXPECT_EQ(r.throttled_power_ns.absence(), Absence::kUnsupported);
  EXPECT_TRUE(r.memory_used);
  EXPECT_TRUE(r.processes);
  EXPECT_TRUE(r.throttle);
  // No call for the margin: it follows from the threshold that the card publishes.
  EXPECT_EQ(r.margin->value, 93 - r.temperature->value);
}

TEST_F(NvmlProbeTest, AFileThatIsNoLibraryIsOneClearLine) {
  ASSERT_TRUE(WriteDurably(Path("dead.so"), "not a library"));
  const auto probe = OpenNvml(Path("dead.so"), clock_);
  ASSERT_FALSE(probe);
  EXPECT_EQ(probe.error().code, Code::kInvalid);
  const std::string line = probe.error().Line();
  EXPECT_NE(line.find("cannot be loaded as a library"), std::string::npos) << line;
  EXPECT_NE(line.find("dead.so"), std::string::npos);
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST_F(NvmlProbeTest, AnotherLibraryIsOneClearLine) {
  const auto probe = OpenNvml("libm.so.6", clock_);
  ASSERT_FALSE(probe);
  EXPECT_EQ(probe.error().code, Code::kInvalid);
  EXPECT_NE(probe.error().Line().find("nvmlInit is missing"), std::string::npos);
}

TEST_F(NvmlProbeTest, AMissingLibraryIsNotFound) {
  const auto probe = OpenNvml(Path("nothing.so"), clock_);
  ASSERT_FALSE(probe);
  EXPECT_EQ(probe.error().code, Code::kNotFound);
}

TEST_F(NvmlProbeTest, ADescriptionThatIsWrongSaysWhere) {
  Describe(R"({"count":900})");
  const auto probe = OpenNvml(SimLibrary(), clock_);
  ASSERT_FALSE(probe);
  EXPECT_EQ(probe.error().code, Code::kUnavailable);
  EXPECT_NE(probe.error().Line().find("\"count\" must be"), std::string::npos)
      << probe.error().Line();
}

nvml::FieldValue Field(uint32_t type, nvml::Value value) {
  nvml::FieldValue field = {};
  field.value_type = type;
  field.value = value;
  return field;
}

TEST(DecodeField, TakesEveryTypeAndNoNonsense) {
  using nvml::DecodeField;
  nvml::Value v = {};
  v.d = 12.4;
  EXPECT_EQ(*DecodeField(Field(nvml::kTypeDouble, v)), 12u);
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity(), -1.0, 1e300}) {
    v.d = bad;
    EXPECT_EQ(DecodeField(Field(nvml::kTypeDouble, v)).absence(), Absence::kError) << bad;
  }
  v.u64 = 70'000;
  EXPECT_EQ(*DecodeField(Field(nvml::kTypeU32, v)), 70'000u);
  EXPECT_EQ(*DecodeField(Field(nvml::kTypeU64, v)), 70'000u);
  EXPECT_EQ(*DecodeField(Field(nvml::kTypeI64, v)), 70'000u);
  v.i64 = -1;
  for (uint32_t type = 1; type <= 9; ++type) {
    EXPECT_EQ(DecodeField(Field(type, v)).absence(), Absence::kError) << type;
  }
  v.u64 = 9223372036854775794u;  // a well-known "blank" of others
  EXPECT_EQ(DecodeField(Field(nvml::kTypeU64, v)).absence(), Absence::kError);
}

}  // namespace
}  // namespace stoker::device
