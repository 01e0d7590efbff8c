// Generated from metrics.json by tools/gen_metrics.cc: edit that file, not this one.
#include "ledger/metrics.h"

#include "base/check.h"

namespace stoker::ledger {
namespace {

// clang-format off
constexpr MetricInfo kMetrics[] = {
    {"busy_ratio", "ratio", 1000, MetricKind::kGauge, Scope::kCard,
     "share of time with one or more kernels running on the card: time, not effort",
     Metric::kBusyRatio},
    {"memory_busy_ratio", "ratio", 1000, MetricKind::kGauge, Scope::kCard,
     "share of time the card's memory was read or written",
     Metric::kMemoryBusyRatio},
    {"power_w", "W", 1000, MetricKind::kGauge, Scope::kCard,
     "board power, the card's own average over about one second",
     Metric::kPowerW},
    {"power_instant_w", "W", 1000, MetricKind::kGauge, Scope::kCard,
     "board power at the instant of the read",
     Metric::kPowerInstantW},
    {"energy_j", "J", 1000, MetricKind::kCounter, Scope::kCard,
     "energy counter of the card since its driver loaded",
     Metric::kEnergyJ},
    {"limit_w", "W", 1000, MetricKind::kGauge, Scope::kCard,
     "power limit in force",
     Metric::kLimitW},
    {"memory_used_bytes", "B", 1, MetricKind::kGauge, Scope::kCard,
     "memory of the card in use",
     Metric::kMemoryUsedBytes},
    {"temperature_c", "°C", 10, MetricKind::kGauge, Scope::kCard,
     "temperature of the GPU",
     Metric::kTemperatureC},
    {"memory_temperature_c", "°C", 10, MetricKind::kGauge, Scope::kCard,
     "temperature of the card's memory",
     Metric::kMemoryTemperatureC},
    {"margin_c", "°C", 10, MetricKind::kGauge, Scope::kCard,
     "degrees left before the card slows itself",
     Metric::kMarginC},
    {"sm_clock_hz", "Hz", 1e-06, MetricKind::kGauge, Scope::kCard,
     "clock of the multiprocessors",
     Metric::kSmClockHz},
    {"memory_clock_hz", "Hz", 1e-06, MetricKind::kGauge, Scope::kCard,
     "clock of the card's memory",
     Metric::kMemoryClockHz},
    {"throttle_bits", "bits", 1, MetricKind::kGauge, Scope::kCard,
     "clocks-event reasons in force at the read",
     Metric::kThrottleBits},
    {"throttled_power_s", "s", 1e+06, MetricKind::kCounter, Scope::kCard,
     "time since driver load that the power cap held the clocks back",
     Metric::kThrottledPowerS},
    {"throttled_sw_thermal_s", "s", 1e+06, MetricKind::kCounter, Scope::kCard,
     "time since driver load that the driver slowed the card for heat",
     Metric::kThrottledSwThermalS},
    {"throttled_hw_thermal_s", "s", 1e+06, MetricKind::kCounter, Scope::kCard,
     "time since driver load that the card slowed itself for heat",
     Metric::kThrottledHwThermalS},
    {"throttled_power_brake_s", "s", 1e+06, MetricKind::kCounter, Scope::kCard,
     "time since driver load that the power brake held the clocks back",
     Metric::kThrottledPowerBrakeS},
    {"pcie_generation", "", 1, MetricKind::kGauge, Scope::kCard,
     "PCIe generation of the link now",
     Metric::kPcieGeneration},
    {"pcie_width", "lanes", 1, MetricKind::kGauge, Scope::kCard,
     "PCIe lanes of the link now",
     Metric::kPcieWidth},
    {"read_cost_s", "s", 1e+06, MetricKind::kGauge, Scope::kCard,
     "time the driver took to answer the read",
     Metric::kReadCostS},
    {"cpu_busy_ratio", "ratio", 1000, MetricKind::kGauge, Scope::kHost,
     "share of time the host's cores worked",
     Metric::kCpuBusyRatio},
    {"core_busy_ratio", "ratio", 1000, MetricKind::kGauge, Scope::kCore,
     "share of time one core worked",
     Metric::kCoreBusyRatio},
    {"load_1m", "", 100, MetricKind::kGauge, Scope::kHost,
     "load average over one minute",
     Metric::kLoad1m},
    {"host_memory_used_bytes", "B", 1, MetricKind::kGauge, Scope::kHost,
     "host memory that is not available to programs",
     Metric::kHostMemoryUsedBytes},
    {"swap_used_bytes", "B", 1, MetricKind::kGauge, Scope::kHost,
     "swap in use",
     Metric::kSwapUsedBytes},
    {"pressure_cpu_ratio", "ratio", 1000, MetricKind::kGauge, Scope::kHost,
     "share of time some task waited for a core",
     Metric::kPressureCpuRatio},
    {"pressure_io_ratio", "ratio", 1000, MetricKind::kGauge, Scope::kHost,
     "share of time some task waited for a disk",
     Metric::kPressureIoRatio},
    {"pressure_memory_ratio", "ratio", 1000, MetricKind::kGauge, Scope::kHost,
     "share of time some task waited for memory",
     Metric::kPressureMemoryRatio},
    {"disk_read_bytes_per_s", "B/s", 1, MetricKind::kGauge, Scope::kDisk,
     "bytes a second read from the disk",
     Metric::kDiskReadBytesPerS},
    {"disk_written_bytes_per_s", "B/s", 1, MetricKind::kGauge, Scope::kDisk,
     "bytes a second written to the disk",
     Metric::kDiskWrittenBytesPerS},
    {"disk_busy_ratio", "ratio", 1000, MetricKind::kGauge, Scope::kDisk,
     "share of time the disk had work",
     Metric::kDiskBusyRatio},
    {"net_received_bytes_per_s", "B/s", 1, MetricKind::kGauge, Scope::kNet,
     "bytes a second received",
     Metric::kNetReceivedBytesPerS},
    {"net_sent_bytes_per_s", "B/s", 1, MetricKind::kGauge, Scope::kNet,
     "bytes a second sent",
     Metric::kNetSentBytesPerS},
    {"serve_cpu_ratio", "ratio", 100000, MetricKind::kGauge, Scope::kHost,
     "share of one core that Stoker itself used",
     Metric::kServeCpuRatio},
    {"serve_memory_bytes", "B", 1, MetricKind::kGauge, Scope::kHost,
     "resident memory of Stoker itself",
     Metric::kServeMemoryBytes},
};
// clang-format on

}  // namespace

std::span<const MetricInfo> AllMetrics() { return kMetrics; }

std::optional<Metric> FindMetric(std::string_view name) {
  for (const MetricInfo& info : kMetrics) {
    if (info.name == name) return info.metric;
  }
  return std::nullopt;
}

std::optional<Metric> MetricFromId(int64_t id) {
  for (const MetricInfo& info : kMetrics) {
    if (static_cast<int64_t>(info.metric) == id) return info.metric;
  }
  return std::nullopt;
}

const MetricInfo& Info(Metric metric) {
  for (const MetricInfo& info : kMetrics) {
    if (info.metric == metric) return info;
  }
  STOKER_CHECK(!"a metric of the catalogue");
  return kMetrics[0];
}

std::string_view ScopeName(Scope scope) {
  constexpr std::string_view kNames[] = {"card", "host", "core", "disk", "net", "rack"};
  return kNames[static_cast<size_t>(scope)];
}

}  // namespace stoker::ledger
