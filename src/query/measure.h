// The part of GetJobUse() that settling needs.
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "ledger/ledger.h"
#include "query/views.h"

namespace stoker::query {

// The job's cards and their total; neither the host nor who else had the cards.
Result<JobUse> MeasureCards(ledger::Ledger& ledger, const ledger::Job& job, const Clock& clock);

}  // namespace stoker::query
