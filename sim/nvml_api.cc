// Exported functions about the library and the box: start, stop, versions, finding cards.
#include "sim/nvml_api.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace stoker::sim {
namespace {

constexpr uintptr_t kHandleBase = 0x51a0;
constexpr int kCudaVersion = 13000;

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

int Init() {
  Library& library = Library::Get();
  const std::lock_guard<std::mutex> lock(library.mutex);
  if (!library.box) {
    auto box = Box::Open(Environment("STOKER_SIM_BOX"), Environment("STOKER_SIM_DIR"));
    if (!box) {
      library.trouble = "the simulated box: " + box.error().Line();
      return nvml::kUnknown;
    }
    library.box = std::move(*box);
    library.trouble.clear();
  }
  ++library.users;
  return nvml::kSuccess;
}

const char* Words(int code) {
  switch (code) {
    case nvml::kSuccess:
      return "Success";
    case nvml::kUninitialized:
      return "Uninitialized";
    case nvml::kInvalidArgument:
      return "Invalid Argument";
    case nvml::kNotSupported:
      return "Not Supported";
    case nvml::kNoPermission:
      return "Insufficient Permissions";
    case nvml::kNotFoundHere:
      return "Not Found";
    case nvml::kInsufficientSize:
      return "Insufficient Size";
    case nvml::kTimedOut:
      return "Timeout";
    case nvml::kFunctionNotFound:
      return "Function Not Found";
    case nvml::kGpuIsLost:
      return "GPU is lost";
    case nvml::kResetRequired:
      return "GPU requires reset";
    case nvml::kNoData:
      return "No data";
    default:
      return "Unknown Error";
  }
}

int Count(uint32_t* count) {
  if (count == nullptr) return nvml::kInvalidArgument;
  return OnBox([&](Box& box) {
    *count = static_cast<uint32_t>(box.count());
    return int{nvml::kSuccess};
  });
}

template <typename Matches>
int FindHandle(nvml::Device* out, Matches matches) {
  if (out == nullptr) return nvml::kInvalidArgument;
  return OnBox([&](Box& box) -> int {
    for (int card = 0; card < box.count(); ++card) {
      if (!matches(box, card)) continue;
      // By its own name only: a lost card whose every call fails still has a handle.
      const auto& fail = box.description().cards[static_cast<size_t>(card)].fail;
      const auto fault = fail.find("nvmlDeviceGetHandleByIndex_v2");
      if (fault != fail.end() && fault->second != kGarbage) return fault->second;
      *out = HandleOf(card);
      return nvml::kSuccess;
    }
    return nvml::kNotFoundHere;
  });
}

int HandleByIndex(uint32_t index, nvml::Device* out) {
  const int code =
      FindHandle(out, [&](const Box&, int card) { return static_cast<uint32_t>(card) == index; });
  return code == nvml::kNotFoundHere ? int{nvml::kInvalidArgument} : code;
}

int HandleByPci(const char* id, nvml::Device* out) {
  if (id == nullptr) return nvml::kInvalidArgument;
  const std::string_view wanted(id);
  return FindHandle(out, [&](const Box& box, int card) {
    const std::string& own =
        box.spec(card).pci_bus_id;  // "00000000:11:00.0", "0000:…" is usual too
    return wanted == own || (own.size() > 4 && wanted == std::string_view(own).substr(4));
  });
}

}  // namespace

Library& Library::Get() {
  static Library library;
  return library;
}

nvml::Device HandleOf(int card) {
  return reinterpret_cast<nvml::Device>(kHandleBase + static_cast<uintptr_t>(card));
}

std::optional<int> CardOf(const Box& box, nvml::Device handle) {
  const auto number = reinterpret_cast<uintptr_t>(handle) - kHandleBase;
  if (number >= static_cast<uintptr_t>(box.count())) return std::nullopt;
  return static_cast<int>(number);
}

int CopyText(std::string_view text, char* out, uint32_t size) {
  if (out == nullptr) return nvml::kInvalidArgument;
  if (text.size() + 1 > size) return nvml::kInsufficientSize;
  std::memcpy(out, text.data(), text.size());
  out[text.size()] = '\0';
  return nvml::kSuccess;
}

uint32_t PowerInstantMw(const Box& box, int card) {
  const CardSpec& spec = box.spec(card);
  const double noise = spec.noise_ratio * Noise(card, 0, box.sim_ns());
  return static_cast<uint32_t>(std::lround(box.view(card).power_w * (1 + noise) * 1000));
}

uint32_t PowerAverageMw(const Box& box, int card) {
  return static_cast<uint32_t>(std::lround(box.state(card).power_average_w * 1000));
}

uint32_t TemperatureC(const Box& box, int card) {
  return static_cast<uint32_t>(std::lround(std::clamp(box.state(card).temperature_c, 0.0, 200.0)));
}

void AnswerField(const Box& box, int card, nvml::FieldValue& field) {
  const auto fault = box.Fault(card, "field:" + std::to_string(field.field_id));
  field.code = fault && *fault != kGarbage ? *fault : int{nvml::kSuccess};
  if (field.code != nvml::kSuccess) return;
  const CardState& state = box.state(card);
  const CardSpec& spec = box.spec(card);
  const auto u64 = [&](uint64_t value) {
    field.value_type = nvml::kTypeU64;
    field.value.u64 = value;
  };
  const auto milliwatts = [&](double watts) {
    field.value_type = nvml::kTypeU32;
    field.value = {};
    field.value.u32 = static_cast<uint32_t>(std::lround(watts * 1000));
  };
  switch (field.field_id) {
    case nvml::kFieldEnergyMj:
      u64(static_cast<uint64_t>(state.energy_mj));
      break;
    case nvml::kFieldPowerAverageMw:
      milliwatts(PowerAverageMw(box, card) / 1000.0);
      break;
    case nvml::kFieldPowerInstantMw:
      milliwatts(PowerInstantMw(box, card) / 1000.0);
      break;
    case nvml::kFieldLimitMinMw:
      milliwatts(spec.limit_min_w);
      break;
    case nvml::kFieldLimitMaxMw:
      milliwatts(spec.limit_max_w);
      break;
    case nvml::kFieldLimitDefaultMw:
      milliwatts(spec.limit_w);
      break;
    case nvml::kFieldLimitCurrentMw:
      milliwatts(state.limit_w);
      break;
    case nvml::kFieldThrottledPowerNs:
      u64(state.power_cap_ns);
      break;
    case nvml::kFieldThrottledSwThermalNs:
      u64(state.sw_thermal_ns);
      break;
    case nvml::kFieldThrottledHwThermalNs:
      u64(state.hw_thermal_ns);
      break;
    case nvml::kFieldThrottledBrakeNs:
      u64(0);
      break;
    default:
      field.code = nvml::kNotSupported;
      return;
  }
  if (fault) std::memset(&field.value, 0xff, sizeof field.value);
}

}  // namespace stoker::sim

namespace sim = stoker::sim;
namespace nvml = stoker::device::nvml;

// The marks of the simulation: a symbol that no driver has, and the time machine of tests.
STOKER_SIM_EXPORT int stokerSimulated() { return 1; }

STOKER_SIM_EXPORT int stokerSimAdvance(uint64_t milliseconds) {
  return sim::OnBox([&](sim::Box& box) {
    box.Advance(static_cast<int64_t>(std::min<uint64_t>(milliseconds, 1'000'000'000'000)) *
                1'000'000);
    return int{nvml::kSuccess};
  });
}

STOKER_SIM_EXPORT int nvmlInit_v2() { return sim::Init(); }
STOKER_SIM_EXPORT int nvmlInit() { return sim::Init(); }
STOKER_SIM_EXPORT int nvmlInitWithFlags(uint32_t) { return sim::Init(); }

STOKER_SIM_EXPORT int nvmlShutdown() {
  sim::Library& library = sim::Library::Get();
  const std::lock_guard<std::mutex> lock(library.mutex);
  if (library.users == 0) return nvml::kUninitialized;
  if (--library.users == 0) library.box.reset();
  return nvml::kSuccess;
}

STOKER_SIM_EXPORT const char* nvmlErrorString(int code) {
  sim::Library& library = sim::Library::Get();
  const std::lock_guard<std::mutex> lock(library.mutex);
  if (code == nvml::kUnknown && !library.trouble.empty()) return library.trouble.c_str();
  return sim::Words(code);
}

STOKER_SIM_EXPORT int nvmlSystemGetDriverVersion(char* out, uint32_t size) {
  return sim::OnBox(
      [&](sim::Box& box) { return sim::CopyText(box.description().driver, out, size); });
}

STOKER_SIM_EXPORT int nvmlSystemGetNVMLVersion(char* out, uint32_t size) {
  return sim::OnBox(
      [&](sim::Box& box) { return sim::CopyText("13." + box.description().driver, out, size); });
}

STOKER_SIM_EXPORT int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  if (version == nullptr) return nvml::kInvalidArgument;
  *version = sim::kCudaVersion;
  return nvml::kSuccess;
}
STOKER_SIM_EXPORT int nvmlSystemGetCudaDriverVersion(int* version) {
  if (version == nullptr) return nvml::kInvalidArgument;
  *version = sim::kCudaVersion;
  return nvml::kSuccess;
}

STOKER_SIM_EXPORT int nvmlSystemGetProcessName(uint32_t pid, char* out, uint32_t size) {
  const auto name = stoker::ReadFile("/proc/" + std::to_string(pid) + "/comm", 256);
  if (!name || name->empty()) return nvml::kNotFoundHere;
  return sim::CopyText(std::string_view(*name).substr(0, name->size() - 1), out, size);
}

STOKER_SIM_EXPORT int nvmlDeviceGetCount_v2(uint32_t* count) { return sim::Count(count); }
STOKER_SIM_EXPORT int nvmlDeviceGetCount(uint32_t* count) { return sim::Count(count); }

STOKER_SIM_EXPORT int nvmlDeviceGetHandleByIndex_v2(uint32_t index, nvml::Device* out) {
  return sim::HandleByIndex(index, out);
}
STOKER_SIM_EXPORT int nvmlDeviceGetHandleByIndex(uint32_t index, nvml::Device* out) {
  return sim::HandleByIndex(index, out);
}

STOKER_SIM_EXPORT int nvmlDeviceGetHandleByUUID(const char* uuid, nvml::Device* out) {
  if (uuid == nullptr) return nvml::kInvalidArgument;
  return sim::FindHandle(
      out, [&](const sim::Box& box, int card) { return box.spec(card).uuid == uuid; });
}

STOKER_SIM_EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char* id, nvml::Device* out) {
  return sim::HandleByPci(id, out);
}
STOKER_SIM_EXPORT int nvmlDeviceGetHandleByPciBusId(const char* id, nvml::Device* out) {
  return sim::HandleByPci(id, out);
}
