#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "device/host_probe.h"
#include "device/procfs/procfs_parse.h"

namespace stoker::device {
namespace {

using procfs::CpuTimes;
using procfs::DiskCounters;
using procfs::NetCounters;

constexpr size_t kFileMost = 4 << 20;
constexpr size_t kDevicesMost = 64;

Absence WhyUnread(const Error& error) {
  switch (error.code) {
    case Code::kNotFound:
    case Code::kUnsupported:
      return Absence::kUnsupported;
    case Code::kDenied:
      return Absence::kDenied;
    default:
      return Absence::kError;
  }
}

// A share of the time between two reads. A counter that went back (a core that slept, a wrap, a
// container that moved) says nothing about this interval.
Reading<Ratio> BusyShare(const CpuTimes& now, const CpuTimes& before) {
  if (now.busy < before.busy || now.idle < before.idle) return Absence::kNotYet;
  const uint64_t busy = now.busy - before.busy;
  const uint64_t all = busy + (now.idle - before.idle);
  if (all == 0) return Absence::kNotYet;
  return Ratio(static_cast<double>(busy) / static_cast<double>(all));
}

Reading<double> PerSecond(uint64_t now, uint64_t before, double seconds) {
  if (now < before || seconds <= 0) return Absence::kNotYet;
  return static_cast<double>(now - before) / seconds;
}

// The same for counters of elapsed time, `scale` of them a second; the kernel rounds, so a little
// over one is one.
Reading<Ratio> ShareOfTime(uint64_t now, uint64_t before, double seconds, double scale) {
  const Reading<double> rate = PerSecond(now, before, seconds);
  if (!rate) return rate.absence();
  return Ratio(std::min(1.0, *rate / scale));
}

class ProcfsProbe final : public HostProbe {
 public:
  ProcfsProbe(std::string root, const Clock& clock) : root_(std::move(root)), clock_(clock) {}

  HostFacts Facts() override {
    HostFacts facts;
    facts.hostname = OneLine("/proc/sys/kernel/hostname");
    facts.kernel = OneLine("/proc/sys/kernel/osrelease");
    facts.os = procfs::ValueOf(Text("/etc/os-release").value_or(""), "PRETTY_NAME", '=');
    const std::string cpu = Text("/proc/cpuinfo").value_or("");
    facts.cpu_model = procfs::ValueOf(cpu, "model name", ':');
    if (facts.cpu_model.empty()) facts.cpu_model = procfs::ValueOf(cpu, "Model", ':');
    facts.cores = static_cast<int>(procfs::ParseStat(Text("/proc/stat").value_or("")).cores.size());
    const auto memory = Text("/proc/meminfo");
    facts.memory_total = memory ? AsBytes(procfs::ParseMeminfo(*memory).total)
                                : Reading<Bytes>(WhyUnread(memory.error()));
    return facts;
  }

  HostReading Read() override {
    HostReading out;
    out.at = clock_.Now();
    const MonoTime mono = clock_.Mono();
    const bool first = !last_;
    seconds_ = first ? 0 : Seconds(mono - *last_).count();
    last_ = mono;
    ReadCpu(out);
    ReadLoad(out);
    ReadMemory(out);
    out.pressure_cpu = Pressure("cpu", pressure_cpu_);
    out.pressure_io = Pressure("io", pressure_io_);
    out.pressure_memory = Pressure("memory", pressure_memory_);
    ReadDisks(out);
    ReadNets(out);
    return out;
  }

 private:
  Result<std::string> Text(std::string_view path) const {
    return ReadFile(root_ + std::string(path), kFileMost);
  }
  std::string OneLine(std::string_view path) const {
    return Printable(Trim(Text(path).value_or("")));
  }
  static Reading<Bytes> AsBytes(const std::optional<uint64_t>& bytes) {
    if (!bytes) return Absence::kUnsupported;
    return Bytes(static_cast<double>(*bytes));
  }

  void ReadCpu(HostReading& out) {
    const auto text = Text("/proc/stat");
    procfs::CpuStat now = text ? procfs::ParseStat(*text) : procfs::CpuStat();
    if (!now.all) {
      out.cpu_busy = text ? Absence::kUnsupported : WhyUnread(text.error());
    } else if (cpu_.all) {
      out.cpu_busy = BusyShare(*now.all, *cpu_.all);
    }
    const int cores = now.cores.empty() ? 0 : now.cores.rbegin()->first + 1;
    // A core that is switched off leaves a hole, so that places stay core numbers.
    out.core_busy.assign(static_cast<size_t>(cores), Absence::kUnsupported);
    for (const auto& [core, times] : now.cores) {
      const auto before = cpu_.cores.find(core);
      out.core_busy[static_cast<size_t>(core)] =
          before == cpu_.cores.end() ? Absence::kNotYet : BusyShare(times, before->second);
    }
    cpu_ = std::move(now);
  }

  void ReadLoad(HostReading& out) const {
    const auto text = Text("/proc/loadavg");
    const auto load = text ? procfs::ParseLoadavg(*text) : std::nullopt;
    if (load) {
      out.load_1m = *load;
    } else {
      out.load_1m = text ? Absence::kError : WhyUnread(text.error());
    }
  }

  void ReadMemory(HostReading& out) const {
    const auto text = Text("/proc/meminfo");
    if (!text) {
      out.memory_used = out.swap_used = WhyUnread(text.error());
      return;
    }
    const auto used = [](const std::optional<uint64_t>& total,
                         const std::optional<uint64_t>& left) -> Reading<Bytes> {
      if (!total || !left) return Absence::kUnsupported;
      if (*left > *total) return Absence::kError;
      return Bytes(static_cast<double>(*total - *left));
    };
    const procfs::MemoryInfo info = procfs::ParseMeminfo(*text);
    out.memory_used = used(info.total, info.available);
    out.swap_used = used(info.swap_total, info.swap_free);
  }

  Reading<Ratio> Pressure(std::string_view what, std::optional<uint64_t>& before) const {
    const auto text = Text("/proc/pressure/" + std::string(what));
    const auto now = text ? procfs::ParsePressure(*text) : std::nullopt;
    const auto earlier = std::exchange(before, now);
    // A kernel that has pressure switched off shows the files and refuses to read them.
    if (!now) {
      const bool denied = !text && text.error().code == Code::kDenied;
      return denied ? Absence::kDenied : Absence::kUnsupported;
    }
    if (!earlier) return Absence::kNotYet;
    return ShareOfTime(*now, *earlier, seconds_, 1e6);
  }

  // Whole disks have a place on a bus; loops, memory disks, maps and RAIDs stand on others and
  // would count twice. Remembered by name: the answer does not change.
  bool IsDisk(const std::string& name) {
    const auto known = is_disk_.find(name);
    if (known != is_disk_.end()) return known->second;
    if (is_disk_.size() > 4 * kDevicesMost) is_disk_.clear();
    std::string entry = name;  // "cciss/c0d0" is "cciss!c0d0" there
    std::replace(entry.begin(), entry.end(), '/', '!');
    const bool optical = name.starts_with("sr") || name.starts_with("fd");
    const bool disk = !optical && FileExists(root_ + "/sys/block/" + entry + "/device");
    return is_disk_[name] = disk;
  }

  void ReadDisks(HostReading& out) {
    auto now = procfs::ParseDiskstats(Text("/proc/diskstats").value_or(""));
    std::erase_if(now, [this](const auto& disk) { return !IsDisk(disk.first); });
    for (const auto& [name, counters] : now) {
      if (out.disks.size() == kDevicesMost) break;
      DiskReading reading;
      reading.name = Printable(name);
      if (const auto before = disks_.find(name); before != disks_.end()) {
        const DiskCounters& b = before->second;
        reading.read_bytes_per_s = PerSecond(counters.read_bytes, b.read_bytes, seconds_);
        reading.written_bytes_per_s = PerSecond(counters.written_bytes, b.written_bytes, seconds_);
        reading.busy = ShareOfTime(counters.busy_ms, b.busy_ms, seconds_, 1e3);
      }
      out.disks.push_back(std::move(reading));
    }
    disks_ = std::move(now);
  }

  // Interfaces with hardware behind them; bridges, bonds and containers' ends carry the same bytes
  // again. In a container none has hardware: then all but the loopback count.
  bool IsHardware(const std::string& name) {
    const auto known = is_hardware_.find(name);
    if (known != is_hardware_.end()) return known->second;
    if (is_hardware_.size() > 4 * kDevicesMost) is_hardware_.clear();
    return is_hardware_[name] = FileExists(root_ + "/sys/class/net/" + name + "/device");
  }

  void ReadNets(HostReading& out) {
    auto now = procfs::ParseNetDev(Text("/proc/net/dev").value_or(""));
    now.erase("lo");
    const bool any = std::any_of(now.begin(), now.end(),
                                 [this](const auto& net) { return IsHardware(net.first); });
    if (any) std::erase_if(now, [this](const auto& net) { return !IsHardware(net.first); });
    for (const auto& [name, counters] : now) {
      if (out.nets.size() == kDevicesMost) break;
      NetReading reading;
      reading.name = Printable(name);
      if (const auto before = nets_.find(name); before != nets_.end()) {
        const NetCounters& b = before->second;
        reading.received_bytes_per_s =
            PerSecond(counters.received_bytes, b.received_bytes, seconds_);
        reading.sent_bytes_per_s = PerSecond(counters.sent_bytes, b.sent_bytes, seconds_);
      }
      out.nets.push_back(std::move(reading));
    }
    nets_ = std::move(now);
  }

  const std::string root_;
  const Clock& clock_;
  std::optional<MonoTime> last_;
  double seconds_ = 0;  // between the last two reads
  procfs::CpuStat cpu_;
  std::optional<uint64_t> pressure_cpu_, pressure_io_, pressure_memory_;
  std::map<std::string, DiskCounters> disks_;
  std::map<std::string, NetCounters> nets_;
  std::map<std::string, bool> is_disk_, is_hardware_;
};

}  // namespace

std::unique_ptr<HostProbe> MakeProcfsProbe(std::string root, const Clock& clock) {
  return std::make_unique<ProcfsProbe>(std::move(root), clock);
}

}  // namespace stoker::device
