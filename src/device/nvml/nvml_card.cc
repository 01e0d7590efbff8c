// Reading a card.
#include "device/nvml/nvml_card.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "device/nvml/nvml_sanity.h"

namespace stoker::device::nvml {

GpuReading NothingBecause(Absence why, const Clock& clock) {
  GpuReading r;
  r.at = clock.Now();
  r.power_average = r.power_instant = r.limit = why;
  r.energy = why;
  r.busy = r.memory_busy = why;
  r.memory_used = why;
  r.temperature = r.memory_temperature = r.margin = why;
  r.sm_clock = r.memory_clock = why;
  r.throttle = why;
  r.throttled_power_ns = r.throttled_sw_thermal_ns = r.throttled_hw_thermal_ns =
      r.throttled_power_brake_ns = why;
  r.pcie_generation = r.pcie_width = why;
  r.processes = why;
  return r;
}

Reading<uint64_t> DecodeField(const FieldValue& field) {
  if (field.code != kSuccess) return AbsenceOf(field.code);
  const auto bounded = [](uint64_t value, uint64_t absurd) -> Reading<uint64_t> {
    if (value >= absurd) return Absence::kError;
    return value;
  };
  switch (field.value_type) {
    case kTypeDouble:
      if (!(field.value.d >= 0 && field.value.d < 9e15)) return Absence::kError;
      return static_cast<uint64_t>(std::llround(field.value.d));
    case kTypeU32:
      return bounded(field.value.u32, kAbsurd32);
    case kTypeUlong:
    case kTypeU64:
      return bounded(field.value.u64, kAbsurd64);
    case kTypeI64:
      if (field.value.i64 < 0) return Absence::kError;
      return bounded(static_cast<uint64_t>(field.value.i64), kAbsurd64);
    case kTypeI32:
      if (field.value.i32 < 0) return Absence::kError;
      return bounded(static_cast<uint64_t>(field.value.i32), kAbsurd32);
    case kTypeU16:
      return bounded(field.value.u16, 0xffff);
    default:
      return Absence::kError;
  }
}

bool Card::Skip(Call call, const void* function) const {
  return lost_ || function == nullptr || refused_.test(call);
}

Absence Card::Refused(Call call, int code) {
  const Absence why = AbsenceOf(code);
  if (why == Absence::kLost) lost_ = true;
  if (why == Absence::kUnsupported) refused_.set(call);
  return why;
}

template <typename Ask>
Reading<uint64_t> Card::NumberBy(Call call, const void* function, Ask ask) {
  if (Skip(call, function)) return SkipReason();
  uint32_t value = 0;
  const int code = ask(&value);
  if (code != kSuccess) return Refused(call, code);
  if (value >= kAbsurd32) return Absence::kError;
  return uint64_t{value};
}

Reading<uint64_t> Card::Number(Call call, AskU32* ask) {
  return NumberBy(call, Address(ask), [&](uint32_t* out) { return ask(handle_, out); });
}

GpuReading Card::Read(const ReadPlan& plan) {
  // A card that was lost may have come back: each read finds out afresh with its first call.
  lost_ = false;
  slow_ = plan.slow;
  const MonoTime begin = clock_.Mono();
  GpuReading out;
  out.at = clock_.Now();
  ReadFields(out);
  ReadPower(out);
  ReadLoad(out);
  ReadHeat(out);
  if (slow_) ReadSlow(out);
  if (lost_) {
    const WallTime at = out.at;
    out = NothingBecause(Absence::kLost, clock_);
    out.at = at;
  }
  out.took = clock_.Mono() - begin;
  return out;
}

Reading<uint64_t> Card::FieldNumber(Field field) const {
  if (!field_works_[field]) return Absence::kUnsupported;
  if (!slow_ && field_cost_[field] > kDear) return Absence::kNotYet;
  return DecodeField(fields_[field]);
}

void Card::ReadFields(GpuReading& out) {
  const size_t count = slow_ ? asked_.size() : cheap_;
  if (count > 0) {
    for (size_t i = 0; i < count; ++i) {
      answers_[i] = {};
      answers_[i].field_id = fields_[asked_[i]].field_id;
      answers_[i].code = kNoData;
    }
    const int code = f_.field_values(handle_, static_cast<int>(count), answers_.data());
    for (size_t i = 0; i < count; ++i) {
      FieldValue& field = fields_[asked_[i]];
      field = answers_[i];
      if (code != kSuccess) field.code = code;
      if (AbsenceOf(field.code) == Absence::kLost) lost_ = true;
    }
  }
  const auto nanoseconds = [this](Field field) { return FieldNumber(field); };
  out.throttled_power_ns = nanoseconds(kThrottledPower);
  out.throttled_sw_thermal_ns = nanoseconds(kThrottledSwThermal);
  out.throttled_hw_thermal_ns = nanoseconds(kThrottledHwThermal);
  out.throttled_power_brake_ns = nanoseconds(kThrottledBrake);
  out.memory_temperature = Heat(FieldNumber(kMemoryTemperature));
}

void Card::ReadPower(GpuReading& out) {
  out.power_instant = Power(FieldNumber(kPowerInstant));
  // The single call's meaning depends on the card's age; on all cards that have these fields it is
  // the mean of the last second.
  out.power_average = Power(field_works_[kPowerAverage] ? FieldNumber(kPowerAverage)
                                                        : Number(kCallPower, f_.power_usage));
  if (field_works_[kEnergy]) {
    out.energy = Energy(FieldNumber(kEnergy));
  } else if (Skip(kCallEnergy, Address(f_.energy))) {
    out.energy = SkipReason();
  } else if (slow_ || energy_call_cost_ <= kDear) {
    uint64_t millijoules = 0;
    const int code = f_.energy(handle_, &millijoules);
    if (code != kSuccess) {
      out.energy = Refused(kCallEnergy, code);
    } else if (millijoules >= kAbsurd64) {
      out.energy = Absence::kError;
    } else {
      out.energy = Energy(millijoules);
    }
  }
  out.limit = Power(Number(kCallLimit, f_.enforced_limit));
}

void Card::ReadLoad(GpuReading& out) {
  if (Skip(kCallUtilization, Address(f_.utilization))) {
    out.busy = out.memory_busy = SkipReason();
  } else {
    Utilization use = {};
    const int code = f_.utilization(handle_, &use);
    const auto share = [&](uint32_t percent) -> Reading<Ratio> {
      if (percent > 100) return Absence::kError;
      return RatioFromPercent(percent);
    };
    if (code != kSuccess) {
      out.busy = out.memory_busy = Refused(kCallUtilization, code);
    } else {
      out.busy = share(use.gpu_percent);
      out.memory_busy = share(use.memory_percent);
    }
  }
  const auto clock = [this](Call call, int domain) {
    const auto mhz = NumberBy(call, Address(f_.clock),
                              [&](uint32_t* v) { return f_.clock(handle_, domain, v); });
    return Within<Hertz>(mhz, 1, 0, kClockMostMhz,
                         [](double value) { return HertzFromMegahertz(value); });
  };
  out.sm_clock = clock(kCallSmClock, kClockSm);
  out.memory_clock = clock(kCallMemoryClock, kClockMemory);
  if (Skip(kCallReasons, Address(f_.reasons))) {
    out.throttle = SkipReason();
    return;
  }
  uint64_t bits = 0;
  const int code = f_.reasons(handle_, &bits);
  if (code != kSuccess) {
    out.throttle = Refused(kCallReasons, code);
  } else if (bits == ~uint64_t{0} || bits == 0xffffffff) {
    out.throttle = Absence::kError;
  } else {
    out.throttle = bits;
  }
}

Reading<Celsius> Card::Temperature() {
  if (!Skip(kCallTemperatureV, Address(f_.temperature_v))) {
    TemperatureV t = {VersionOf<TemperatureV>(1), kSensorGpu, 0};
    const int code = f_.temperature_v(handle_, &t);
    if (code == kSuccess) {
      // Below freezing is absurd for a chip with power on it.
      if (t.temperature_c < 0) return Absence::kError;
      return Heat(static_cast<uint64_t>(t.temperature_c));
    }
    const Absence why = Refused(kCallTemperatureV, code);
    if (why != Absence::kUnsupported) return why;
  }
  return Heat(NumberBy(kCallTemperature, Address(f_.temperature),
                       [&](uint32_t* v) { return f_.temperature(handle_, kSensorGpu, v); }));
}

Reading<Celsius> Card::Margin(const Reading<Celsius>& temperature) {
  if (margin_from_threshold_) {
    if (!temperature) return temperature.absence();
    return *identity_.slowdown_at - *temperature;
  }
  if (Skip(kCallMargin, Address(f_.margin))) return SkipReason();
  if (!slow_ && margin_cost_ > kDear) return Absence::kNotYet;
  MarginTemperature margin = {VersionOf<MarginTemperature>(1), 0};
  const int code = f_.margin(handle_, &margin);
  if (code != kSuccess) return Refused(kCallMargin, code);
  // Past the threshold the margin is negative, but never by much; all ones is -1 and cannot be told
  // from one degree too hot.
  if (margin.margin_c < -100 || margin.margin_c > kHottestC) return Absence::kError;
  return Celsius(margin.margin_c);
}

void Card::ReadHeat(GpuReading& out) {
  out.temperature = Temperature();
  out.margin = Margin(out.temperature);
}

Reading<Bytes> Card::MemoryUsed() {
  const auto checked = [this](uint64_t used) -> Reading<Bytes> {
    const double most =
        identity_.memory_total ? identity_.memory_total->value : double{kMemoryMostBytes};
    if (static_cast<double>(used) > most) return Absence::kError;
    return Bytes(static_cast<double>(used));
  };
  if (!Skip(kCallMemoryV2, Address(f_.memory_v2))) {
    MemoryV2 memory = {};
    memory.version = VersionOf<MemoryV2>(2);
    const int code = f_.memory_v2(handle_, &memory);
    if (code == kSuccess) return checked(memory.used);
    const Absence why = Refused(kCallMemoryV2, code);
    if (why != Absence::kUnsupported) return why;
  }
  if (Skip(kCallMemoryV1, Address(f_.memory_v1))) return SkipReason();
  MemoryV1 memory = {};
  const int code = f_.memory_v1(handle_, &memory);
  if (code != kSuccess) return Refused(kCallMemoryV1, code);
  return checked(memory.used);
}

template <typename Entry, typename Ask>
Reading<std::vector<GpuProcess>> Card::ProcessesBy(Call call, Ask* ask) {
  std::vector<Entry> entries(16);
  for (int attempt = 0; attempt < 3; ++attempt) {
    auto count = static_cast<uint32_t>(entries.size());
    const int code = ask(handle_, &count, entries.data());
    if (code == kInsufficientSize && count < kProcessesMost) {
      // Room for a few that start between the two calls.
      entries.resize(std::max<size_t>(count, entries.size()) + 16);
      continue;
    }
    if (code != kSuccess) return Refused(call, code);
    if (count > entries.size()) return Absence::kError;
    std::vector<GpuProcess> out;
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t bytes = entries[i].memory_bytes;
      const bool known = bytes <= static_cast<uint64_t>(kMemoryMostBytes);
      out.push_back({static_cast<pid_t>(entries[i].pid),
                     known ? Reading<Bytes>(Bytes(static_cast<double>(bytes)))
                           : Reading<Bytes>(bytes == ~uint64_t{0} ? Absence::kUnsupported
                                                                  : Absence::kError)});
    }
    return out;
  }
  return Absence::kError;
}

Reading<std::vector<GpuProcess>> Card::Processes() {
  if (!Skip(kCallProcessesV3, Address(f_.processes_v3))) {
    auto list = ProcessesBy<ProcessV3>(kCallProcessesV3, f_.processes_v3);
    if (list || list.absence() != Absence::kUnsupported) return list;
  }
  if (Skip(kCallProcessesV1, Address(f_.processes_v1))) return SkipReason();
  return ProcessesBy<ProcessV1>(kCallProcessesV1, f_.processes_v1);
}

void Card::ReadSlow(GpuReading& out) {
  out.memory_used = MemoryUsed();
  out.pcie_generation = SmallNumber(Number(kCallPcieGeneration, f_.pcie_generation), 15);
  out.pcie_width = SmallNumber(Number(kCallPcieWidth, f_.pcie_width), 32);
  out.processes = Processes();
}

}  // namespace stoker::device::nvml
