// Meeting a card: who it is, what it can answer and what each answer costs.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "device/nvml/nvml_card.h"
#include "device/nvml/nvml_sanity.h"

namespace stoker::device::nvml {
namespace {

// Shown beside what is asked for in slow cycles only.
std::string CostText(std::chrono::nanoseconds cost) {
  if (cost <= Card::kDear) return {};
  return fmt::format(" ({} us, slow cycles)", cost.count() / 1000);
}

}  // namespace

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
  for (int i = 0; i < 3; ++i) {
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
