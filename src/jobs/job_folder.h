// A job's folder, $STOKER_HOME/jobs/ID: the truth about a launched job, written by its supervisor
// and complete without the daemon. The ledger's rows are copied from it by the Keeper.
//
//   job.json      what was asked; written durably before anything starts
//   attempt-N.json  one attempt: pid, start ticks, boot id, started_at; then ended_at, exit_code,
//   signal shim.json     the supervisor: pid, start ticks, boot id stop.json     someone asked to
//   stop: who, when, grace end.json      the end of the job: state, exit_code, signal, ended_at,
//   reason; never rewritten output.log    "2026-12-01T02:44:08.123Z o text": stdout (o) and stderr
//   (e) by line progress      the unfinished last line (a progress bar), while there is one
//   run.jsonl     the run log (docs/formats/run-log.md), unless the caller's own was set
//   shim.log      what the supervisor had to say of itself; normally empty
//
// docs/formats/job-folder.md has the bytes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/proc_info.h"
#include "base/result.h"
#include "base/units.h"
#include "ledger/records.h"

namespace stoker::jobs {

struct JobSpec {
  int64_t id = 0;
  ledger::JobOrigin origin = ledger::JobOrigin::kLaunched;
  std::string name;
  std::vector<std::string> command;  // empty only where imported files do not tell it
  std::string cwd;
  std::string user;
  std::vector<int> gpus;
  int restarts = 0;                      // how many times more after a failure
  std::vector<std::string> environment;  // "K=V" as the job gets it; file mode 0600
  std::string environment_json;          // redacted, for the record
  std::string git_json;
  std::string run_log;  // absolute path
  WallTime created_at;
};

// Someone asked to stop.
struct StopRequest {
  WallTime at;
  std::string who;
  Millis grace{30000};
};

struct JobEnd {
  ledger::JobState state = ledger::JobState::kFailed;
  std::optional<int> exit_code;
  std::optional<int> signal;
  WallTime ended_at;
  std::string reason;
};

// Takes the next free id by creating its folder; safe among any number of processes.
Result<std::pair<int64_t, std::string>> NewJobFolder(const std::string& jobs_dir);

// The ids of all job folders, in rising order.
Result<std::vector<int64_t>> ListJobFolders(const std::string& jobs_dir);

Status WriteSpec(const std::string& folder, const JobSpec& spec);
Result<JobSpec> ReadSpec(const std::string& folder);
Status WriteAttempt(const std::string& folder, const ledger::Attempt& attempt);
Result<std::vector<ledger::Attempt>> ReadAttempts(const std::string& folder);
// The same from attempt `number` on.
Result<std::vector<ledger::Attempt>> ReadAttemptsFrom(const std::string& folder, int number);
Status WriteShim(const std::string& folder, const ProcessIdentity& shim);
Result<ProcessIdentity> ReadShim(const std::string& folder);  // kNotFound: not started yet
Status WriteStop(const std::string& folder, const StopRequest& stop);
Result<StopRequest> ReadStop(const std::string& folder);        // kNotFound: nobody asked
Status WriteEnd(const std::string& folder, const JobEnd& end);  // kUnavailable: ended before
Result<JobEnd> ReadEnd(const std::string& folder);              // kNotFound: not ended

// The end of a job whose supervisor is gone without writing one (kill, reboot): kLost with what is
// known, or nullopt where the job has ended properly, or its supervisor lives or may yet start.
Result<std::optional<JobEnd>> FindLostEnd(const std::string& folder, WallTime now);

}  // namespace stoker::jobs
