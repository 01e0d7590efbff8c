// The simulated box: moves its cards on to the present whenever somebody looks. Its state lives in
// a file where STOKER_SIM_DIR is set, so that all processes see one box. Not thread-safe.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/file.h"
#include "base/result.h"
#include "sim/askers.h"
#include "sim/description.h"
#include "sim/load_file.h"

namespace stoker::sim {

// The bytes of the state file. Fits one page, which one write(2) replaces whole even under SIGKILL.
struct BoxState {
  uint64_t format = 0;
  uint64_t boot = 0;    // hash of the boot: counters restart with the machine, as a driver's do
  int64_t real_ns = 0;  // since boot, when the state was brought up to date
  int64_t sim_ns = 0;   // simulated time since the state began
  uint32_t cards = 0;
  uint32_t unused = 0;
  std::array<CardState, kCardsMost> card{};
  uint64_t checksum = 0;
};
static_assert(sizeof(BoxState) <= 4096);

struct SimProcess {
  pid_t pid = 0;
  double memory_bytes = 0;
};

class Box {
 public:
  // `description_path` empty: the default box. `dir` empty: the state is this process's own.
  static Result<std::unique_ptr<Box>> Open(const std::string& description_path,
                                           const std::string& dir);

  // Brings everything up to now; nearly free when called again within some milliseconds.
  void Sync();
  // Lets `ns` of simulated time pass at once under the loads of now.
  void Advance(int64_t ns);

  const Description& description() const { return description_; }
  int count() const { return static_cast<int>(description_.cards.size()); }
  const CardSpec& spec(int card) const { return Card(card).spec; }
  const CardState& state(int card) const { return state_.card[static_cast<size_t>(card)]; }
  const CardView& view(int card) const { return views_[static_cast<size_t>(card)]; }
  const std::vector<SimProcess>& processes(int card) const {
    return processes_[static_cast<size_t>(card)];
  }
  int64_t sim_ns() const { return state_.sim_ns; }
  // What `call` on this card must answer instead of working; nullopt: it works.
  std::optional<int> Fault(int card, std::string_view call) const;
  // False where it is outside the card's bounds.
  bool SetLimit(int card, double watts);

 private:
  struct KnownFile {
    FileStat stat;
    std::optional<LoadFile> load;  // absent: it does not parse
  };
  struct Loader {  // one process with its load
    Asker asker;
    LoadFile load;
    std::vector<int> cards;
    int64_t begin_sim_ns = 0;
  };

  explicit Box(std::string description_path);
  const DescribedCard& Card(int card) const {
    return description_.cards[static_cast<size_t>(card)];
  }
  Status ReadDescription();
  Status OpenState(const std::string& dir);
  void StartAfresh(int64_t real_ns);
  void FitCards();
  void LoadState(int64_t real_ns);
  void StoreState();
  void Refresh(int64_t real_ns);
  void RefreshDescription();
  const LoadFile* ReadLoad(const std::string& path);
  void MoveOn(int64_t ns);
  void Integrate(int64_t ns);
  Load LoadOf(int card, int64_t sim_ns) const;
  void LookAtAll();

  const std::string description_path_;
  FileStat description_stat_;
  Description description_;
  uint64_t boot_ = 0;
  Fd state_file_;  // invalid: the state is this process's own
  BoxState state_;
  std::unique_ptr<Askers> askers_;
  int64_t synced_ns_ = -1, refreshed_ns_ = -1;
  std::map<std::string, KnownFile> load_files_;
  std::vector<Loader> loaders_;
  std::map<pid_t, std::pair<int64_t, int64_t>> begins_;  // pid: start since boot, begin in sim time
  std::vector<CardView> views_;
  std::vector<std::vector<SimProcess>> processes_;
};

}  // namespace stoker::sim
