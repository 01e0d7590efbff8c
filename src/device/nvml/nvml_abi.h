// Our own declarations of the part of the vendor's C interface that we call: return codes,
// constants and structs with the sizes that the interface fixes. Checked below; no vendor header is
// needed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stoker::device::nvml {

struct DeviceObject;
using Device = DeviceObject*;  // the driver's handle of a card

enum Return : int {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNoPermission = 4,
  kNotFoundHere = 6,
  kInsufficientSize = 7,
  kDriverNotLoaded = 9,
  kTimedOut = 10,
  kLibraryNotFound = 12,
  kFunctionNotFound = 13,
  kGpuIsLost = 15,
  kResetRequired = 16,
  kVersionMismatch = 18,
  kNoData = 21,
  kArgumentVersionMismatch = 25,
  kDeprecated = 26,
  kNotReady = 27,
  kGpuNotFound = 28,
  kUnknown = 999,
};

constexpr uint32_t kNameBytes = 96;
constexpr uint32_t kVersionBytes = 80;

// Clock domains and temperature thresholds.
constexpr int kClockGraphics = 0;
constexpr int kClockSm = 1;
constexpr int kClockMemory = 2;
constexpr int kClockVideo = 3;
constexpr int kSensorGpu = 0;
constexpr int kThresholdShutdown = 0;
constexpr int kThresholdSlowdown = 1;

// Ids of GetFieldValues.
constexpr uint32_t kFieldThrottledPowerNs = 74;
constexpr uint32_t kFieldMemoryTemperature = 82;
constexpr uint32_t kFieldEnergyMj = 83;
constexpr uint32_t kFieldPowerAverageMw = 185;
constexpr uint32_t kFieldPowerInstantMw = 186;
constexpr uint32_t kFieldLimitMinMw = 187;
constexpr uint32_t kFieldLimitMaxMw = 188;
constexpr uint32_t kFieldLimitDefaultMw = 189;
constexpr uint32_t kFieldLimitCurrentMw = 190;
constexpr uint32_t kFieldThrottledSwThermalNs = 269;
constexpr uint32_t kFieldThrottledHwThermalNs = 270;
constexpr uint32_t kFieldThrottledBrakeNs = 271;

enum ValueType : uint32_t {
  kTypeDouble = 0,
  kTypeU32 = 1,
  kTypeUlong = 2,
  kTypeU64 = 3,
  kTypeI64 = 4,
  kTypeI32 = 5,
  kTypeU16 = 6,
};

union Value {
  double d;
  uint32_t u32;
  uint64_t u64;
  int64_t i64;
  int32_t i32;
  uint16_t u16;
};

struct FieldValue {
  uint32_t field_id;
  uint32_t scope_id;
  int64_t timestamp_us;  // since 1970
  int64_t latency_us;
  uint32_t value_type;
  int32_t code;  // a Return, for this field alone
  Value value;
};
static_assert(sizeof(FieldValue) == 40 && offsetof(FieldValue, timestamp_us) == 8 &&
              offsetof(FieldValue, value_type) == 24 && offsetof(FieldValue, value) == 32);

struct Utilization {
  uint32_t gpu_percent;
  uint32_t memory_percent;
};
static_assert(sizeof(Utilization) == 8);

struct MemoryV1 {
  uint64_t total, free, used;  // `used` includes what the driver keeps for itself
};
static_assert(sizeof(MemoryV1) == 24);

struct MemoryV2 {
  uint32_t version;
  uint64_t total, reserved, free, used;
};
static_assert(sizeof(MemoryV2) == 40 && offsetof(MemoryV2, total) == 8);

struct PciInfo {
  char legacy_bus_id[16];
  uint32_t domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68 && offsetof(PciInfo, bus_id) == 36);

struct ProcessV1 {  // what the function without a suffix writes
  uint32_t pid;
  uint64_t memory_bytes;
};
static_assert(sizeof(ProcessV1) == 16);

struct ProcessV3 {  // _v2 and _v3
  uint32_t pid;
  uint64_t memory_bytes;  // all ones: not known
  uint32_t gpu_instance_id, compute_instance_id;
};
static_assert(sizeof(ProcessV3) == 24 && offsetof(ProcessV3, gpu_instance_id) == 16);

struct MarginTemperature {
  uint32_t version;
  int32_t margin_c;
};

struct TemperatureV {
  uint32_t version;
  int32_t sensor;
  int32_t temperature_c;
};

struct PowerValueV2 {
  uint32_t version;
  uint8_t scope;
  uint32_t milliwatts;
};

// The number that a versioned struct carries in its first field.
template <typename Struct>
constexpr uint32_t VersionOf(uint32_t version) {
  return static_cast<uint32_t>(sizeof(Struct)) | (version << 24);
}
static_assert(VersionOf<MemoryV2>(2) == 0x02000028);
static_assert(VersionOf<MarginTemperature>(1) == 0x01000008);
static_assert(VersionOf<TemperatureV>(1) == 0x0100000c);
static_assert(VersionOf<PowerValueV2>(2) == 0x0200000c);

}  // namespace stoker::device::nvml
