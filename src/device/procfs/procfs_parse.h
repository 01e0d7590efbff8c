// Parsers of the kernel's text files, each bounded and pure: text in, numbers out. Lines that do
// not parse are left out; a file that holds nothing of use gives nullopt or an empty list.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace stoker::device::procfs {

struct CpuTimes {
  uint64_t busy = 0;  // clock ticks since boot; guests are part of user time
  uint64_t idle = 0;  // idle and waiting for disks
};
struct CpuStat {
  std::optional<CpuTimes> all;
  std::map<int, CpuTimes> cores;  // by core number; cores that are off are absent
};
CpuStat ParseStat(std::string_view text);  // /proc/stat

struct MemoryInfo {  // bytes
  std::optional<uint64_t> total, available, swap_total, swap_free;
};
MemoryInfo ParseMeminfo(std::string_view text);  // /proc/meminfo

std::optional<double> ParseLoadavg(std::string_view text);  // one minute

// Microseconds since boot that some task waited, from a /proc/pressure file.
std::optional<uint64_t> ParsePressure(std::string_view text);

struct DiskCounters {
  uint64_t read_bytes = 0, written_bytes = 0;
  uint64_t busy_ms = 0;
};
std::map<std::string, DiskCounters> ParseDiskstats(std::string_view text);  // partitions too

struct NetCounters {
  uint64_t received_bytes = 0, sent_bytes = 0;
};
std::map<std::string, NetCounters> ParseNetDev(std::string_view text);  // lo too

// The value of `key` in lines "key : value" or "key=value", quotes taken off; empty where absent.
std::string ValueOf(std::string_view text, std::string_view key, char separator);

}  // namespace stoker::device::procfs
