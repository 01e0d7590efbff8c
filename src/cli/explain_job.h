// The explanation of one job, for the commands that speak of it.
#pragma once

#include "cli/context.h"
#include "explain/explain.h"
#include "ledger/ledger.h"

namespace stoker::cli {

Result<explain::Explanation> ExplainJob(Context& context, ledger::Ledger& books, int64_t id);

}  // namespace stoker::cli
