// A job's folder, $STOKER_HOME/jobs/ID: the truth about a launched job, written by its supervisor
// and complete without the daemon. The ledger's rows are copied from it by the Keeper.
//
//   job.json      what was asked; written durably before anything starts
//   attempt-N.json  one attempt: pid, start ticks, boot id, started_at; then ended_at, exit_code, signal
//   shim.json     the supervisor: pid, start ticks, boot id
//   stop.json     someone asked to stop: who, when, grace
//   end.json      the end of the job: state, exit_code, signal, ended_at, reason; never rewritten
//   output.log    "2026-12-01T02:44:08.123Z o text": stdout (o) and stderr (e) by line
//   run.jsonl     the run log (docs/formats/run-log.md), unless the caller's own was set
//
// docs/formats/job-folder.md has the bytes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/proc_info.h"
#include "base/result.h"
#include "ledger/records.h"

namespace stoker::jobs {

struct JobSpec {
  int64_t id = 0;
  std::string name;
  std::vector<std::string> command;
  std::string cwd;
  std::string user;
  std::vector<int> gpus;
  int restarts = 0;                        // how many times more after a failure
  std::vector<std::string> environment;    // "K=V" as the job gets it; file mode 0600
  std::string environment_json;            // redacted, for the record
  std::string git_json;
  std::string run_log;                     // absolute path
  WallTime created_at;
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

Status WriteSpec(const std::string& folder, const JobSpec& spec);
Result<JobSpec> ReadSpec(const std::string& folder);
Status WriteAttempt(const std::string& folder, const ledger::Attempt& attempt);
Result<std::vector<ledger::Attempt>> ReadAttempts(const std::string& folder);
Status WriteShim(const std::string& folder, const ProcessIdentity& shim);
Result<ProcessIdentity> ReadShim(const std::string& folder);      // kNotFound: not started yet
Status WriteEnd(const std::string& folder, const JobEnd& end);
Result<JobEnd> ReadEnd(const std::string& folder);                // kNotFound: not ended

}  // namespace stoker::jobs
