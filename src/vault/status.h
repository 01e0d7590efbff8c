// How far the vault is: what `stoker vault status` says, from the ledger alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "ledger/ledger.h"

namespace stoker::vault {

struct StateCount {
  int count = 0;
  int64_t bytes = 0;
};
struct VaultStatus {
  std::map<ledger::CheckpointState, StateCount> by_state;
  int waiting = 0;  // seen, whole or shipping: not off the box yet
  int64_t waiting_bytes = 0;
  Seconds behind{0};  // age of the oldest that waits
  std::optional<WallTime> last_safe_at;
};
Result<VaultStatus> ReadStatus(ledger::Ledger& ledger, WallTime now);

}  // namespace stoker::vault
