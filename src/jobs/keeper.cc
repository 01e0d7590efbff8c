#include "jobs/keeper.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "base/proc_info.h"
#include "base/text.h"
#include "jobs/import.h"
#include "jobs/job_folder.h"
#include "jobs/redact.h"
#include "jobs/run_intake.h"

namespace stoker::jobs {
namespace {

using ledger::Attempt;
using ledger::Job;
using ledger::JobState;
using ledger::Severity;

constexpr Millis kLaunchLimit{60000};  // a folder without job.json for so long is a dead launch
constexpr size_t kNewPerTick = 1000;   // folders taken up in one pass
constexpr size_t kBatch = 4 << 20;     // bytes of a run log in one transaction
constexpr int kFinalBatches = 16;      // of a job that has ended, in one pass
constexpr size_t kBytesPerTick = 64 << 20;  // of all run logs together
constexpr int kReloadEvery = 60;            // passes between looks at what the ledger calls running
const char* const kHighestMark = "jobs.highest";

// A job that has not ended on record.
struct Track {
  Job job;
  RunState run;
  std::map<int, Attempt> attempts;  // as they are in the ledger
};

std::string RunMark(int64_t id) { return fmt::format("jobs.{}.runlog", id); }

Job JobFrom(const JobSpec& spec, const std::string& folder) {
  Job job;
  job.id = spec.id;
  job.name = spec.name;
  job.state = JobState::kQueued;
  job.origin = spec.origin;
  job.command = RedactedCommand(spec.command);
  job.cwd = spec.cwd;
  job.user = spec.user;
  job.gpus = spec.gpus;
  job.created_at = spec.created_at;
  job.run_log = spec.run_log;
  job.folder = folder;
  job.environment_json = spec.environment_json;
  job.git_json = spec.git_json;
  return job;
}

bool SameAttempt(const Attempt& a, const Attempt& b) {
  return a.pid == b.pid && a.started_at == b.started_at && a.ended_at == b.ended_at &&
         a.exit_code == b.exit_code && a.signal == b.signal;
}

bool IsImport(const Job& job) { return job.origin == ledger::JobOrigin::kImported; }

std::string EndData(const Job& job, const RunState& run) {
  Json data = {{"state", ledger::JobStateName(job.state)}};
  if (job.exit_code) data["exit_code"] = *job.exit_code;
  if (job.signal) data["signal"] = *job.signal;
  if (job.started_at && job.ended_at)
    data["wall_s"] = static_cast<double>((*job.ended_at - *job.started_at).count()) / 1000;
  if (run.bad_lines > 0) data["bad_lines"] = run.bad_lines;
  if (run.thinned > 0) data["points_passed_over"] = run.thinned;
  return DumpJson(data);
}

Severity EndSeverity(JobState state) {
  if (state == JobState::kSucceeded) return Severity::kInfo;
  return state == JobState::kStopped ? Severity::kNotice : Severity::kWarning;
}

}  // namespace

struct Keeper::State {
  State(const Home& h, ledger::Ledger& l, Logger& g, const Clock& c)
      : home(h), ledger(l), log(g), clock(c) {}

  Status Tick();
  Status Reload();
  Status Follow(const Job& job);
  Status Discover();
  Status TakeUp(int64_t id);
  Status TakeUpPending();
  Status PutNew(const Job& job);
  std::string HighestAfter(int64_t id) const;
  void FindCards(Track& track, Changes& changes);
  Result<std::optional<JobEnd>> FindEnd(const Job& job);
  Status Advance(int64_t id, size_t& budget);
  Result<bool> AdvanceOnce(int64_t id, const std::optional<JobEnd>& end, size_t& budget);
  void TakeStart(const Attempt& attempt, bool is_new, Job& job, Changes& changes);
  Status TakeAttempts(Track& track, Changes& changes);
  Result<runlog::TailBatch> ReadRunLog(Track& track, bool final, size_t budget, Changes& changes);
  void TakeEnd(const JobEnd& end, Track& track, Changes& changes);
  Status Commit(Job& job, const RunState& run, const Changes& changes);

  const Home home;
  ledger::Ledger& ledger;
  Logger& log;
  const Clock& clock;

  bool loaded = false;
  int ticks = 0;
  std::map<int64_t, Track> tracks;
  std::set<int64_t> pending;  // folders that are not in the ledger
  int64_t highest = 0;        // the newest folder that was listed
  int64_t listed_mtime_ns = -1;
  int quiet_lists = 0;
};

Status Keeper::State::Tick() {
  if (!loaded || ++ticks % kReloadEvery == 0) STOKER_TRY(Reload());
  STOKER_TRY(Discover());
  STOKER_TRY(TakeUpPending());
  std::vector<int64_t> ids;
  for (const auto& [id, track] : tracks) ids.push_back(id);
  // Each pass begins with another job, so that none starves where the bytes do not reach.
  if (!ids.empty())
    std::rotate(ids.begin(), ids.begin() + ticks % static_cast<int>(ids.size()), ids.end());
  size_t budget = kBytesPerTick;
  for (const int64_t id : ids) STOKER_TRY(Advance(id, budget));
  return Ok();
}

// The ledger says which jobs have not ended. Looked at again now and then: whoever else writes a
// job's row could have put an old state back.
Status Keeper::State::Reload() {
  STOKER_ASSIGN(const auto jobs, ledger.Jobs({.states = {JobState::kQueued, JobState::kRunning}}));
  for (const Job& job : jobs) {
    // Jobs that others watch (adopted, slurm) have no folder here.
    if (!job.folder.empty() && tracks.count(job.id) == 0) STOKER_TRY(Follow(job));
  }
  if (loaded) return Ok();
  STOKER_ASSIGN(const auto mark, ledger.Mark(kHighestMark));
  highest = mark ? ParseInt(*mark).value_or(0) : 0;
  loaded = true;
  return Ok();
}

Status Keeper::State::Follow(const Job& job) {
  Track track;
  track.job = job;
  STOKER_ASSIGN(const auto mark, ledger.Mark(RunMark(job.id)));
  track.run = ParseRunState(mark.value_or(""));
  RecallPlan(job.plan_json, track.run);
  STOKER_ASSIGN(const auto names, ledger.MetricNames(job.id));
  for (const std::string& name : names) {
    if (!name.starts_with("throughput/") && !name.starts_with("wait/"))
      track.run.names.insert(name);
  }
  STOKER_ASSIGN(const auto phases, ledger.Phases(job.id));
  for (const ledger::Phase& phase : phases) {
    if (!phase.ended_at) track.run.open_phases[phase.name] = phase.began_at;
  }
  STOKER_ASSIGN(const auto attempts, ledger.Attempts(job.id));
  for (const Attempt& attempt : attempts) track.attempts[attempt.number] = attempt;
  tracks[job.id] = std::move(track);
  return Ok();
}

// Ten thousand old folders cost one stat: the listing is read only while its time changes, and
// twice after, because a file system's clock may tick more slowly than folders appear.
Status Keeper::State::Discover() {
  const auto stat = StatFile(home.jobs());
  if (!stat && stat.error().code == Code::kNotFound) return Ok();
  if (!stat) return stat.error();
  quiet_lists = stat->mtime_ns == listed_mtime_ns ? quiet_lists + 1 : 0;
  if (quiet_lists > 2) return Ok();
  listed_mtime_ns = stat->mtime_ns;
  STOKER_ASSIGN(const auto ids, ListJobFolders(home.jobs()));
  for (const int64_t id : ids) {
    if (id > highest) pending.insert(id);
  }
  if (!ids.empty()) highest = std::max(highest, ids.back());
  return Ok();
}

Status Keeper::State::TakeUpPending() {
  const std::vector<int64_t> ids(pending.begin(), pending.end());
  size_t taken = 0;
  for (const int64_t id : ids) {
    if (++taken > kNewPerTick) break;
    STOKER_TRY(TakeUp(id));
  }
  return Ok();
}

// Every folder up to this number is on record once `id` is.
std::string Keeper::State::HighestAfter(int64_t id) const {
  for (const int64_t other : pending) {
    if (other != id) return std::to_string(other - 1);
  }
  return std::to_string(highest);
}

Status Keeper::State::PutNew(const Job& job) {
  return ledger.Write([&](ledger::Writer& writer) -> Status {
    STOKER_TRY(writer.PutJob(job));
    return writer.SetMark(kHighestMark, HighestAfter(job.id));
  });
}

Status Keeper::State::TakeUp(int64_t id) {
  const std::string folder = home.job(id);
  const auto known = ledger.JobById(id);
  if (known) {
    pending.erase(id);
    return ledger::IsFinal(known->state) || tracks.count(id) > 0 ? Ok() : Follow(*known);
  }
  if (known.error().code != Code::kNotFound) return known.error();
  const auto spec = ReadSpec(folder);
  if (!spec && spec.error().code == Code::kNotFound) {
    // A launch that has got no further yet, or never will.
    const auto stat = StatFile(folder);
    if (!stat || clock.Now() - WallTime{stat->mtime_ns / 1'000'000} > kLaunchLimit)
      pending.erase(id);
    return Ok();
  }
  if (!spec || spec->id != id) {
    log.Error("jobs", "job {} is not recorded: {}", id,
              spec ? "its folder is another job's" : spec.error().Line());
    pending.erase(id);
    return Ok();
  }
  const Job job = JobFrom(*spec, folder);
  STOKER_TRY(PutNew(job));
  pending.erase(id);
  return Follow(job);
}

// The ledger's ids of the cards that the job holds, once the collector has put the cards there.
void Keeper::State::FindCards(Track& track, Changes& changes) {
  if (track.job.cards.size() == track.job.gpus.size()) return;
  if (IsImport(track.job)) return;  // its cards are another box's
  const auto boxes = ledger.Boxes();
  const auto cards = ledger.Cards();
  if (!boxes || !cards) return;
  const std::string host = HostName();
  std::vector<int64_t> found;
  for (const int gpu : track.job.gpus) {
    for (const ledger::Card& card : *cards) {
      const bool here = std::any_of(boxes->begin(), boxes->end(), [&](const ledger::Box& box) {
        return box.id == card.box && box.hostname == host;
      });
      if (!here || !card.present || card.gpu != gpu) continue;
      found.push_back(card.id);
      break;
    }
  }
  if (found.size() != track.job.gpus.size()) return;
  track.job.cards = std::move(found);
  changes.job = true;
}

Result<std::optional<JobEnd>> Keeper::State::FindEnd(const Job& job) {
  const auto end = ReadEnd(job.folder);
  if (end) return std::optional(*end);
  if (!FileExists(JoinPath(job.folder, "job.json"))) {
    JobEnd lost;
    lost.state = JobState::kLost;
    lost.ended_at = clock.Now();
    lost.reason = "the job's folder was removed";
    return std::optional(std::move(lost));
  }
  return FindLostEnd(job.folder, clock.Now());
}

void Keeper::State::TakeStart(const Attempt& attempt, bool is_new, Job& job, Changes& changes) {
  if (job.state == JobState::kQueued) {
    job.state = JobState::kRunning;
    job.started_at = attempt.started_at;
    changes.job = true;
    if (IsImport(job)) return;
    changes.events.push_back(
        JobEvent(job, attempt.started_at, "job.started", Severity::kInfo,
                 fmt::format("job {} ({}) started by {}: {}", job.id, job.name, job.user,
                             Printable(Ellipsize(Join(job.command, " "), 200))),
                 DumpJson({{"pid", attempt.pid}, {"gpus", job.gpus}})));
  } else if (is_new) {
    changes.events.push_back(
        JobEvent(job, attempt.started_at, "job.restarted", Severity::kNotice,
                 fmt::format("job {} ({}) began attempt {}", job.id, job.name, attempt.number),
                 DumpJson({{"attempt", attempt.number}, {"pid", attempt.pid}})));
  }
}

Status Keeper::State::TakeAttempts(Track& track, Changes& changes) {
  int first_open = 1;
  while (track.attempts.count(first_open) > 0 && track.attempts[first_open].ended_at) ++first_open;
  STOKER_ASSIGN(const auto attempts, ReadAttemptsFrom(track.job.folder, first_open));
  for (Attempt attempt : attempts) {
    attempt.job = track.job.id;
    const auto known = track.attempts.find(attempt.number);
    if (known != track.attempts.end() && SameAttempt(known->second, attempt)) continue;
    changes.attempts.push_back(attempt);
    TakeStart(attempt, known == track.attempts.end(), track.job, changes);
    track.attempts[attempt.number] = attempt;
  }
  return Ok();
}

Result<runlog::TailBatch> Keeper::State::ReadRunLog(Track& track, bool final, size_t budget,
                                                    Changes& changes) {
  auto batch = runlog::ReadNew(track.job.run_log, track.run.tail, final, std::min(budget, kBatch));
  if (batch) return batch;
  if (!track.run.unreadable) {
    track.run.unreadable = true;
    changes.mark = true;
    changes.events.push_back(JobEvent(track.job, clock.Now(), "job.runlog_unreadable",
                                      Severity::kWarning,
                                      fmt::format("the run log of job {} cannot be read: {}",
                                                  track.job.id, batch.error().Line())));
  }
  runlog::TailBatch nothing;
  nothing.mark = track.run.tail;
  return nothing;
}

void Keeper::State::TakeEnd(const JobEnd& end, Track& track, Changes& changes) {
  Job& job = track.job;
  job.state = end.state;
  job.ended_at = end.ended_at;
  job.exit_code = end.exit_code;
  job.signal = end.signal;
  job.reason = end.reason;
  changes.job = true;
  for (const auto& [name, began] : track.run.open_phases)
    changes.phases.push_back({job.id, name, began, std::max(began, end.ended_at)});
  track.run.open_phases.clear();
  for (auto& [number, attempt] : track.attempts) {
    if (attempt.ended_at) continue;  // of a lost job: nobody saw how it ended
    attempt.ended_at = end.ended_at;
    changes.attempts.push_back(attempt);
  }
  if (IsImport(job)) {
    changes.events.push_back(JobEvent(job, job.created_at, "job.imported", Severity::kInfo,
                                      fmt::format("job {} ({}) imported", job.id, job.name),
                                      EndData(job, track.run)));
    return;
  }
  std::string text =
      fmt::format("job {} ({}) {}", job.id, job.name, ledger::JobStateName(job.state));
  if (job.started_at) text += " after " + FormatDuration(Seconds(*job.ended_at - *job.started_at));
  if (!job.reason.empty()) text += ": " + job.reason;
  changes.events.push_back(JobEvent(job, end.ended_at, "job.ended", EndSeverity(job.state), text,
                                    EndData(job, track.run)));
}

Status Keeper::State::Commit(Job& job, const RunState& run, const Changes& changes) {
  if (changes.job) {
    // Others keep fields of the same row.
    STOKER_ASSIGN(const Job fresh, ledger.JobById(job.id));
    job.gpu_energy_j = fresh.gpu_energy_j;
  }
  return ledger.Write([&](ledger::Writer& writer) -> Status {
    if (changes.job) STOKER_TRY(writer.PutJob(job));
    for (const Attempt& attempt : changes.attempts) STOKER_TRY(writer.PutAttempt(attempt));
    if (!changes.metrics.empty()) STOKER_TRY(writer.AddMetrics(job.id, changes.metrics));
    for (const ledger::Phase& phase : changes.phases) STOKER_TRY(writer.PutPhase(phase));
    for (const ledger::Event& event : changes.events) {
      const auto id = writer.AddEvent(event);
      if (!id) return id.error();
    }
    if (changes.mark) STOKER_TRY(writer.SetMark(RunMark(job.id), FormatRunState(run)));
    return Ok();
  });
}

// One transaction. True where there is more to read at once.
Result<bool> Keeper::State::AdvanceOnce(int64_t id, const std::optional<JobEnd>& end,
                                        size_t& budget) {
  Track next = tracks[id];  // memory follows only where the ledger has gone
  Changes changes;
  STOKER_TRY(TakeAttempts(next, changes));
  FindCards(next, changes);
  STOKER_ASSIGN(const auto batch, ReadRunLog(next, end.has_value(), budget, changes));
  STOKER_TRY(TakeBatch(batch, clock.Now(), ledger, next.job, next.run, changes));
  for (const std::string& line : batch.lines) budget -= std::min(budget, line.size() + 1);
  const bool over = end && !batch.more;
  if (over) TakeEnd(*end, next, changes);
  if (!changes.empty()) STOKER_TRY(Commit(next.job, next.run, changes));
  if (over) {
    tracks.erase(id);
  } else {
    tracks[id] = std::move(next);
  }
  return end && batch.more;
}

Status Keeper::State::Advance(int64_t id, size_t& budget) {
  if (budget == 0) return Ok();
  // Looked for before the log is read: what was written before the end is in the log by now.
  const auto end = FindEnd(tracks[id].job);
  if (!end) {
    log.Warn("jobs", "job {}: {}", id, end.error().Line());
    return Ok();
  }
  if (IsImport(tracks[id].job)) {
    const Status taken = TakeSidecar(home.job(id), ledger, tracks[id].job);
    if (!taken) log.Error("jobs", "job {}: its sidecar: {}", id, taken.error().Line());
  }
  for (int batch = 0; batch < kFinalBatches && budget > 0; ++batch) {
    STOKER_ASSIGN(const bool more, AdvanceOnce(id, *end, budget));
    if (!more) break;
  }
  return Ok();
}

Keeper::Keeper(const Home& home, ledger::Ledger& ledger, Logger& log, const Clock& clock)
    : state_(std::make_unique<State>(home, ledger, log, clock)) {}

Keeper::~Keeper() = default;

Status Keeper::Tick() { return state_->Tick(); }

}  // namespace stoker::jobs
