// Exported functions about one card.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "sim/nvml_api.h"

namespace stoker::sim {
namespace {

constexpr uint32_t kArchitectureBlackwell = 10;
constexpr uint32_t kPciId = 0x2bb510de;
constexpr int kDoneOk = nvml::kSuccess;

// Calls that copy a text need their length checked, not garbage of one character.
template <typename Text>
int TextOf(nvml::Device device, const char* call, char* out, uint32_t size, Text text) {
  return OnCard(device, call, out,
                [&](Box& box, int card) { return CopyText(text(box, card), out, size); });
}

// Calls that answer with one number computed from box and card.
template <typename Out, typename Value>
int NumberOf(nvml::Device device, const char* call, Out* out, Value value) {
  return OnCard(device, call, out, [&](Box& box, int card) {
    *out = static_cast<Out>(value(box, card));
    return kDoneOk;
  });
}

uint32_t Percent(const Box& box, int card, int quantity, double ratio) {
  if (ratio <= 0) return 0;
  const double noise = box.spec(card).noise_ratio * Noise(card, quantity, box.sim_ns());
  // A full card reads 100: noise is for those between.
  const double share = ratio >= 1 ? 1 : ratio * (1 + noise);
  return static_cast<uint32_t>(std::lround(std::clamp(share, 0.0, 1.0) * 100));
}

double UsedBytes(const Box& box, int card) {
  const CardSpec& spec = box.spec(card);
  const double asked = std::floor(box.view(card).load.memory_bytes);
  return std::min(asked, spec.memory_bytes - spec.memory_reserved_bytes);
}

template <typename Entry>
int Processes(nvml::Device device, const char* call, uint32_t* count, Entry* out) {
  return OnCard(device, call, count, [&](Box& box, int card) -> int {
    const auto& processes = box.processes(card);
    const uint32_t room = out != nullptr ? *count : 0;
    *count = static_cast<uint32_t>(processes.size());
    if (room < *count) return nvml::kInsufficientSize;
    for (size_t i = 0; i < processes.size(); ++i) {
      out[i] = {};
      out[i].pid = static_cast<uint32_t>(processes[i].pid);
      out[i].memory_bytes = static_cast<uint64_t>(processes[i].memory_bytes);
      if constexpr (sizeof(Entry) == sizeof(nvml::ProcessV3)) {
        out[i].gpu_instance_id = out[i].compute_instance_id = 0xffffffff;
      }
    }
    return kDoneOk;
  });
}

int NoProcesses(nvml::Device device, const char* call, uint32_t* count) {
  return NumberOf(device, call, count, [](const Box&, int) { return 0; });
}

int Reasons(nvml::Device device, const char* call, uint64_t* out) {
  return NumberOf(device, call, out,
                  [](const Box& box, int card) { return box.view(card).reasons; });
}

int FillPci(nvml::Device device, const char* call, nvml::PciInfo* out) {
  return OnCard(device, call, out, [&](Box& box, int card) {
    *out = {};
    const std::string& id = box.spec(card).pci_bus_id;
    CopyText(id.substr(0, sizeof out->bus_id - 1), out->bus_id, sizeof out->bus_id);
    CopyText(id.size() > 4 ? id.substr(4, 12) : id, out->legacy_bus_id, sizeof out->legacy_bus_id);
    unsigned domain = 0, bus = 0, slot = 0;
    if (std::sscanf(id.c_str(), "%x:%x:%x", &domain, &bus, &slot) == 3) {
      out->domain = domain;
      out->bus = bus;
      out->device = slot;
    }
    out->pci_device_id = kPciId;
    return kDoneOk;
  });
}

double ClockMhz(const Box& box, int card, int domain) {
  return domain == nvml::kClockMemory ? box.view(card).memory_clock_mhz
                                      : box.view(card).sm_clock_mhz;
}

int SetLimit(nvml::Device device, const char* call, double watts) {
  int unused = 0;
  return OnCard(device, call, &unused, [&](Box& box, int card) {
    return int{box.SetLimit(card, watts) ? nvml::kSuccess : nvml::kInvalidArgument};
  });
}

}  // namespace
}  // namespace stoker::sim

using stoker::device::nvml::Device;
namespace sim = stoker::sim;
namespace nvml = stoker::device::nvml;
using sim::Box;

STOKER_SIM_EXPORT int nvmlDeviceGetName(Device device, char* out, uint32_t size) {
  return sim::TextOf(device, __func__, out, size,
                     [](const Box& box, int card) { return box.spec(card).name; });
}
STOKER_SIM_EXPORT int nvmlDeviceGetUUID(Device device, char* out, uint32_t size) {
  return sim::TextOf(device, __func__, out, size,
                     [](const Box& box, int card) { return box.spec(card).uuid; });
}
STOKER_SIM_EXPORT int nvmlDeviceGetIndex(Device device, uint32_t* out) {
  return sim::NumberOf(device, __func__, out, [](const Box&, int card) { return card; });
}
STOKER_SIM_EXPORT int nvmlDeviceGetMinorNumber(Device device, uint32_t* out) {
  return sim::NumberOf(device, __func__, out, [](const Box&, int card) { return card; });
}
STOKER_SIM_EXPORT int nvmlDeviceGetArchitecture(Device device, uint32_t* out) {
  return sim::NumberOf(device, __func__, out,
                       [](const Box&, int) { return sim::kArchitectureBlackwell; });
}
STOKER_SIM_EXPORT int nvmlDeviceGetCudaComputeCapability(Device device, int* major, int* minor) {
  if (minor == nullptr) return nvml::kInvalidArgument;
  *minor = 0;
  return sim::NumberOf(device, __func__, major, [](const Box&, int) { return 12; });
}
STOKER_SIM_EXPORT int nvmlDeviceGetPersistenceMode(Device device, int* out) {
  return sim::NumberOf(device, __func__, out, [](const Box&, int) { return 1; });
}
STOKER_SIM_EXPORT int nvmlDeviceGetPciInfo_v3(Device device, nvml::PciInfo* out) {
  return sim::FillPci(device, __func__, out);
}
// Since the second version the struct is the same.
STOKER_SIM_EXPORT int nvmlDeviceGetPciInfo_v2(Device device, nvml::PciInfo* out) {
  return sim::FillPci(device, __func__, out);
}

STOKER_SIM_EXPORT int nvmlDeviceGetPowerUsage(Device device, uint32_t* out) {
  return sim::NumberOf(device, __func__, out, sim::PowerAverageMw);
}
STOKER_SIM_EXPORT int nvmlDeviceGetTotalEnergyConsumption(Device device, uint64_t* out) {
  return sim::NumberOf(device, __func__, out,
                       [](const Box& box, int card) { return box.state(card).energy_mj; });
}
STOKER_SIM_EXPORT int nvmlDeviceGetPowerManagementMode(Device device, int* out) {
  return sim::NumberOf(device, __func__, out, [](const Box&, int) { return 1; });
}
STOKER_SIM_EXPORT int nvmlDeviceGetPowerManagementLimit(Device device, uint32_t* out) {
  return sim::NumberOf(device, __func__, out,
                       [](const Box& box, int card) { return box.state(card).limit_w * 1000; });
}
STOKER_SIM_EXPORT int nvmlDeviceGetEnforcedPowerLimit(Device device, uint32_t* out) {
  return sim::NumberOf(device, __func__, out,
                       [](const Box& box, int card) { return box.state(card).limit_w * 1000; });
}
STOKER_SIM_EXPORT int nvmlDeviceGetPowerManagementDefaultLimit(Device device, uint32_t* out) {
  return sim::NumberOf(device, __func__, out,
                       [](const Box& box, int card) { return box.spec(card).limit_w * 1000; });
}
STOKER_SIM_EXPORT int nvmlDeviceGetPowerManagementLimitConstraints(Device device, uint32_t* least,
                                                                   uint32_t* most) {
  if (most == nullptr) return nvml::kInvalidArgument;
  return sim::OnCard(device, __func__, least, [&](Box& box, int card) {
    *least = static_cast<uint32_t>(box.spec(card).limit_min_w * 1000);
    *most = static_cast<uint32_t>(box.spec(card).limit_max_w * 1000);
    return sim::kDoneOk;
  });
}
STOKER_SIM_EXPORT int nvmlDeviceSetPowerManagementLimit(Device device, uint32_t milliwatts) {
  return sim::SetLimit(device, __func__, milliwatts / 1000.0);
}

STOKER_SIM_EXPORT int nvmlDeviceGetTemperature(Device device, int sensor, uint32_t* out) {
  if (sensor != nvml::kSensorGpu) return nvml::kInvalidArgument;
  return sim::NumberOf(device, __func__, out, sim::TemperatureC);
}
STOKER_SIM_EXPORT int nvmlDeviceGetTemperatureV(Device device, nvml::TemperatureV* out) {
  return sim::OnCard(device, __func__, out, [&](Box& box, int card) -> int {
    if (out->version != nvml::VersionOf<nvml::TemperatureV>(1)) {
      return nvml::kArgumentVersionMismatch;
    }
    if (out->sensor != nvml::kSensorGpu) return nvml::kInvalidArgument;
    out->temperature_c = static_cast<int32_t>(sim::TemperatureC(box, card));
    return nvml::kSuccess;
  });
}
STOKER_SIM_EXPORT int nvmlDeviceGetMarginTemperature(Device device, nvml::MarginTemperature* out) {
  return sim::OnCard(device, __func__, out, [&](Box& box, int card) -> int {
    if (out->version != nvml::VersionOf<nvml::MarginTemperature>(1)) {
      return nvml::kArgumentVersionMismatch;
    }
    out->margin_c = static_cast<int32_t>(std::lround(box.spec(card).slowdown_c)) -
                    static_cast<int32_t>(sim::TemperatureC(box, card));
    return nvml::kSuccess;
  });
}
STOKER_SIM_EXPORT int nvmlDeviceGetTemperatureThreshold(Device device, int threshold,
                                                        uint32_t* out) {
  if (threshold < 0 || threshold > 3) return nvml::kInvalidArgument;
  if (threshold > nvml::kThresholdSlowdown) return nvml::kNotSupported;
  return sim::NumberOf(device, __func__, out, [&](const Box& box, int card) {
    const double slowdown = std::lround(box.spec(card).slowdown_c);
    return threshold == nvml::kThresholdShutdown ? slowdown + 5 : slowdown;
  });
}
STOKER_SIM_EXPORT int nvmlDeviceGetFanSpeed(Device device, uint32_t* out) {
  (void)out;
  (void)device;
  return nvml::kNotSupported;  // the chassis blows, as in a server
}

STOKER_SIM_EXPORT int nvmlDeviceGetClockInfo(Device device, int domain, uint32_t* out) {
  if (domain < nvml::kClockGraphics || domain > nvml::kClockVideo) return nvml::kInvalidArgument;
  return sim::NumberOf(device, __func__, out, [&](const Box& box, int card) {
    return std::lround(sim::ClockMhz(box, card, domain));
  });
}
STOKER_SIM_EXPORT int nvmlDeviceGetMaxClockInfo(Device device, int domain, uint32_t* out) {
  if (domain < nvml::kClockGraphics || domain > nvml::kClockVideo) return nvml::kInvalidArgument;
  return sim::NumberOf(device, __func__, out, [&](const Box& box, int card) {
    return domain == nvml::kClockMemory ? box.spec(card).memory_clock_max_mhz
                                        : box.spec(card).sm_clock_max_mhz;
  });
}
STOKER_SIM_EXPORT int nvmlDeviceGetPerformanceState(Device device, int* out) {
  return sim::NumberOf(device, __func__, out, [](const Box& box, int card) {
    return box.view(card).load.busy_ratio > 0 ? 1 : 8;
  });
}
STOKER_SIM_EXPORT int nvmlDeviceGetUtilizationRates(Device device, nvml::Utilization* out) {
  return sim::OnCard(device, __func__, out, [&](Box& box, int card) {
    const sim::Load& load = box.view(card).load;
    out->gpu_percent = sim::Percent(box, card, 1, load.busy_ratio);
    out->memory_percent = sim::Percent(box, card, 2, load.memory_busy_ratio);
    return sim::kDoneOk;
  });
}
STOKER_SIM_EXPORT int nvmlDeviceGetEncoderUtilization(Device device, uint32_t* out, uint32_t* us) {
  if (us == nullptr) return nvml::kInvalidArgument;
  *us = 167000;
  return sim::NumberOf(device, __func__, out, [](const Box&, int) { return 0; });
}
STOKER_SIM_EXPORT int nvmlDeviceGetDecoderUtilization(Device device, uint32_t* out, uint32_t* us) {
  if (us == nullptr) return nvml::kInvalidArgument;
  *us = 167000;
  return sim::NumberOf(device, __func__, out, [](const Box&, int) { return 0; });
}
STOKER_SIM_EXPORT int nvmlDeviceGetCurrentClocksEventReasons(Device device, uint64_t* out) {
  return sim::Reasons(device, __func__, out);
}
STOKER_SIM_EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(Device device, uint64_t* out) {
  return sim::Reasons(device, __func__, out);
}
STOKER_SIM_EXPORT int nvmlDeviceGetSupportedClocksEventReasons(Device device, uint64_t* out) {
  return sim::NumberOf(device, __func__, out, [](const Box&, int) { return 0x6d; });
}

STOKER_SIM_EXPORT int nvmlDeviceGetMemoryInfo(Device device, nvml::MemoryV1* out) {
  return sim::OnCard(device, __func__, out, [&](Box& box, int card) {
    const sim::CardSpec& spec = box.spec(card);
    out->total = static_cast<uint64_t>(spec.memory_bytes);
    out->used = static_cast<uint64_t>(spec.memory_reserved_bytes + sim::UsedBytes(box, card));
    out->free = out->total - out->used;
    return sim::kDoneOk;
  });
}
STOKER_SIM_EXPORT int nvmlDeviceGetMemoryInfo_v2(Device device, nvml::MemoryV2* out) {
  return sim::OnCard(device, __func__, out, [&](Box& box, int card) -> int {
    if (out->version != nvml::VersionOf<nvml::MemoryV2>(2)) return nvml::kArgumentVersionMismatch;
    const sim::CardSpec& spec = box.spec(card);
    out->total = static_cast<uint64_t>(spec.memory_bytes);
    out->reserved = static_cast<uint64_t>(spec.memory_reserved_bytes);
    out->used = static_cast<uint64_t>(sim::UsedBytes(box, card));
    out->free = out->total - out->reserved - out->used;
    return nvml::kSuccess;
  });
}

STOKER_SIM_EXPORT int nvmlDeviceGetCurrPcieLinkGeneration(Device device, uint32_t* out) {
  return sim::NumberOf(device, __func__, out, [](const Box& box, int card) {
    // A link without work drops its speed to save power, as a real one.
    const bool works = box.view(card).load.busy_ratio > 0;
    return works ? box.spec(card).pcie_generation : 1;
  });
}
STOKER_SIM_EXPORT int nvmlDeviceGetMaxPcieLinkGeneration(Device device, uint32_t* out) {
  return sim::NumberOf(device, __func__, out,
                       [](const Box& box, int card) { return box.spec(card).pcie_generation; });
}
STOKER_SIM_EXPORT int nvmlDeviceGetCurrPcieLinkWidth(Device device, uint32_t* out) {
  return sim::NumberOf(device, __func__, out,
                       [](const Box& box, int card) { return box.spec(card).pcie_width; });
}
STOKER_SIM_EXPORT int nvmlDeviceGetMaxPcieLinkWidth(Device device, uint32_t* out) {
  return sim::NumberOf(device, __func__, out, [](const Box&, int) { return 16; });
}
STOKER_SIM_EXPORT int nvmlDeviceGetPcieThroughput(Device, int, uint32_t*) {
  return nvml::kNotSupported;  // nothing moves over a simulated bus
}

STOKER_SIM_EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(Device device, uint32_t* count,
                                                              nvml::ProcessV3* out) {
  return sim::Processes(device, __func__, count, out);
}
STOKER_SIM_EXPORT int nvmlDeviceGetComputeRunningProcesses_v2(Device device, uint32_t* count,
                                                              nvml::ProcessV3* out) {
  return sim::Processes(device, __func__, count, out);
}
STOKER_SIM_EXPORT int nvmlDeviceGetComputeRunningProcesses(Device device, uint32_t* count,
                                                           nvml::ProcessV1* out) {
  return sim::Processes(device, __func__, count, out);
}
STOKER_SIM_EXPORT int nvmlDeviceGetGraphicsRunningProcesses_v3(Device device, uint32_t* count,
                                                               nvml::ProcessV3*) {
  return sim::NoProcesses(device, __func__, count);
}
STOKER_SIM_EXPORT int nvmlDeviceGetGraphicsRunningProcesses_v2(Device device, uint32_t* count,
                                                               nvml::ProcessV3*) {
  return sim::NoProcesses(device, __func__, count);
}
STOKER_SIM_EXPORT int nvmlDeviceGetGraphicsRunningProcesses(Device device, uint32_t* count,
                                                            nvml::ProcessV1*) {
  return sim::NoProcesses(device, __func__, count);
}
STOKER_SIM_EXPORT int nvmlDeviceGetMigMode(Device, uint32_t*, uint32_t*) {
  return nvml::kNotSupported;
}

STOKER_SIM_EXPORT int nvmlDeviceGetFieldValues(Device device, int count, nvml::FieldValue* out) {
  if (count < 0 || count > 4096) return nvml::kInvalidArgument;
  return sim::OnCard(device, __func__, out, [&](Box& box, int card) {
    for (int i = 0; i < count; ++i) sim::AnswerField(box, card, out[i]);
    return sim::kDoneOk;
  });
}
