#include "vault/intake.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "vault/notes.h"
#include "vault/roles.h"

namespace stoker::vault {
namespace {

using ledger::Checkpoint;
using ledger::CheckpointState;
using ledger::Event;
using ledger::Job;
using ledger::JobState;

constexpr Millis kJobsEvery{1000}, kRescanEvery{10'000}, kMarkEvery{300'000};
// A version is looked at only when its file time is certainly older than any later write's.
constexpr Millis kSettle{20};
constexpr int kRescanShare = 50;               // looking again costs at most 1/50 of the time
constexpr Millis kJobsKept{10 * 60'000};       // how long an ended job is still asked for
constexpr Millis kClockSlack{24 * 3'600'000};  // of marks, against clocks that were set
constexpr Millis kFirstReach{7 * 24 * 3'600'000};
constexpr int kNamedFolderLimit = 64;
constexpr size_t kMaxPath = 4096;
constexpr std::string_view kWritten = "checkpoint.written";
constexpr const char* kSinceMark = "vault.since";

std::string FinalMark(int64_t job) { return "vault.final." + std::to_string(job); }

}  // namespace

Status Intake::Start() {
  STOKER_ASSIGN(const std::optional<std::string> since, ledger_.Mark(kSinceMark));
  const std::optional<int64_t> ms = since ? ParseInt(*since) : std::nullopt;
  since_ = ms ? WallTime{*ms} - kClockSlack : clock_.Now() - kFirstReach;
  ledger::EventFilter newest;
  newest.limit = 1;
  STOKER_ASSIGN(const std::vector<Event> events, ledger_.Events(newest));
  last_event_ = events.empty() ? 0 : events.back().id;
  next_mark_ = clock_.Mono() + kMarkEvery;
  if (!finder_.watch_problem().empty()) log_.Warn("vault", "{}", finder_.watch_problem());
  return Ok();
}

Status Intake::Poll(Millis wait) {
  STOKER_ASSIGN(const std::vector<std::string> paths, finder_.Poll(wait));
  for (const std::string& path : paths) STOKER_TRY(Observe(path));
  return Ok();
}

Status Intake::Refresh() {
  const MonoTime now = clock_.Mono();
  if (now >= next_jobs_) {
    STOKER_TRY(RefreshJobs());
    STOKER_TRY(ReadWords());
    next_jobs_ = now + kJobsEvery;
  }
  if (finder_.TakeOverflow()) next_rescan_ = now;
  if (now >= next_rescan_) {
    STOKER_TRY(RescanAll());
    const std::chrono::nanoseconds took = clock_.Mono() - now;
    next_rescan_ =
        clock_.Mono() + std::max<std::chrono::nanoseconds>(kRescanEvery, took * kRescanShare);
  }
  return Ok();
}

Status Intake::RefreshJobs() {
  ledger::JobFilter filter;
  filter.since = since_;
  filter.brief = true;
  STOKER_ASSIGN(const std::vector<Job> jobs, ledger_.Jobs(filter));
  std::set<int64_t> met;
  std::vector<int64_t> taken;
  for (const Job& job : jobs) {
    met.insert(job.id);
    if (Followed* followed = following_.Find(job.id)) {
      STOKER_TRY(Update(*followed, job));
      continue;
    }
    if (job.state == JobState::kQueued || job.origin == ledger::JobOrigin::kImported) continue;
    if (done_.count(job.id) != 0) continue;
    STOKER_ASSIGN(const std::optional<std::string> final, ledger_.Mark(FinalMark(job.id)));
    if (final) {
      done_.insert(job.id);
      continue;
    }
    STOKER_TRY(TakeUp(job));
    taken.push_back(job.id);
  }
  for (const int64_t id : taken) STOKER_TRY(FirstLook(*following_.Find(id)));
  for (auto& [id, followed] : following_.jobs()) {
    if (met.count(id) != 0 || followed.ended) continue;
    STOKER_ASSIGN(const Job job, ledger_.JobById(id));
    STOKER_TRY(Update(followed, job));
  }
  // Not at first: jobs that ended while nobody kept the books may still be on their way into them.
  if (clock_.Mono() < next_mark_) return Ok();
  since_ = std::max(since_, clock_.Now() - kJobsKept);
  WallTime reach = clock_.Now();
  for (const auto& [id, followed] : following_.jobs()) {
    if (followed.ended) reach = std::min(reach, followed.job.ended_at.value_or(WallTime{}));
  }
  STOKER_TRY(ledger_.Write([&](ledger::Writer& writer) {
    return writer.SetMark(kSinceMark, std::to_string(reach.ms));
  }));
  next_mark_ = clock_.Mono() + kMarkEvery;
  return Ok();
}

Status Intake::TakeUp(const Job& job) {
  STOKER_TRY(book_.LoadJob(job.id));
  ledger::EventFilter words;
  words.job = job.id;
  words.kind_prefix = kWritten;
  STOKER_ASSIGN(const std::vector<Event> events, ledger_.Events(words));
  Followed& followed = following_.jobs()[job.id];
  followed.job = job;
  followed.ended = ledger::IsFinal(job.state);
  if (job.cwd.starts_with('/')) {
    AddRoot(followed, CleanPath(job.cwd, "/"), config_.max_watched_folders);
  }
  for (const Event& event : events) Learn(followed, event);
  return Ok();
}

Status Intake::FirstLook(Followed& followed) {
  STOKER_TRY(RescanOf(followed));
  for (const auto& [path, told] : followed.told) {
    STOKER_TRY(Apply(followed, path, /*only_gaps=*/true));
  }
  return TellLimit(followed);
}

Status Intake::Update(Followed& followed, const Job& job) {
  followed.job = job;
  if (followed.ended || !ledger::IsFinal(job.state)) return Ok();
  followed.ended = true;
  next_rescan_ = clock_.Mono();  // the last look, now that nobody writes
  for (auto& [id, row] : book_.open()) {
    if (row.checkpoint.job == job.id) row.look_at = clock_.Mono();
  }
  return Ok();
}

bool Intake::AddRoot(Followed& followed, const std::string& root, int max_folders) {
  if (!followed.roots.insert(root).second) return false;
  if (!finder_.HasRoot(root)) finder_.AddRoot(root, max_folders);
  return true;
}

Status Intake::RescanRoot(const std::string& root) {
  for (const std::string& path : finder_.Rescan(root)) STOKER_TRY(Observe(path));
  return Ok();
}

Status Intake::RescanOf(Followed& followed) {
  for (const std::string& root : followed.roots) STOKER_TRY(RescanRoot(root));
  for (const auto& [path, told] : followed.told) STOKER_TRY(Observe(path));
  if (followed.ended) followed.scanned = true;
  return Ok();
}

Status Intake::RescanAll() {
  std::set<std::string> roots;
  for (const auto& [id, followed] : following_.jobs()) {
    roots.insert(followed.roots.begin(), followed.roots.end());
  }
  for (const std::string& root : roots) STOKER_TRY(RescanRoot(root));
  for (auto& [id, followed] : following_.jobs()) {
    for (const auto& [path, told] : followed.told) STOKER_TRY(Observe(path));
    if (followed.ended) followed.scanned = true;
    STOKER_TRY(TellLimit(followed));
  }
  return Ok();
}

Status Intake::TellLimit(Followed& followed) {
  if (followed.limit_told) return Ok();
  const bool limited = std::any_of(followed.roots.begin(), followed.roots.end(),
                                   [&](const std::string& root) { return finder_.Limited(root); });
  if (!limited && finder_.watch_problem().empty()) return Ok();
  Event event;
  event.at = clock_.Now();
  event.kind = "vault.watch_limited";
  event.severity = ledger::Severity::kNotice;
  event.job = followed.job.id;
  event.text = limited
                   ? "the job's folder has more subfolders than are watched; checkpoints in the "
                     "deepest ones are found only where the run log names them"
                   : "checkpoints are found up to ten seconds late: " + finder_.watch_problem();
  event.data_json = DumpJson(Json{{"max_folders", config_.max_watched_folders}});
  STOKER_TRY(ledger_.Write([&](ledger::Writer& writer) -> Status {
    STOKER_ASSIGN([[maybe_unused]] const int64_t id, writer.AddEvent(event));
    return Ok();
  }));
  followed.limit_told = true;
  return Ok();
}

Status Intake::ReadWords() {
  ledger::EventFilter filter;
  filter.after_id = last_event_;
  filter.kind_prefix = kWritten;
  STOKER_ASSIGN(const std::vector<Event> events, ledger_.Events(filter));
  for (const Event& event : events) {
    Followed* followed = event.job ? following_.Find(*event.job) : nullptr;
    if (followed != nullptr) {
      const size_t roots = followed->roots.size();
      const std::optional<std::string> path = Learn(*followed, event);
      if (followed->roots.size() != roots) STOKER_TRY(RescanOf(*followed));
      if (path) {
        STOKER_TRY(Observe(*path));
        STOKER_TRY(Apply(*followed, *path, /*only_gaps=*/false));
      }
    }
    last_event_ = std::max(last_event_, event.id);
  }
  return Ok();
}

std::optional<std::string> Intake::Learn(Followed& followed, const Event& event) {
  const Result<Json> data = ParseJson(event.data_json, "event");
  const std::optional<std::string> said = data ? JsonString(*data, "path") : std::nullopt;
  if (!said || said->empty() || said->size() > kMaxPath) return std::nullopt;
  std::string path = CleanPath(*said, followed.job.cwd);
  if (!FileExists(path) && !followed.job.folder.empty()) {
    const std::string in_folder = CleanPath(*said, followed.job.folder);
    if (FileExists(in_folder)) path = in_folder;
  }
  Told& told = followed.told[path];
  if (const std::optional<std::string> role = JsonString(*data, "role")) {
    told.role = ParseRole(*role);
  }
  told.epoch = JsonNumber(*data, "epoch");
  told.at = event.at;
  told.fresh = true;
  const Result<FileStat> stat = StatFile(path);
  if (stat && stat->is_directory()) {
    AddRoot(followed, path, kNamedFolderLimit);
  } else if (!finder_.Covers(DirName(path))) {
    AddRoot(followed, DirName(path), 1);  // that folder alone, not the tree below it
  }
  return path;
}

Status Intake::Apply(Followed& followed, const std::string& path, bool only_gaps) {
  Told& told = followed.told[path];
  const Book::Latest* latest = book_.LatestOf(path);
  if (latest == nullptr || following_.OwnerOf(path, latest->version, latest->job) != &followed) {
    return Ok();
  }
  // Given to another job by a guess, before this one said that it was its own.
  const bool regained = latest->job != followed.job.id;
  if (!told.fresh && !regained) return Ok();
  STOKER_ASSIGN(const int64_t row, RowOf(*latest, followed.job.id, path, told));
  if (row == 0) return Ok();
  STOKER_ASSIGN(Checkpoint checkpoint, ledger_.CheckpointById(row));
  checkpoint.job = followed.job.id;
  const bool knows_role = checkpoint.role != ledger::CheckpointRole::kUnknown;
  if (told.role && !(only_gaps && knows_role)) checkpoint.role = *told.role;
  if (told.epoch && !(only_gaps && checkpoint.epoch)) checkpoint.epoch = told.epoch;
  STOKER_TRY(JoinMetrics(ledger_, followed.job, told.epoch.has_value(), checkpoint));
  STOKER_TRY(book_.Correct(checkpoint, told.epoch.has_value()));
  told.fresh = false;
  return Ok();
}

// The version that a word is about: the newest written before it. A quick trainer may have written
// the file again meanwhile.
Result<int64_t> Intake::RowOf(const Book::Latest& latest, int64_t job, const std::string& path,
                              const Told& told) {
  if (told.SpeaksOf(latest.version.mtime_ns)) return latest.id;
  STOKER_ASSIGN(const std::vector<Checkpoint> rows, ledger_.Checkpoints(job));
  const Checkpoint* found = nullptr;
  for (const Checkpoint& row : rows) {
    if (row.path != path || !told.SpeaksOf(row.mtime_ns)) continue;
    if (found == nullptr || row.mtime_ns > found->mtime_ns) found = &row;
  }
  return found == nullptr ? int64_t{0} : found->id;
}

Status Intake::Observe(const std::string& path) {
  const Result<std::optional<Version>> at = VersionAt(path);
  if (!at) {
    log_.Warn("vault", "{}", at.error().Line());
    return Ok();
  }
  Book::Latest* latest = book_.LatestOf(path);
  OpenRow* row = book_.OpenAt(path);
  if (!*at) {
    if (row == nullptr) return Ok();
    return Vanish(*row, row->version(), "removed before it was sent");
  }
  const Version& version = **at;
  if (latest != nullptr && latest->version.Same(version)) {
    latest->version.inode = version.inode;
    if (row != nullptr) row->inode = version.inode;
    return Ok();
  }
  if (version.bytes == 0 && row == nullptr) return Ok();  // a name without content yet
  Followed* owner = following_.OwnerOf(path, version, latest == nullptr ? 0 : latest->job);
  if (owner == nullptr) {
    if (row == nullptr) return Ok();
    return Vanish(*row, row->version(), "written over before it was sent");
  }
  bool epoch_told = false;
  Checkpoint checkpoint = Describe(*owner, path, version.mtime_ns, epoch_told);
  checkpoint.mtime_ns = version.mtime_ns;
  STOKER_TRY(JoinMetrics(ledger_, owner->job, epoch_told, checkpoint));
  STOKER_ASSIGN(OpenRow * made, book_.Put(std::move(checkpoint), version));
  made->epoch_told = epoch_told;
  made->look_at = clock_.Mono() + kSettle;
  return Ok();
}

Checkpoint Intake::Describe(Followed& followed, const std::string& path, int64_t mtime_ns,
                            bool& epoch_told) const {
  Checkpoint checkpoint;
  checkpoint.job = followed.job.id;
  checkpoint.path = path;
  checkpoint.role = RoleFromName(path);
  checkpoint.epoch = EpochFromName(path);
  auto told = followed.told.find(path);
  if (told == followed.told.end()) told = followed.told.find(DirName(path));
  if (told != followed.told.end()) {
    if (told->second.role) checkpoint.role = *told->second.role;
    if (told->second.fresh && told->second.SpeaksOf(mtime_ns)) {
      if (told->second.epoch) checkpoint.epoch = told->second.epoch;
      if (told->first == path) told->second.fresh = false;
    }
  }
  epoch_told = checkpoint.epoch.has_value();
  return checkpoint;
}

Status Intake::Vanish(OpenRow& row, const Version& last, const std::string& why) {
  Checkpoint changed = row.checkpoint;
  if (book_.IsElsewhere(changed.path, last)) {
    changed.state = CheckpointState::kSuperseded;
    changed.reason = "renamed";
    return book_.Save(row, changed);
  }
  const bool was_whole = changed.state != CheckpointState::kSeen;
  changed.state = CheckpointState::kGone;
  changed.reason = why;
  return book_.Save(row, changed, [&](ledger::Writer& writer) -> Status {
    if (!was_whole) return Ok();
    STOKER_ASSIGN(
        [[maybe_unused]] const int64_t id,
        writer.AddEvent(CheckpointEvent(clock_.Now(), "checkpoint.gone", ledger::Severity::kWarning,
                                        changed, "was " + why)));
    return Ok();
  });
}

Status Intake::Finish() {
  std::vector<int64_t> finished;
  for (const auto& [id, followed] : following_.jobs()) {
    if (followed.ended && followed.scanned && !book_.HasUnexamined(id)) finished.push_back(id);
  }
  for (const int64_t id : finished) {
    STOKER_TRY(ledger_.Write([&](ledger::Writer& writer) {
      return writer.SetMark(FinalMark(id), FormatTime(clock_.Now()));
    }));
    const std::set<std::string> roots = std::move(following_.Find(id)->roots);
    following_.jobs().erase(id);
    for (const std::string& root : roots) {
      if (!following_.Uses(root)) finder_.RemoveRoot(root);
    }
    book_.DropJob(id);
    done_.insert(id);
  }
  return Ok();
}

void Intake::LookAgain() { next_jobs_ = next_rescan_ = clock_.Mono(); }

bool Intake::IsOver(int64_t job) {
  const Followed* followed = following_.Find(job);
  return followed == nullptr || (followed->ended && followed->scanned);
}

const Job* Intake::JobOf(int64_t job) {
  const Followed* followed = following_.Find(job);
  return followed == nullptr ? nullptr : &followed->job;
}

}  // namespace stoker::vault
