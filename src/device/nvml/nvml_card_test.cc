// Cards behind functions of the test's own: what a driver does that the simulated one does not.
#include "device/nvml/nvml_card.h"

#include <gtest/gtest.h>

namespace stoker::device::nvml {
namespace {

// The functions are free ones, so what they share must be found without an argument.
struct Driver {
  FakeClock clock;
  int energy_us = 0;  // what one answer takes
  int margin_us = 0;
  int asked_fields = 0;
  uint32_t processes = 0;
  int margin_c = 50;
};
Driver* driver = nullptr;

int FieldValues(Device, int count, FieldValue* fields) {
  driver->asked_fields = count;
  for (int i = 0; i < count; ++i) {
    fields[i].code = kSuccess;
    fields[i].value_type = kTypeU64;
    fields[i].value.u64 = 100'000;
    if (fields[i].field_id == kFieldEnergyMj) driver->clock.Tick(Millis(driver->energy_us / 1000));
    if (fields[i].field_id == kFieldMemoryTemperature) fields[i].code = kInvalidArgument;
  }
  return kSuccess;
}
int Margin(Device, MarginTemperature* out) {
  driver->clock.Tick(Millis(driver->margin_us / 1000));
  out->margin_c = driver->margin_c;
  return kSuccess;
}
int Processes(Device, uint32_t* count, ProcessV3* out) {
  const uint32_t room = *count;
  *count = driver->processes;
  if (room < driver->processes) return kInsufficientSize;
  for (uint32_t i = 0; i < driver->processes; ++i) out[i] = {i + 1, ~uint64_t{0}, 0, 0};
  return kSuccess;
}

class NvmlCardTest : public testing::Test {
 protected:
  void SetUp() override {
    driver = &driver_;
    functions_.field_values = FieldValues;
    functions_.margin = Margin;
    functions_.processes_v3 = Processes;
  }
  void TearDown() override { driver = nullptr; }
  Card Meet() { return Card(functions_, 0, nullptr, driver_.clock); }

  Driver driver_;
  Functions functions_;
};

TEST_F(NvmlCardTest, CheapAnswersComeInEveryCycle) {
  Card card = Meet();
  const GpuReading r = card.Read({.slow = false});
  EXPECT_EQ(r.energy->value, 100);
  EXPECT_EQ(r.margin->value, 50);
  EXPECT_EQ(r.throttled_hw_thermal_ns.has_value(), true);
}

TEST_F(NvmlCardTest, DearAnswersComeInSlowCyclesOnly) {
  driver_.energy_us = 4000;
  driver_.margin_us = 1000;
  Card card = Meet();
  const GpuReading quick = card.Read({.slow = false});
  EXPECT_EQ(quick.took.count(), 0);
  EXPECT_EQ(quick.energy.absence(), Absence::kNotYet);
  EXPECT_EQ(quick.margin.absence(), Absence::kNotYet);
  EXPECT_EQ(quick.power_average->value, 100);
  EXPECT_EQ(*quick.throttled_power_ns, 100'000u);
  const GpuReading slow = card.Read({.slow = true});
  EXPECT_EQ(slow.energy->value, 100);
  EXPECT_EQ(slow.margin->value, 50);
  EXPECT_NE(card.Sources().find("energy=field 83 (4000 us, slow cycles)"), std::string::npos)
      << card.Sources();
}

TEST_F(NvmlCardTest, AFieldThatTheDriverDoesNotKnowIsAskedForNoMore) {
  Card card = Meet();
  EXPECT_EQ(card.Read({}).memory_temperature.absence(), Absence::kUnsupported);
  EXPECT_EQ(driver_.asked_fields, 7);
}

TEST_F(NvmlCardTest, ListsMoreProcessesThanThereWasRoomFor) {
  driver_.processes = 900;
  Card card = Meet();
  const GpuReading r = card.Read({});
  ASSERT_TRUE(r.processes);
  ASSERT_EQ(r.processes->size(), 900u);
  EXPECT_EQ((*r.processes)[899].pid, 900);
  EXPECT_EQ((*r.processes)[0].memory.absence(), Absence::kUnsupported);
  driver_.processes = 1'000'000'000;  // no box runs so many: not worth the memory
  EXPECT_EQ(card.Read({}).processes.absence(), Absence::kError);
}

TEST_F(NvmlCardTest, AMarginMayBeBelowZeroButNotAbsurd) {
  driver_.margin_c = -3;
  Card card = Meet();
  EXPECT_EQ(card.Read({}).margin->value, -3);
  driver_.margin_c = -100'000;
  EXPECT_EQ(card.Read({}).margin.absence(), Absence::kError);
}

TEST_F(NvmlCardTest, WithoutFunctionsEverythingIsUnsupported) {
  const Functions none;
  Card card(none, 0, nullptr, driver_.clock);
  const GpuReading r = card.Read({});
  EXPECT_EQ(r.busy.absence(), Absence::kUnsupported);
  EXPECT_EQ(r.energy.absence(), Absence::kUnsupported);
  EXPECT_EQ(r.processes.absence(), Absence::kUnsupported);
}

}  // namespace
}  // namespace stoker::device::nvml
