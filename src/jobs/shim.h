// The supervisor of one job, body of the program stoker-shim: starts the command, keeps its output,
// restarts it after a failure where asked, records the end. Outlives the daemon and the terminal.
#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace stoker::jobs {

// Runs until the job has ended and end.json is written; where processes of the job live on, until
// those have closed its output. `begun` is called once the folder says who the supervisor is and
// that the first attempt has started; not where none could, which is the end of the job. The error
// is for the shim's own trouble (then end.json says failed with the reason where it can). Changes
// the process: blocks signals and becomes a subreaper.
Status RunShim(const std::string& folder, const Clock& clock,
               const std::function<void()>& begun = nullptr);

}  // namespace stoker::jobs
