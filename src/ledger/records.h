// The rows of the ledger as plain data. Times are wall times; an absent time, number or text is
// nullopt or empty, never a sentinel. `*_json` fields hold a JSON object as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace stoker::ledger {

struct Box {
  int64_t id = 0;
  std::string hostname;
  std::string boot_id;
  std::string facts_json;  // kernel, cpu, cores, memory, driver, …
  WallTime seen_at;
};

// A card by its UUID. Cards of imported logs belong to a box of that import.
struct Card {
  int64_t id = 0;
  int64_t box = 0;
  int gpu = 0;  // index on its box
  std::string uuid;
  std::string name;
  std::optional<double> memory_bytes;
  std::optional<double> limit_default_w;
  bool simulated = false;
  bool present = true;
  WallTime seen_at;
};

enum class JobState { kQueued, kRunning, kSucceeded, kFailed, kStopped, kLost };
std::string_view JobStateName(JobState state);  // "queued", "running", …
std::optional<JobState> ParseJobState(std::string_view name);
inline bool IsFinal(JobState s) { return s != JobState::kQueued && s != JobState::kRunning; }

enum class JobOrigin { kLaunched, kAdopted, kImported, kSlurm };
std::string_view JobOriginName(JobOrigin origin);
std::optional<JobOrigin> ParseJobOrigin(std::string_view name);

struct Best {
  std::string metric;  // "val/accuracy"
  double value = 0;
  bool higher_is_better = true;
  std::optional<double> epoch;
  std::optional<WallTime> at;
};

struct Job {
  int64_t id = 0;
  std::string name;
  JobState state = JobState::kQueued;
  JobOrigin origin = JobOrigin::kLaunched;
  std::vector<std::string> command;
  std::string cwd;
  std::string user;
  std::vector<int> gpus;       // indices as the user names them
  std::vector<int64_t> cards;  // Card::id of the same, in the same order
  WallTime created_at;
  std::optional<WallTime> started_at;
  std::optional<WallTime> ended_at;
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::string reason;            // why it ended so, where it is not plain: "stopped by root"
  std::string run_log;           // path of the run log
  std::string folder;            // the job's folder under $STOKER_HOME/jobs
  std::string environment_json;  // secrets redacted
  std::string git_json;          // {"commit", "branch", "dirty"}
  std::string plan_json;         // the run log's last `plan` line
  std::optional<Best> best;
  std::optional<double> gpu_energy_j;  // set once, when the job has ended
  std::optional<double> last_epoch, epochs_planned;
  int checkpoints_seen = 0, checkpoints_safe = 0;  // counted by the ledger; PutJob ignores them
};

struct Attempt {
  int64_t job = 0;
  int number = 1;  // from 1
  int pid = 0;
  int64_t start_ticks = 0;
  std::string boot_id;
  WallTime started_at;
  std::optional<WallTime> ended_at;
  std::optional<int> exit_code;
  std::optional<int> signal;
};

// One number that a run said of itself.
struct MetricPoint {
  std::string name;  // "val/map50_95"
  double value = 0;  // may be NaN or infinite: that is what the run said
  std::optional<double> epoch;
  std::optional<int64_t> step;
  WallTime at;
};

struct Phase {
  int64_t job = 0;
  std::string name;  // startup, train, validate, checkpoint
  WallTime began_at;
  std::optional<WallTime> ended_at;
};

enum class CheckpointRole { kBest, kLast, kPeriodic, kFinal, kUnknown };
std::string_view CheckpointRoleName(CheckpointRole role);
enum class CheckpointState { kSeen, kWhole, kShipping, kSafe, kDamaged, kSuperseded, kGone };
std::string_view CheckpointStateName(CheckpointState state);

// One version of one checkpoint file (or folder): the same path written again is a new row.
struct Checkpoint {
  int64_t id = 0;
  int64_t job = 0;
  std::string path;
  CheckpointRole role = CheckpointRole::kUnknown;
  std::optional<double> epoch;
  std::optional<Best> metric;
  int64_t bytes = 0;
  std::string sha256;  // empty until hashed
  CheckpointState state = CheckpointState::kSeen;
  std::string reason;  // why damaged, in words
  bool pinned = false;
  WallTime seen_at;
  int64_t mtime_ns = 0;
};

struct Copy {
  int64_t checkpoint = 0;
  std::string store;  // name of the store in settings
  std::string key;    // object key in the store
  std::optional<WallTime> verified_at;
};

enum class Severity { kInfo, kNotice, kWarning, kFault };
std::string_view SeverityName(Severity severity);

// Whatever a person may ask about later. `kind` is a dotted word: "job.started", "checkpoint.safe",
// "gpu.lost", "alert.raised", "stoker.started".
struct Event {
  int64_t id = 0;
  WallTime at;
  std::string kind;
  Severity severity = Severity::kInfo;
  std::optional<int64_t> job;
  std::optional<int64_t> card;
  std::string text;       // one sentence for a person
  std::string data_json;  // the numbers behind it
};

}  // namespace stoker::ledger
