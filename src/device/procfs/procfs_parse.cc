#include "device/procfs/procfs_parse.h"

#include <array>
#include <charconv>

#include "base/text.h"

namespace stoker::device::procfs {
namespace {

constexpr int kCoresMost = 4096;
constexpr size_t kNamesMost = 1024;
constexpr uint64_t kSectorBytes = 512;  // diskstats counts in these whatever the disk's own size

// Takes the next word, or an empty one at the end.
std::string_view Word(std::string_view& line) {
  const size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) {
    line = {};
    return {};
  }
  line.remove_prefix(begin);
  const size_t end = std::min(line.find_first_of(" \t"), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end);
  return word;
}

std::string_view Line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::optional<uint64_t> Number(std::string_view word) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

// Up to N numbers of a line; how many stood there.
template <size_t N>
size_t Numbers(std::string_view line, std::array<uint64_t, N>& out) {
  for (size_t i = 0; i < N; ++i) {
    const auto number = Number(Word(line));
    if (!number) return i;
    out[i] = *number;
  }
  return N;
}

}  // namespace

CpuStat ParseStat(std::string_view text) {
  CpuStat stat;
  while (!text.empty()) {
    std::string_view line = Line(text);
    std::string_view name = Word(line);
    if (name.substr(0, 3) != "cpu") break;  // the processors come first; the rest is long
    // user nice system idle iowait irq softirq steal; guest times are within user and nice.
    std::array<uint64_t, 8> t = {};
    if (Numbers(line, t) < 4) continue;
    const CpuTimes times = {t[0] + t[1] + t[2] + t[5] + t[6] + t[7], t[3] + t[4]};
    name.remove_prefix(3);
    if (name.empty()) {
      stat.all = times;
    } else if (const auto core = Number(name); core && *core < kCoresMost) {
      stat.cores[static_cast<int>(*core)] = times;
    }
  }
  return stat;
}

MemoryInfo ParseMeminfo(std::string_view text) {
  MemoryInfo info;
  while (!text.empty()) {
    std::string_view line = Line(text);
    const std::string_view key = Word(line);
    const auto kib = Number(Word(line));
    if (!kib || *kib > (uint64_t{1} << 53)) continue;
    if (key == "MemTotal:") info.total = *kib * 1024;
    if (key == "MemAvailable:") info.available = *kib * 1024;
    if (key == "SwapTotal:") info.swap_total = *kib * 1024;
    if (key == "SwapFree:") info.swap_free = *kib * 1024;
  }
  return info;
}

std::optional<double> ParseLoadavg(std::string_view text) {
  const auto load = ParseDouble(Word(text));
  if (!load || !(*load >= 0 && *load < 1e9)) return std::nullopt;
  return load;
}

std::optional<uint64_t> ParsePressure(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = Line(text);
    if (Word(line) != "some") continue;
    for (std::string_view word = Word(line); !word.empty(); word = Word(line)) {
      if (word.substr(0, 6) == "total=") return Number(word.substr(6));
    }
  }
  return std::nullopt;
}

std::map<std::string, DiskCounters> ParseDiskstats(std::string_view text) {
  std::map<std::string, DiskCounters> disks;
  while (!text.empty() && disks.size() < kNamesMost) {
    std::string_view line = Line(text);
    Word(line);  // major
    Word(line);  // minor
    const std::string_view name = Word(line);
    // reads merged sectors ms, writes merged sectors ms, in flight, ms with a request in flight
    std::array<uint64_t, 10> n = {};
    if (name.empty() || Numbers(line, n) < n.size()) continue;
    disks[std::string(name)] = {n[2] * kSectorBytes, n[6] * kSectorBytes, n[9]};
  }
  return disks;
}

std::map<std::string, NetCounters> ParseNetDev(std::string_view text) {
  std::map<std::string, NetCounters> nets;
  while (!text.empty() && nets.size() < kNamesMost) {
    std::string_view line = Line(text);
    const size_t colon = line.rfind(':');  // an alias "eth0:1" has one of its own
    if (colon == std::string_view::npos) continue;
    const std::string_view name = Trim(line.substr(0, colon));
    std::array<uint64_t, 9> n = {};
    if (name.empty() || Numbers(line.substr(colon + 1), n) < n.size()) continue;
    nets[std::string(name)] = {n[0], n[8]};
  }
  return nets;
}

std::string ValueOf(std::string_view text, std::string_view key, char separator) {
  while (!text.empty()) {
    const std::string_view line = Line(text);
    const size_t at = line.find(separator);
    if (at == std::string_view::npos || Trim(line.substr(0, at)) != key) continue;
    std::string_view value = Trim(line.substr(at + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    return Printable(value);
  }
  return {};
}

}  // namespace stoker::device::procfs
