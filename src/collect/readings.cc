#include "collect/readings.h"

#include <chrono>
#include <type_traits>

namespace stoker::collect {
namespace {

using device::GpuReading;
using ledger::Metric;
using ledger::Scope;
using ledger::Subject;

template <typename T>
Reading<double> Plain(const Reading<T>& reading) {
  if (!reading) return reading.absence();
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(*reading);
  } else {
    return reading->value;
  }
}

Reading<double> SecondsOf(const Reading<uint64_t>& nanoseconds) {
  if (!nanoseconds) return nanoseconds.absence();
  return static_cast<double>(*nanoseconds) / 1e9;
}

}  // namespace

std::vector<Value> CardValues(const GpuReading& r, int64_t card) {
  const Subject subject{Scope::kCard, card, ""};
  return {
      {Metric::kBusyRatio, subject, Plain(r.busy)},
      {Metric::kMemoryBusyRatio, subject, Plain(r.memory_busy)},
      {Metric::kPowerW, subject, Plain(r.power_average)},
      {Metric::kPowerInstantW, subject, Plain(r.power_instant)},
      {Metric::kEnergyJ, subject, Plain(r.energy)},
      {Metric::kLimitW, subject, Plain(r.limit)},
      {Metric::kMemoryUsedBytes, subject, Plain(r.memory_used)},
      {Metric::kTemperatureC, subject, Plain(r.temperature)},
      {Metric::kMemoryTemperatureC, subject, Plain(r.memory_temperature)},
      {Metric::kMarginC, subject, Plain(r.margin)},
      {Metric::kSmClockHz, subject, Plain(r.sm_clock)},
      {Metric::kMemoryClockHz, subject, Plain(r.memory_clock)},
      {Metric::kThrottleBits, subject, Plain(r.throttle)},
      {Metric::kThrottledPowerS, subject, SecondsOf(r.throttled_power_ns)},
      {Metric::kThrottledSwThermalS, subject, SecondsOf(r.throttled_sw_thermal_ns)},
      {Metric::kThrottledHwThermalS, subject, SecondsOf(r.throttled_hw_thermal_ns)},
      {Metric::kThrottledPowerBrakeS, subject, SecondsOf(r.throttled_power_brake_ns)},
      {Metric::kPcieGeneration, subject, Plain(r.pcie_generation)},
      {Metric::kPcieWidth, subject, Plain(r.pcie_width)},
      {Metric::kReadCostS, subject, std::chrono::duration<double>(r.took).count()},
  };
}

std::vector<Value> HostValues(const device::HostReading& r) {
  const Subject host;
  std::vector<Value> out{
      {Metric::kCpuBusyRatio, host, Plain(r.cpu_busy)},
      {Metric::kLoad1m, host, Plain(r.load_1m)},
      {Metric::kHostMemoryUsedBytes, host, Plain(r.memory_used)},
      {Metric::kSwapUsedBytes, host, Plain(r.swap_used)},
      {Metric::kPressureCpuRatio, host, Plain(r.pressure_cpu)},
      {Metric::kPressureIoRatio, host, Plain(r.pressure_io)},
      {Metric::kPressureMemoryRatio, host, Plain(r.pressure_memory)},
  };
  for (size_t core = 0; core < r.core_busy.size(); ++core) {
    const Subject subject{Scope::kCore, static_cast<int64_t>(core), ""};
    out.push_back({Metric::kCoreBusyRatio, subject, Plain(r.core_busy[core])});
  }
  for (const device::DiskReading& disk : r.disks) {
    const Subject subject{Scope::kDisk, 0, disk.name};
    out.push_back({Metric::kDiskReadBytesPerS, subject, disk.read_bytes_per_s});
    out.push_back({Metric::kDiskWrittenBytesPerS, subject, disk.written_bytes_per_s});
    out.push_back({Metric::kDiskBusyRatio, subject, Plain(disk.busy)});
  }
  for (const device::NetReading& net : r.nets) {
    const Subject subject{Scope::kNet, 0, net.name};
    out.push_back({Metric::kNetReceivedBytesPerS, subject, net.received_bytes_per_s});
    out.push_back({Metric::kNetSentBytesPerS, subject, net.sent_bytes_per_s});
  }
  return out;
}

}  // namespace stoker::collect
