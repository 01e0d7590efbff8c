// Which of the ledger's boxes is this machine; the others came in with imported logs.
#pragma once

#include <optional>
#include <vector>

#include "ledger/records.h"

namespace stoker::query {

// The most recently seen box that has booted (an imported one has no boot), else the most recent.
std::optional<ledger::Box> LocalBox(const std::vector<ledger::Box>& boxes);

}  // namespace stoker::query
