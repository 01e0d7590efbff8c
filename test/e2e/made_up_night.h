// A ledger with a made-up night on a box of eight simulated cards, so that pages can be looked at.
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "ledger/ledger.h"

namespace stoker::e2e {

// Everything up to `now`: five minutes of readings, jobs, checkpoints, events.
Status WriteNight(ledger::Ledger& ledger, WallTime now);
// One more second of readings.
Status WriteReadings(ledger::Ledger& ledger, WallTime at);

}  // namespace stoker::e2e
