// The ledger as a command sees it. With the daemon down, the command itself is the writer for a
// moment and takes up what supervisors have left since; with the daemon up it reads beside it.
#pragma once

#include <memory>

#include "base/result.h"
#include "cli/context.h"
#include "ledger/ledger.h"

namespace stoker::cli {

Result<std::unique_ptr<ledger::Ledger>> OpenBooks(Context& context);

// Waits (bounded) until the end of a job is in the ledger: the daemon copies it there within a
// second, and a command that follows must find it.
void WaitUntilRecorded(Context& context, int64_t id);

}  // namespace stoker::cli
