// The seam to the cards. One GpuProbe answers for a whole box; every field of every answer is a
// value or the reason for its absence. Not thread-safe: one thread owns a probe.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/reading.h"
#include "base/result.h"
#include "base/units.h"

namespace stoker::device {

// What does not change while a card stays on the bus.
struct GpuIdentity {
  int index = 0;           // NVML index; CUDA's with CUDA_DEVICE_ORDER=PCI_BUS_ID
  std::string uuid;        // "GPU-…"
  std::string name;        // "NVIDIA RTX PRO 6000 Blackwell Server Edition"
  std::string pci_bus_id;  // "00000000:17:00.0"; empty where unknown
  Reading<Bytes> memory_total;
  Reading<Watts> limit_min, limit_max, limit_default;
  Reading<Celsius> slowdown_at;  // the temperature at which the card slows itself, if it says so
  int pcie_generation_max = 0;   // 0: unknown
  int pcie_width_max = 0;
};

// Bits of NVML's clocks-event reasons, passed through; names by ThrottleReasonNames().
using ThrottleBits = uint64_t;
constexpr ThrottleBits kReasonGpuIdle = 0x1;
constexpr ThrottleBits kReasonAppClocks = 0x2;
constexpr ThrottleBits kReasonPowerCap = 0x4;
constexpr ThrottleBits kReasonHwSlowdown = 0x8;
constexpr ThrottleBits kReasonSyncBoost = 0x10;
constexpr ThrottleBits kReasonSwThermal = 0x20;
constexpr ThrottleBits kReasonHwThermal = 0x40;
constexpr ThrottleBits kReasonPowerBrake = 0x80;
constexpr ThrottleBits kReasonDisplayClocks = 0x100;
// The reasons that cost speed: power cap, slowdown by hardware, heat or brake.
constexpr ThrottleBits kThrottling =
    kReasonPowerCap | kReasonHwSlowdown | kReasonSwThermal | kReasonHwThermal | kReasonPowerBrake;
// "power_cap", "hw_slowdown", "sw_thermal", "hw_thermal", "power_brake", …; unknown bits as
// "0x200".
std::vector<std::string> ThrottleReasonNames(ThrottleBits bits);

struct GpuProcess {
  pid_t pid = 0;
  Reading<Bytes> memory;
};

// One read of one card. `at` is the wall time of the read, `took` what the driver needed.
struct GpuReading {
  WallTime at;
  std::chrono::nanoseconds took{0};
  Reading<Watts> power_average;  // mean of about the last second, by the card
  Reading<Watts> power_instant;
  Reading<Joules> energy;      // counter since the driver loaded; may restart at 0
  Reading<Watts> limit;        // enforced limit after all limiters
  Reading<Ratio> busy;         // share of time with one or more kernels running: time, not effort
  Reading<Ratio> memory_busy;  // share of time the memory was read or written
  Reading<Bytes> memory_used;
  Reading<Celsius> temperature;
  Reading<Celsius> memory_temperature;
  Reading<Celsius> margin;  // degrees left before the card slows itself
  Reading<Hertz> sm_clock;
  Reading<Hertz> memory_clock;
  Reading<ThrottleBits> throttle;
  // Nanoseconds since driver load that each cause held the clocks back.
  Reading<uint64_t> throttled_power_ns, throttled_sw_thermal_ns, throttled_hw_thermal_ns,
      throttled_power_brake_ns;
  Reading<int> pcie_generation;
  Reading<int> pcie_width;
  Reading<std::vector<GpuProcess>> processes;  // kNotYet in cycles that do not ask
};

// What to ask for in one cycle; process lists and memory are dear and change slowly.
struct ReadPlan {
  // Memory, processes, link; and whatever takes this card's driver long, measured once: on
  // datacenter cards the energy counter, the margin and the times of hardware slowdown. Elsewhere
  // those come in every cycle. What a quick cycle leaves out is kNotYet.
  bool slow = true;
};

class GpuProbe {
 public:
  virtual ~GpuProbe() = default;
  // Cards present now, in index order. Empty is normal. A card that is lost stays in the list, with
  // what was known of it.
  virtual Result<std::vector<GpuIdentity>> List() = 0;
  // Never fails as a whole: a card that is gone answers kLost in every field.
  virtual GpuReading Read(int index, const ReadPlan& plan) = 0;
  // Driver and library versions and the like, for doctor and the records: {"driver", "580.65.06"}.
  virtual std::vector<std::pair<std::string, std::string>> Facts() = 0;
  // True for the simulator; everything shown from it must say so.
  virtual bool simulated() const = 0;
};

}  // namespace stoker::device
