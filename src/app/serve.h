// The daemon: owns the threads "collect", "jobs", "vault" and "web", each of which drives one
// object. It is the ledger's writer. SIGKILL at any instant loses nothing that a trainer or a
// supervisor wrote: the next start reads on from there.
#pragma once

#include "base/result.h"
#include "cli/context.h"

namespace stoker::app {

Result<int> ServeCommand(cli::Context& context, const std::vector<std::string>& args);

}  // namespace stoker::app
