// The ledger as a command sees it. With the daemon down, the command itself is the writer for a
// moment and takes up what supervisors have left since; with the daemon up it reads beside it.
#pragma once

#include <memory>

#include "base/result.h"
#include "cli/context.h"
#include "ledger/ledger.h"

namespace stoker::cli {

Result<std::unique_ptr<ledger::Ledger>> OpenBooks(Context& context);

}  // namespace stoker::cli
