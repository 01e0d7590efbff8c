// One card behind the library: what it can answer is tried once when it is met, then every read
// takes the cheapest calls that work. Numbers that no card can have are kError, never passed on.
#pragma once

#include <array>
#include <bitset>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "device/gpu_probe.h"
#include "device/nvml/nvml_library.h"

namespace stoker::device::nvml {

class Card {
 public:
  // Asks who the card is; what it does not say stays empty or absent. Tries what each answer costs:
  // one that takes the driver longer than kDear is asked for in slow cycles only. Both must outlive
  // it.
  Card(const Functions& functions, int index, Device handle, const Clock& clock);
  static constexpr std::chrono::microseconds kDear{200};

  const GpuIdentity& identity() const { return identity_; }
  GpuReading Read(const ReadPlan& plan);
  // True once a call said that the card is off the bus or needs a reset.
  bool lost() const { return lost_; }
  // Whether `handle` is this very card, alive; false after a swap, a loss or a reload of the
  // driver.
  bool StillIs(Device handle);
  // "power_average=field 185, energy=field 83 (3400 us, slow cycles), …"
  std::string Sources() const;

 private:
  // Calls that a card may refuse for ever; then they are not made again.
  enum Call {
    kCallPower,
    kCallEnergy,
    kCallLimit,
    kCallUtilization,
    kCallMemoryV2,
    kCallMemoryV1,
    kCallTemperatureV,
    kCallTemperature,
    kCallMargin,
    kCallSmClock,
    kCallMemoryClock,
    kCallReasons,
    kCallPcieGeneration,
    kCallPcieWidth,
    kCallProcessesV3,
    kCallProcessesV1,
    kCallCount,
  };
  // Places in fields_.
  enum Field {
    kEnergy,
    kPowerAverage,
    kPowerInstant,
    kThrottledPower,
    kThrottledSwThermal,
    kThrottledHwThermal,
    kThrottledBrake,
    kMemoryTemperature,
    kFieldCount,
  };

  void AskIdentity();
  void AskLimits();
  void AskFieldSupport();
  void AskCosts();
  // What one call takes: the least of three, since the first may wake something up.
  template <typename Ask>
  std::chrono::nanoseconds CostOf(Ask ask) const;
  std::string SourceOf(Field field, uint32_t id, bool call) const;
  void AskSlowdown();
  std::string AskText(nvml::AskText* ask);

  // What a refusal means; remembers it where it is for ever or the card is lost.
  Absence Refused(Call call, int code);
  // Not worth asking: no such function, refused for ever, or the card is lost.
  bool Skip(Call call, const void* function) const;
  Absence SkipReason() const { return lost_ ? Absence::kLost : Absence::kUnsupported; }
  Reading<uint64_t> Number(Call call, AskU32* ask);
  // Asks `call` for a number through `ask(uint32_t*)`.
  template <typename Ask>
  Reading<uint64_t> NumberBy(Call call, const void* function, Ask ask);

  void ReadFields(GpuReading& out);
  void ReadPower(GpuReading& out);
  void ReadLoad(GpuReading& out);
  void ReadHeat(GpuReading& out);
  void ReadSlow(GpuReading& out);
  Reading<uint64_t> FieldNumber(Field field) const;
  Reading<Bytes> MemoryUsed();
  Reading<Celsius> Temperature();
  Reading<Celsius> Margin(const Reading<Celsius>& temperature);
  Reading<std::vector<GpuProcess>> Processes();
  template <typename Entry, typename Ask>
  Reading<std::vector<GpuProcess>> ProcessesBy(Call call, Ask* ask);

  const Functions& f_;
  const Device handle_;
  const Clock& clock_;
  GpuIdentity identity_;
  bool lost_ = false;
  std::bitset<kCallCount> refused_;
  std::array<bool, kFieldCount> field_works_{};
  // What is worth asking, the cheap ones first; one GetFieldValues call a read.
  std::vector<Field> asked_;
  size_t cheap_ = 0;  // how many of asked_ a quick cycle asks for
  std::vector<FieldValue> answers_;
  std::array<FieldValue, kFieldCount> fields_{};  // the latest answers
  std::array<std::chrono::nanoseconds, kFieldCount> field_cost_{};
  std::chrono::nanoseconds margin_cost_{0}, energy_call_cost_{0};
  bool slow_ = true;  // the present read is of a slow cycle
  bool margin_from_threshold_ = false;
};

// A reading without any value, for the same reason in every field.
GpuReading NothingBecause(Absence why, const Clock& clock);

// The number in a field's answer, or why there is none. Sentinels, negative and broken numbers are
// kError.
Reading<uint64_t> DecodeField(const FieldValue& field);

}  // namespace stoker::device::nvml
