// Generated from metrics.json by tools/gen_metrics.cc: edit that file, not this one.
// The catalogue of everything that can be sampled: each metric once, with its unit, the scale at
// which it is stored, and what it belongs to. Ids are stored in ledgers: append only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace stoker::ledger {

enum class Scope { kCard, kHost, kCore, kDisk, kNet, kRack, kJob };
std::string_view ScopeName(Scope scope);  // "card", "host", ...

enum class MetricKind { kGauge, kCounter };

enum class Metric : uint16_t {
  kBusyRatio = 1,
  kMemoryBusyRatio = 2,
  kPowerW = 3,
  kPowerInstantW = 4,
  kEnergyJ = 5,
  kLimitW = 6,
  kMemoryUsedBytes = 7,
  kTemperatureC = 8,
  kMemoryTemperatureC = 9,
  kMarginC = 10,
  kSmClockHz = 11,
  kMemoryClockHz = 12,
  kThrottleBits = 13,
  kThrottledPowerS = 14,
  kThrottledSwThermalS = 15,
  kThrottledHwThermalS = 16,
  kThrottledPowerBrakeS = 17,
  kPcieGeneration = 18,
  kPcieWidth = 19,
  kReadCostS = 20,
  kSmActiveRatio = 21,
  kSmOccupancyRatio = 22,
  kTensorActiveRatio = 23,
  kDramActiveRatio = 24,
  kPcieSentBytesPerS = 25,
  kPcieReceivedBytesPerS = 26,
  kNvlinkSentBytesPerS = 27,
  kNvlinkReceivedBytesPerS = 28,
  kNvdecBusyRatio = 29,
  kNvjpgBusyRatio = 30,
  kThrottledSyncBoostS = 31,
  kThrottledBoardS = 32,
  kThrottledReliabilityS = 33,
  kEccCorrected = 34,
  kEccUncorrected = 35,
  kRemappedRowsCorrected = 36,
  kRemappedRowsUncorrected = 37,
  kRemapPending = 38,
  kRemapFailed = 39,
  kPcieReplays = 70,
  kRecoveryAction = 71,
  kUnreadS = 72,
  kCpuBusyRatio = 40,
  kCoreBusyRatio = 41,
  kLoad1m = 42,
  kHostMemoryUsedBytes = 43,
  kSwapUsedBytes = 44,
  kPressureCpuRatio = 45,
  kPressureIoRatio = 46,
  kPressureMemoryRatio = 47,
  kDiskReadBytesPerS = 48,
  kDiskWrittenBytesPerS = 49,
  kDiskBusyRatio = 50,
  kNetReceivedBytesPerS = 51,
  kNetSentBytesPerS = 52,
  kRackPowerW = 53,
  kRackEnergyJ = 54,
  kJobCpuCores = 55,
  kJobMemoryBytes = 56,
  kJobProcesses = 57,
  kJobReadBytesPerS = 58,
  kDiskFreeBytes = 59,
  kServeCpuRatio = 60,
  kServeMemoryBytes = 61,
  kServeWrittenBytesPerS = 62,
  kProbeCpuRatio = 63,
  kProbeMemoryBytes = 64,
  kDriverBusyRatio = 65,
};

struct MetricInfo {
  std::string_view name;  // "power_w"
  std::string_view unit;  // "W"; empty where there is none
  double scale = 1;       // stored as the integer nearest to value * scale
  MetricKind kind = MetricKind::kGauge;
  Scope scope = Scope::kHost;
  std::string_view sentence;
  Metric metric{};
};

const MetricInfo& Info(Metric metric);
std::optional<Metric> FindMetric(std::string_view name);
// Of a number in a file: nullopt for a metric that only a newer Stoker knows.
std::optional<Metric> MetricFromId(int64_t id);
std::span<const MetricInfo> AllMetrics();

}  // namespace stoker::ledger
