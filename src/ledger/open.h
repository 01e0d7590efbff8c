// Opening with other tuning than the product's, for tests and benchmarks.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "ledger/ledger.h"
#include "ledger/sample_store.h"

namespace stoker::ledger {

Result<std::unique_ptr<Ledger>> OpenTuned(const std::string& path, Ledger::Mode mode,
                                          const Clock& clock, const Tuning& tuning);

}  // namespace stoker::ledger
