// Starting, following and stopping a job from any process: no daemon is needed.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/home.h"
#include "base/process.h"
#include "base/result.h"
#include "jobs/job_folder.h"

namespace stoker::jobs {

struct LaunchRequest {
  std::string name;  // empty: the program's base name
  std::vector<std::string> command;
  std::string cwd;
  std::vector<std::string> environment;  // the caller's, "K=V"
  std::vector<int> gpus;                 // empty: CUDA_VISIBLE_DEVICES is left as it is
  int restarts = 0;
};

struct Launched {
  int64_t id = 0;
  std::string folder;
};

// Writes the job's folder, then starts `shim_program FOLDER` in a session of its own. The job gets
// STOKER_JOB, STOKER_RUN_LOG, STOKER_HOME and, with gpus, CUDA_VISIBLE_DEVICES and
// CUDA_DEVICE_ORDER=PCI_BUS_ID, and PYTHONUNBUFFERED=1 unless that is set: a pipe would keep
// Python's output back. Returns once the supervisor has begun. Fails before the folder exists where
// the command cannot start (program not found, no such cwd).
Result<Launched> Launch(const Home& home, const LaunchRequest& request,
                        const std::string& shim_program, const Clock& clock);

using OutputSink = std::function<void(std::string_view text, bool is_stderr)>;

// Copies the job's output to `out` (text, true for stderr) as it comes, until the job has ended or
// `stop` says so; then the state is kRunning. A job whose supervisor was killed is kLost.
// Unfinished lines are shown at most once a second and overwritten with a \r, as the job itself
// would. `position`, if given, is where to begin, and is moved to where it got.
Result<JobEnd> Follow(const std::string& folder, const OutputSink& out,
                      const std::function<bool()>& stop, int64_t* position = nullptr);

// Copies what there is so far.
Status PrintOutput(const std::string& folder, const OutputSink& out);

// Waits for the end. kTimeout where the job still runs after `limit`.
Result<JobEnd> WaitForEnd(const std::string& folder, Millis limit);

// Asks the supervisor to end the job: SIGTERM to the whole tree, SIGKILL after `grace`. kNotFound,
// or kInvalid where it has ended already. Returns at once: WaitForEnd() waits. Where the supervisor
// was killed and the job runs on unwatched, this call ends the job itself and waits for that.
Status Stop(const std::string& folder, Millis grace, const std::string& who, const Clock& clock);

}  // namespace stoker::jobs
