#include "vault/status.h"

#include <algorithm>
#include <vector>

#include "vault/book.h"

namespace stoker::vault {

Result<VaultStatus> ReadStatus(ledger::Ledger& ledger, WallTime now) {
  STOKER_ASSIGN(const std::vector<ledger::Checkpoint> rows, ledger.Checkpoints(std::nullopt));
  VaultStatus out;
  for (const ledger::Checkpoint& row : rows) {
    StateCount& state = out.by_state[row.state];
    ++state.count;
    state.bytes += row.bytes;
    if (!IsOpen(row.state)) continue;
    ++out.waiting;
    out.waiting_bytes += row.bytes;
    out.behind = std::max(out.behind, Seconds(now - row.seen_at));
  }
  ledger::EventFilter filter;
  filter.kind_prefix = "checkpoint.safe";
  filter.limit = 1;
  STOKER_ASSIGN(const std::vector<ledger::Event> events, ledger.Events(filter));
  if (!events.empty()) out.last_safe_at = events.back().at;
  return out;
}

}  // namespace stoker::vault
