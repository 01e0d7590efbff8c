// Which cards a job gets when it asks for a number of them.
#pragma once

#include <vector>

#include "base/result.h"
#include "ledger/records.h"

namespace stoker::jobs {

// The `wanted` lowest of `all` card indices that no job in `running` holds. kInvalid where the box
// has too few cards at all, kUnavailable where too few are free: the error says which job holds
// what.
Result<std::vector<int>> ChooseFreeCards(const std::vector<int>& all,
                                         const std::vector<ledger::Job>& running, int wanted);

}  // namespace stoker::jobs
