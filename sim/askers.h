// Finds the processes of this machine that ask for simulated cards, by their environment in /proc.
// Cheap: a process that does not ask is looked at again only now and then. One thread at a time.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stoker::sim {

struct Asker {
  pid_t pid = 0;
  int64_t start_ns = 0;   // since boot
  std::string visible;    // its CUDA_VISIBLE_DEVICES
  std::string load_path;  // its STOKER_SIM_LOAD, or the file of its pid in the box's load folder
};

class Askers {
 public:
  // Those of the box in `dir`: a process belongs to the box that its STOKER_SIM_DIR names, one
  // without it to boxes without a folder (`dir` empty). So boxes on one machine do not mix. `proc`
  // is "/proc" but in tests.
  explicit Askers(const std::string& dir, std::string proc = "/proc");
  // Everyone who asks now, by pid. Reads at most kReadsMost environments.
  std::vector<Asker> Find();

  static constexpr int kReadsMost = 4096;

 private:
  struct Seen {
    uint64_t first_round = 0;
    bool asks = false;
    Asker asker;
  };
  bool Due(pid_t pid, const Seen& seen) const;
  void Look(pid_t pid, Seen& seen) const;

  const std::string dir_, proc_;
  std::unordered_map<pid_t, Seen> seen_;
  uint64_t round_ = 0;
};

// The cards that CUDA would show for this text, as CUDA reads it: numbers or beginnings of UUIDs,
// ending at the first that is none; no card twice.
std::vector<int> VisibleCards(std::string_view text, const std::vector<std::string>& uuids);

}  // namespace stoker::sim
