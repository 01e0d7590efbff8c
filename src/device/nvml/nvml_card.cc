#include "device/nvml/nvml_card.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/text.h"

namespace stoker::device::nvml {
namespace {

// Drivers and their wrappers mark "no value" by all ones or by the largest signed numbers, give or
// take a few: no quantity here comes near them.
constexpr uint64_t kAbsurd32 = 0x7ffffff0;
constexpr uint64_t kAbsurd64 = 0x7ffffffffffffff0;

constexpr double kPowerMostW = 10'000;  // no card draws more
constexpr double kClockMostMhz = 100'000;
constexpr double kMemoryMostBytes = 1e15;
constexpr double kHottestC = 250;
constexpr size_t kProcessesMost = 8192;

template <typename T, typename Make>
Reading<T> Within(const Reading<uint64_t>& raw, double scale, double least, double most,
                  Make make) {
  if (!raw) return raw.absence();
  const double value = static_cast<double>(*raw) * scale;
  if (!(value >= least && value <= most)) return Absence::kError;
  return make(value);
}

// A powered card never draws 0 W: a driver that says so failed to read its sensor.
Reading<Watts> Power(const Reading<uint64_t>& milliwatts) {
  return Within<Watts>(milliwatts, 1e-3, 1e-3, kPowerMostW, [](double w) { return Watts(w); });
}

Reading<Celsius> Heat(const Reading<uint64_t>& degrees) {
  return Within<Celsius>(degrees, 1, 0, kHottestC, [](double c) { return Celsius(c); });
}

Reading<Joules> Energy(const Reading<uint64_t>& millijoules) {
  return Within<Joules>(millijoules, 1e-3, 0, 1e15, [](double j) { return Joules(j); });
}

// Shown beside what is asked for in slow cycles only.
std::string CostText(std::chrono::nanoseconds cost) {
  if (cost <= Card::kDear) return {};
  return fmt::format(" ({} us, slow cycles)", cost.count() / 1000);
}

Reading<int> SmallNumber(const Reading<uint64_t>& raw, int most) {
  return Within<int>(raw, 1, 1, most, [](double n) { return static_cast<int>(n); });
}

}  // namespace

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

Card::Card(const Functions& functions, int index, Device handle, const Clock& clock)
    : f_(functions), handle_(handle), clock_(clock) {
  identity_.index = index;
  AskIdentity();
  AskFieldSupport();
  AskCosts();
  AskLimits();
  AskSlowdown();
}

std::string Card::AskText(nvml::AskText* ask) {
  char text[kNameBytes + 1] = {};
  if (ask == nullptr || ask(handle_, text, kNameBytes) != kSuccess) return {};
  return Printable(text);
}

bool Card::StillIs(Device handle) {
  return handle == handle_ && !lost_ && AskText(f_.uuid) == identity_.uuid;
}

void Card::AskIdentity() {
  identity_.uuid = AskText(f_.uuid);
  identity_.name = AskText(f_.name);
  PciInfo pci = {};
  if (f_.pci_info != nullptr && f_.pci_info(handle_, &pci) == kSuccess) {
    identity_.pci_bus_id = Printable({pci.bus_id, strnlen(pci.bus_id, sizeof(pci.bus_id))});
  }
  MemoryV2 v2 = {};
  v2.version = VersionOf<MemoryV2>(2);
  MemoryV1 v1 = {};
  int code = f_.memory_v2 != nullptr ? f_.memory_v2(handle_, &v2) : kFunctionNotFound;
  uint64_t total = v2.total;
  if (IsForEver(code) && f_.memory_v1 != nullptr) {
    code = f_.memory_v1(handle_, &v1);
    total = v1.total;
  }
  if (code != kSuccess) {
    identity_.memory_total = Refused(kCallMemoryV1, code);
    refused_.reset(kCallMemoryV1);
  } else {
    identity_.memory_total = Within<Bytes>(static_cast<uint64_t>(total), 1, 1, kMemoryMostBytes,
                                           [](double b) { return Bytes(b); });
  }
  const auto link = [this](AskU32* ask, int most) {
    uint32_t value = 0;
    if (ask == nullptr || ask(handle_, &value) != kSuccess) return 0;
    return value <= static_cast<uint32_t>(most) ? static_cast<int>(value) : 0;
  };
  identity_.pcie_generation_max = link(f_.pcie_generation_max, 15);
  identity_.pcie_width_max = link(f_.pcie_width_max, 32);
}

void Card::AskLimits() {
  std::array<FieldValue, 3> asked = {};
  asked[0].field_id = kFieldLimitMinMw;
  asked[1].field_id = kFieldLimitMaxMw;
  asked[2].field_id = kFieldLimitDefaultMw;
  for (FieldValue& field : asked) field.code = kNotSupported;
  if (f_.field_values != nullptr) {
    const int code = f_.field_values(handle_, static_cast<int>(asked.size()), asked.data());
    if (code != kSuccess) {
      for (FieldValue& field : asked) field.code = code;
    }
  }
  identity_.limit_min = Power(DecodeField(asked[0]));
  identity_.limit_max = Power(DecodeField(asked[1]));
  identity_.limit_default = Power(DecodeField(asked[2]));
  uint32_t least = 0;
  uint32_t most = 0;
  if ((!identity_.limit_min || !identity_.limit_max) && f_.limit_constraints != nullptr) {
    const int code = f_.limit_constraints(handle_, &least, &most);
    const auto number = [code](uint32_t v) -> Reading<uint64_t> {
      if (code != kSuccess) return AbsenceOf(code);
      return uint64_t{v};
    };
    identity_.limit_min = Power(number(least));
    identity_.limit_max = Power(number(most));
  }
  uint32_t usual = 0;
  if (!identity_.limit_default && f_.default_limit != nullptr) {
    const int code = f_.default_limit(handle_, &usual);
    identity_.limit_default =
        code == kSuccess ? Power(uint64_t{usual}) : Reading<Watts>(AbsenceOf(code));
  }
}

// A field that this driver or card lacks is asked for no more; one that failed for another reason
// is.
void Card::AskFieldSupport() {
  static constexpr std::array<uint32_t, kFieldCount> kIds = {
      kFieldEnergyMj,         kFieldPowerAverageMw,       kFieldPowerInstantMw,
      kFieldThrottledPowerNs, kFieldThrottledSwThermalNs, kFieldThrottledHwThermalNs,
      kFieldThrottledBrakeNs, kFieldMemoryTemperature};
  for (size_t i = 0; i < kFieldCount; ++i) {
    fields_[i] = {};
    fields_[i].field_id = kIds[i];
    fields_[i].code = kNotSupported;
  }
  if (f_.field_values == nullptr) return;
  auto answers = fields_;
  const int code = f_.field_values(handle_, kFieldCount, answers.data());
  for (size_t i = 0; i < kFieldCount; ++i) {
    const int own = code == kSuccess ? answers[i].code : code;
    // An id that is too new for a driver may also be called an invalid argument.
    field_works_[i] = !IsForEver(own) && own != kInvalidArgument;
  }
}

template <typename Ask>
std::chrono::nanoseconds Card::CostOf(Ask ask) const {
  auto least = std::chrono::nanoseconds::max();
  for (int i = 0; i < 2; ++i) {
    const MonoTime begin = clock_.Mono();
    ask();
    least = std::min(least, clock_.Mono() - begin);
  }
  return least;
}

// Most answers lie ready in the driver and cost a quarter of a microsecond; a few are fetched from
// the card each time and cost milliseconds of a core: on an H200 the energy counter alone 3.4 ms.
void Card::AskCosts() {
  for (size_t i = 0; i < kFieldCount; ++i) {
    if (!field_works_[i]) continue;
    FieldValue field = fields_[i];
    field_cost_[i] = CostOf([&] { f_.field_values(handle_, 1, &field); });
    asked_.push_back(static_cast<Field>(i));
  }
  const auto dear = std::stable_partition(asked_.begin(), asked_.end(),
                                          [this](Field f) { return field_cost_[f] <= kDear; });
  cheap_ = static_cast<size_t>(dear - asked_.begin());
  answers_.resize(asked_.size());
  if (f_.margin != nullptr) {
    MarginTemperature margin = {VersionOf<MarginTemperature>(1), 0};
    margin_cost_ = CostOf([&] { f_.margin(handle_, &margin); });
  }
  if (!field_works_[kEnergy] && f_.energy != nullptr) {
    uint64_t millijoules = 0;
    energy_call_cost_ = CostOf([&] { f_.energy(handle_, &millijoules); });
  }
}

void Card::AskSlowdown() {
  uint32_t degrees = 0;
  const int code = f_.threshold != nullptr ? f_.threshold(handle_, kThresholdSlowdown, &degrees)
                                           : int{kFunctionNotFound};
  identity_.slowdown_at =
      code == kSuccess ? Heat(uint64_t{degrees}) : Reading<Celsius>(AbsenceOf(code));
  const Reading<Celsius> temperature = Temperature();
  const Reading<Celsius> margin = Margin(temperature);
  if (!identity_.slowdown_at && temperature && margin) {
    // Newer cards publish only the distance to the threshold; their sum does not move.
    identity_.slowdown_at = *temperature + *margin;
  } else if (identity_.slowdown_at && margin.absence() == Absence::kUnsupported) {
    margin_from_threshold_ = true;
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
  return NumberBy(call, reinterpret_cast<const void*>(ask),
                  [&](uint32_t* out) { return ask(handle_, out); });
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
  } else if (Skip(kCallEnergy, reinterpret_cast<const void*>(f_.energy))) {
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
  if (Skip(kCallUtilization, reinterpret_cast<const void*>(f_.utilization))) {
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
    const auto mhz = NumberBy(call, reinterpret_cast<const void*>(f_.clock),
                              [&](uint32_t* v) { return f_.clock(handle_, domain, v); });
    return Within<Hertz>(mhz, 1, 0, kClockMostMhz,
                         [](double value) { return HertzFromMegahertz(value); });
  };
  out.sm_clock = clock(kCallSmClock, kClockSm);
  out.memory_clock = clock(kCallMemoryClock, kClockMemory);
  if (Skip(kCallReasons, reinterpret_cast<const void*>(f_.reasons))) {
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
  if (!Skip(kCallTemperatureV, reinterpret_cast<const void*>(f_.temperature_v))) {
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
  return Heat(NumberBy(kCallTemperature, reinterpret_cast<const void*>(f_.temperature),
                       [&](uint32_t* v) { return f_.temperature(handle_, kSensorGpu, v); }));
}

Reading<Celsius> Card::Margin(const Reading<Celsius>& temperature) {
  if (margin_from_threshold_) {
    if (!temperature) return temperature.absence();
    return *identity_.slowdown_at - *temperature;
  }
  if (Skip(kCallMargin, reinterpret_cast<const void*>(f_.margin))) return SkipReason();
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
  if (!Skip(kCallMemoryV2, reinterpret_cast<const void*>(f_.memory_v2))) {
    MemoryV2 memory = {};
    memory.version = VersionOf<MemoryV2>(2);
    const int code = f_.memory_v2(handle_, &memory);
    if (code == kSuccess) return checked(memory.used);
    const Absence why = Refused(kCallMemoryV2, code);
    if (why != Absence::kUnsupported) return why;
  }
  if (Skip(kCallMemoryV1, reinterpret_cast<const void*>(f_.memory_v1))) return SkipReason();
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
  if (!Skip(kCallProcessesV3, reinterpret_cast<const void*>(f_.processes_v3))) {
    auto list = ProcessesBy<ProcessV3>(kCallProcessesV3, f_.processes_v3);
    if (list || list.absence() != Absence::kUnsupported) return list;
  }
  if (Skip(kCallProcessesV1, reinterpret_cast<const void*>(f_.processes_v1))) return SkipReason();
  return ProcessesBy<ProcessV1>(kCallProcessesV1, f_.processes_v1);
}

void Card::ReadSlow(GpuReading& out) {
  out.memory_used = MemoryUsed();
  out.pcie_generation = SmallNumber(Number(kCallPcieGeneration, f_.pcie_generation), 15);
  out.pcie_width = SmallNumber(Number(kCallPcieWidth, f_.pcie_width), 32);
  out.processes = Processes();
}

std::string Card::SourceOf(Field field, uint32_t id, bool call) const {
  std::string source = call ? "call" : "none";
  if (field_works_[field]) source = fmt::format("field {}", id);
  const auto cost = field_works_[field] ? field_cost_[field]
                    : field == kEnergy  ? energy_call_cost_
                                        : std::chrono::nanoseconds(0);
  return source + CostText(cost);
}

std::string Card::Sources() const {
  const bool power_call = f_.power_usage != nullptr && !refused_.test(kCallPower);
  const bool energy_call = f_.energy != nullptr && !refused_.test(kCallEnergy);
  const bool margin_call = f_.margin != nullptr && !refused_.test(kCallMargin);
  std::string margin = margin_call ? "call" + CostText(margin_cost_) : "none";
  if (margin_from_threshold_) margin = "threshold";
  return fmt::format(
      "power_average={}, power_instant={}, energy={}, power_cap_time={}, heat_time={}, margin={}",
      SourceOf(kPowerAverage, kFieldPowerAverageMw, power_call),
      SourceOf(kPowerInstant, kFieldPowerInstantMw, false),
      SourceOf(kEnergy, kFieldEnergyMj, energy_call),
      SourceOf(kThrottledPower, kFieldThrottledPowerNs, false),
      SourceOf(kThrottledHwThermal, kFieldThrottledHwThermalNs, false), margin);
}

}  // namespace stoker::device::nvml
