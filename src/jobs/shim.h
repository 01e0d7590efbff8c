// The supervisor of one job, body of the program stoker-shim: starts the command, keeps its output,
// restarts it after a failure where asked, records the end. Outlives the daemon and the terminal.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace stoker::jobs {

// Runs until the job has ended and end.json is written. The error is for the shim's own trouble
// (then end.json says failed with the reason where it can).
Status RunShim(const std::string& folder, const Clock& clock);

}  // namespace stoker::jobs
