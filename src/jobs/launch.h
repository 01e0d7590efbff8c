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
  std::string name;                        // empty: the program's base name
  std::vector<std::string> command;
  std::string cwd;
  std::vector<std::string> environment;    // the caller's, "K=V"
  std::vector<int> gpus;                   // empty: CUDA_VISIBLE_DEVICES is left as it is
  int restarts = 0;
};

struct Launched {
  int64_t id = 0;
  std::string folder;
};

// Writes the job's folder, then starts `shim_program FOLDER` in a session of its own. The job gets
// STOKER_JOB, STOKER_RUN_LOG, STOKER_HOME and, with gpus, CUDA_VISIBLE_DEVICES and
// CUDA_DEVICE_ORDER=PCI_BUS_ID. Fails before the folder exists where the command cannot start
// (program not found, no such cwd).
Result<Launched> Launch(const Home& home, const LaunchRequest& request,
                        const std::string& shim_program, const Clock& clock);

// Copies new output to `out` (text, true for stderr) until the job has ended or `stop` says so.
Result<JobEnd> Follow(const std::string& folder,
                      const std::function<void(std::string_view text, bool is_stderr)>& out,
                      const std::function<bool()>& stop);

// Asks the supervisor to end the job: SIGTERM to the whole tree, SIGKILL after `grace`. kNotFound,
// or kInvalid where it has ended already.
Status Stop(const std::string& folder, Millis grace, const std::string& who, const Clock& clock);

}  // namespace stoker::jobs
