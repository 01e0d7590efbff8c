#include "sim/box.h"

#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <set>
#include <utility>

#include "base/proc_info.h"

namespace stoker::sim {
namespace {

constexpr uint64_t kFormat = 0x316d69736b6f7473;  // "stoksim1"
constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kSyncEvery = kSecond / 100;
constexpr int64_t kRefreshEvery = kSecond / 2;
constexpr int64_t kPrelude = 600 * kSecond;
constexpr int64_t kStep = kSecond / 10;
constexpr int64_t kStepsMost = 20'000;  // of one catching up; longer gaps take longer steps

int64_t SinceBoot() {
  timespec t{};
  ::clock_gettime(CLOCK_BOOTTIME, &t);
  return t.tv_sec * kSecond + t.tv_nsec;
}

uint64_t Checksum(const BoxState& state) {
  // FNV-1a: it must only tell a torn or foreign file from ours.
  const auto* bytes = reinterpret_cast<const unsigned char*>(&state);
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t i = 0; i < offsetof(BoxState, checksum); ++i) {
    hash = (hash ^ bytes[i]) * 0x100000001b3;
  }
  return hash;
}

bool Plausible(const CardState& card) {
  return std::isfinite(card.temperature_c) && std::isfinite(card.power_average_w) &&
         std::isfinite(card.energy_mj) && card.energy_mj >= 0 && card.energy_mj < 1e18 &&
         std::isfinite(card.limit_w) && card.limit_w > 0;
}

// Holds the state file's lock; a holder that dies lets go of it.
class Locked {
 public:
  explicit Locked(const Fd& file) : fd_(file.get()) {
    while (fd_ >= 0 && ::flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~Locked() {
    if (fd_ >= 0) ::flock(fd_, LOCK_UN);
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  const int fd_;
};

}  // namespace

Box::Box(std::string description_path) : description_path_(std::move(description_path)) {}

Result<std::unique_ptr<Box>> Box::Open(const std::string& description_path,
                                       const std::string& dir) {
  std::unique_ptr<Box> box(new Box(description_path));
  STOKER_TRY(box->ReadDescription());
  const auto boot = BootId();
  box->boot_ = std::hash<std::string>()(boot ? *boot : "");
  if (!dir.empty()) STOKER_TRY(box->OpenState(dir));
  box->askers_ = std::make_unique<Askers>(dir);
  box->Sync();
  return box;
}

Status Box::ReadDescription() {
  if (description_path_.empty()) {
    STOKER_ASSIGN(description_, ParseDescription("", "the default box"));
    return Ok();
  }
  STOKER_ASSIGN(const FileStat stat, StatFile(description_path_));
  STOKER_ASSIGN(const std::string text, ReadFile(description_path_, 1 << 20));
  STOKER_ASSIGN(description_, ParseDescription(text.empty() ? "{}" : text, description_path_));
  description_stat_ = stat;
  return Ok();
}

// A box's description may change while it runs (a card dies, a fan stops); one that does not parse
// changes nothing.
void Box::RefreshDescription() {
  if (description_path_.empty()) return;
  const auto stat = StatFile(description_path_);
  if (!stat || *stat == description_stat_) return;
  description_stat_ = *stat;
  Ignore(ReadDescription());
}

Status Box::OpenState(const std::string& dir) {
  STOKER_TRY(MakeDirs(JoinPath(dir, "load")));
  STOKER_ASSIGN(state_file_, OpenFile(JoinPath(dir, "box.state"), O_RDWR | O_CREAT, 0644));
  return Ok();
}

void Box::StartAfresh(int64_t real_ns) {
  state_ = BoxState();
  state_.format = kFormat;
  state_.boot = boot_;
  // Its first ten minutes are lived through at once, under the processes that run already: what two
  // processes see of a box without a state file is then nearly the same.
  state_.real_ns = std::max<int64_t>(0, real_ns - kPrelude);
}

// Cards that were added to the description start cold.
void Box::FitCards() {
  const auto count = static_cast<uint32_t>(description_.cards.size());
  for (uint32_t i = state_.cards; i < count; ++i) {
    state_.card[i] = StartState(description_.cards[i].spec);
  }
  state_.cards = count;
  views_.resize(count);
  processes_.resize(count);
}

void Box::LoadState(int64_t real_ns) {
  bool good = state_.format == kFormat;  // false at the first call
  if (state_file_.valid()) {
    BoxState stored;
    const ssize_t got = ::pread(state_file_.get(), &stored, sizeof stored, 0);
    good = got == static_cast<ssize_t>(sizeof stored) && stored.format == kFormat &&
           stored.boot == boot_ && stored.cards <= kCardsMost &&
           stored.checksum == Checksum(stored) && stored.real_ns <= real_ns &&
           std::all_of(stored.card.begin(), stored.card.begin() + stored.cards, Plausible);
    if (good) state_ = stored;
  }
  if (!good) StartAfresh(real_ns);
  FitCards();
}

void Box::StoreState() {
  if (!state_file_.valid()) return;
  state_.checksum = Checksum(state_);
  // A full disk loses some milliseconds of a simulation: the next look tries again.
  [[maybe_unused]] const ssize_t put = ::pwrite(state_file_.get(), &state_, sizeof state_, 0);
}

void Box::Sync() {
  const int64_t now = SinceBoot();
  if (synced_ns_ >= 0 && now - synced_ns_ < kSyncEvery) return;
  synced_ns_ = now;
  if (refreshed_ns_ < 0 || now - refreshed_ns_ >= kRefreshEvery) {
    refreshed_ns_ = now;
    RefreshDescription();
  }
  const Locked lock(state_file_);
  LoadState(SinceBoot());
  if (refreshed_ns_ == now) Refresh(now);
  const int64_t passed = std::max<int64_t>(0, now - state_.real_ns);
  state_.real_ns = std::max(state_.real_ns, now);
  MoveOn(static_cast<int64_t>(std::llround(static_cast<double>(passed) * description_.speed)));
}

void Box::Advance(int64_t ns) {
  synced_ns_ = refreshed_ns_ = -1;
  Sync();
  const Locked lock(state_file_);
  LoadState(SinceBoot());
  MoveOn(std::max<int64_t>(0, ns));
}

void Box::MoveOn(int64_t ns) {
  Integrate(ns);
  StoreState();
  LookAtAll();
}

void Box::Integrate(int64_t ns) {
  const int64_t step = std::max(kStep, ns / kStepsMost);
  while (ns > 0) {
    const int64_t part = std::min(step, ns);
    for (int i = 0; i < count(); ++i) {
      Step(spec(i), LoadOf(i, state_.sim_ns), static_cast<double>(part) / kSecond,
           state_.card[static_cast<size_t>(i)]);
    }
    state_.sim_ns += part;
    ns -= part;
  }
}

Load Box::LoadOf(int card, int64_t sim_ns) const {
  Load sum;
  for (const Loader& loader : loaders_) {
    if (sim_ns < loader.begin_sim_ns) continue;  // it did not run yet
    if (std::find(loader.cards.begin(), loader.cards.end(), card) == loader.cards.end()) continue;
    sum = sum + loader.load.At(static_cast<double>(sim_ns - loader.begin_sim_ns) / kSecond);
  }
  return sum;
}

void Box::LookAtAll() {
  for (int i = 0; i < count(); ++i) {
    const auto at = static_cast<size_t>(i);
    views_[at] = Look(spec(i), state_.card[at], LoadOf(i, state_.sim_ns));
    processes_[at].clear();
  }
  for (const Loader& loader : loaders_) {
    const double seconds = static_cast<double>(state_.sim_ns - loader.begin_sim_ns) / kSecond;
    for (const int card : loader.cards) {
      processes_[static_cast<size_t>(card)].push_back(
          {loader.asker.pid, loader.load.At(seconds).memory_bytes});
    }
  }
}

const LoadFile* Box::ReadLoad(const std::string& path) {
  const auto stat = StatFile(path);
  if (!stat || !stat->is_regular()) return nullptr;
  KnownFile& known = load_files_[path];
  if (known.stat != *stat) {
    known.stat = *stat;
    known.load.reset();
    const auto text = ReadFile(path, 1 << 20);
    auto parsed = text ? ParseLoadFile(*text, path) : Result<LoadFile>(text.error());
    if (parsed) known.load = std::move(*parsed);
  }
  return known.load ? &*known.load : nullptr;
}

// One file loads its cards once, however many processes inherited its name: it speaks for the
// process that it names, else for the oldest.
void Box::Refresh(int64_t real_ns) {
  std::map<std::string, Asker> chosen;
  std::map<std::string, KnownFile> kept;
  for (const Asker& asker : askers_->Find()) {
    const LoadFile* load = ReadLoad(asker.load_path);
    if (load == nullptr || (load->pid && *load->pid != asker.pid)) continue;
    const auto [at, added] = chosen.emplace(asker.load_path, asker);
    if (!added && asker.start_ns < at->second.start_ns) at->second = asker;
  }
  std::vector<std::string> uuids;
  for (const DescribedCard& card : description_.cards) uuids.push_back(card.spec.uuid);
  std::map<pid_t, std::pair<int64_t, int64_t>> begins;
  loaders_.clear();
  for (auto& [path, asker] : chosen) {
    const auto known = begins_.find(asker.pid);
    int64_t begin = state_.sim_ns;
    if (known != begins_.end() && known->second.first == asker.start_ns) {
      begin = known->second.second;
    } else {
      // Where it began on the box's own clock, as if that had always run at this speed.
      const int64_t age = std::max<int64_t>(0, real_ns - asker.start_ns);
      const int64_t pending = std::max<int64_t>(0, real_ns - state_.real_ns);
      begin += std::llround(static_cast<double>(pending - age) * description_.speed);
    }
    begins[asker.pid] = {asker.start_ns, begin};
    auto known_file = load_files_.find(path);
    loaders_.push_back(
        {asker, *known_file->second.load, VisibleCards(asker.visible, uuids), begin});
    kept.insert(*known_file);
  }
  begins_ = std::move(begins);
  load_files_ = std::move(kept);
}

std::optional<int> Box::Fault(int card, std::string_view call) const {
  const auto& fail = Card(card).fail;
  if (fail.empty()) return std::nullopt;
  auto found = fail.find(call);
  if (found == fail.end()) found = fail.find("*");
  if (found == fail.end()) return std::nullopt;
  return found->second;
}

bool Box::SetLimit(int card, double watts) {
  if (!(watts >= spec(card).limit_min_w && watts <= spec(card).limit_max_w)) return false;
  const Locked lock(state_file_);
  LoadState(SinceBoot());
  state_.card[static_cast<size_t>(card)].limit_w = watts;
  MoveOn(0);
  return true;
}

}  // namespace stoker::sim
