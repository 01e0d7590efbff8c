// The seam to the host: CPU, memory, disks, network, pressure. Rates are differences between two
// Read() calls; the first call gives kNotYet for them. Not thread-safe: one thread owns a probe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/reading.h"
#include "base/units.h"

namespace stoker::device {

struct HostFacts {
  std::string hostname, kernel, os, cpu_model;
  int cores = 0;
  Reading<Bytes> memory_total;
};

struct DiskReading {
  std::string name;  // "nvme0n1"; whole disks only
  Reading<double> read_bytes_per_s, written_bytes_per_s;
  Reading<Ratio> busy;
};

struct NetReading {
  std::string name;  // "eth0"; hardware alone where there is any, else all but lo
  Reading<double> received_bytes_per_s, sent_bytes_per_s;
};

struct HostReading {
  WallTime at;
  Reading<Ratio> cpu_busy;  // of all cores together
  std::vector<Reading<Ratio>> core_busy;
  Reading<double> load_1m;
  Reading<Bytes> memory_used;  // total minus available
  Reading<Bytes> swap_used;
  Reading<Ratio> pressure_cpu, pressure_io,
      pressure_memory;  // PSI "some" share since the last read
  std::vector<DiskReading> disks;
  std::vector<NetReading> nets;
};

class HostProbe {
 public:
  virtual ~HostProbe() = default;
  virtual HostFacts Facts() = 0;
  virtual HostReading Read() = 0;
};

// Reads `root`/proc and `root`/sys; root "" is this machine, a folder is a recorded one.
std::unique_ptr<HostProbe> MakeProcfsProbe(std::string root, const Clock& clock);

}  // namespace stoker::device
