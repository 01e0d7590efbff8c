#include "sim/askers.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/text.h"

namespace stoker::sim {
namespace {

constexpr size_t kEnvironMost = 1 << 20;
// A process is read each round while young (it may still exec), then every kRest rounds.
constexpr uint64_t kYoungRounds = 8;
constexpr uint64_t kRest = 10;

// The value of `name` in a block of "NAME=value" strings, each ended by a zero byte.
std::optional<std::string> Variable(std::string_view block, std::string_view name) {
  while (!block.empty()) {
    const size_t end = std::min(block.find('\0'), block.size());
    const std::string_view entry = block.substr(0, end);
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return std::string(entry.substr(name.size() + 1));
    }
    block.remove_prefix(std::min(end + 1, block.size()));
  }
  return std::nullopt;
}

// When the process began, in nanoseconds since boot; nullopt where it ended.
std::optional<int64_t> StartOf(const std::string& folder) {
  const auto stat = ReadFile(folder + "/stat", 16 << 10);
  if (!stat) return std::nullopt;
  const size_t close = stat->rfind(") ");
  if (close == std::string::npos) return std::nullopt;
  const auto fields = Split(std::string_view(*stat).substr(close + 2), ' ');
  if (fields.size() < 20 || fields[0] == "Z" || fields[0] == "X") return std::nullopt;
  const auto ticks = ParseInt(fields[19]);
  if (!ticks) return std::nullopt;
  return *ticks * (1'000'000'000 / ::sysconf(_SC_CLK_TCK));
}

}  // namespace

Askers::Askers(const std::string& dir, std::string proc)
    : dir_(dir.empty() ? "" : CleanPath(dir, "/")), proc_(std::move(proc)) {}

bool Askers::Due(pid_t pid, const Seen& seen) const {
  return seen.asks || round_ - seen.first_round < kYoungRounds ||
         static_cast<uint64_t>(pid) % kRest == round_ % kRest;
}

void Askers::Look(pid_t pid, Seen& seen) const {
  seen.asks = false;
  const std::string folder = JoinPath(proc_, std::to_string(pid));
  // Empty for zombies and the kernel's own; unreadable for other users' processes.
  const auto environment = ReadFile(folder + "/environ", kEnvironMost);
  if (!environment || environment->empty()) return;
  auto visible = Variable(*environment, "CUDA_VISIBLE_DEVICES");
  if (!visible) return;
  const std::string box = Variable(*environment, "STOKER_SIM_DIR").value_or("");
  if ((box.empty() ? box : CleanPath(box, "/")) != dir_) return;
  auto path = Variable(*environment, "STOKER_SIM_LOAD");
  if (!path && !dir_.empty()) {
    path = JoinPath(dir_, "load/" + std::to_string(pid) + ".json");
    if (!FileExists(*path)) return;
  }
  if (!path || path->empty() || path->front() != '/') return;
  const auto start = StartOf(folder);
  if (!start) return;
  seen.asks = true;
  seen.asker = {pid, *start, *visible, *path};
}

std::vector<Asker> Askers::Find() {
  ++round_;
  std::vector<Asker> out;
  const auto entries = ListDir(proc_);
  if (!entries) return out;
  std::unordered_map<pid_t, Seen> now;
  int reads = 0;
  for (const DirEntry& entry : *entries) {
    const auto number = ParseInt(entry.name);
    if (!number || *number <= 0) continue;
    const auto pid = static_cast<pid_t>(*number);
    const auto known = seen_.find(pid);
    Seen seen = known != seen_.end() ? std::move(known->second) : Seen{round_, false, {}};
    if (Due(pid, seen) && reads < kReadsMost) {
      Look(pid, seen);
      ++reads;
    }
    if (seen.asks) out.push_back(seen.asker);
    now.emplace(pid, std::move(seen));
  }
  seen_ = std::move(now);
  std::sort(out.begin(), out.end(), [](const Asker& a, const Asker& b) { return a.pid < b.pid; });
  return out;
}

std::vector<int> VisibleCards(std::string_view text, const std::vector<std::string>& uuids) {
  std::vector<int> cards;
  for (const std::string_view word : Split(text, ',')) {
    const std::string_view item = Trim(word);
    int card = -1;
    if (const auto number = ParseInt(item)) {
      if (*number >= 0 && *number < static_cast<int64_t>(uuids.size())) {
        card = static_cast<int>(*number);
      }
    } else if (item.size() > 4 && item.starts_with("GPU-")) {
      for (size_t i = 0; i < uuids.size(); ++i) {
        if (uuids[i].starts_with(item)) card = card < 0 ? static_cast<int>(i) : -2;
      }
    }
    if (card < 0 || std::find(cards.begin(), cards.end(), card) != cards.end()) return cards;
    cards.push_back(card);
  }
  return cards;
}

}  // namespace stoker::sim
