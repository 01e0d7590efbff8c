// Reads copies again and hashes them: what `stoker vault verify` says. Changes nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "blob/object_store.h"
#include "ledger/ledger.h"

namespace stoker::vault {

struct CopyCheck {
  ledger::Checkpoint checkpoint;
  ledger::Copy copy;
  bool good = false;
  std::string reason;  // why not good, in words
};
struct VerifyReport {
  std::vector<CopyCheck> copies;  // by checkpoint id
  int bad = 0;
  int64_t bytes_read = 0;
};
// Every copy in the store named `store_name` of one job's checkpoints, or of all. An object that
// several checkpoints share is read once. The error is one of the ledger; a store that fails shows
// in each copy's reason.
Result<VerifyReport> VerifyCopies(ledger::Ledger& ledger, blob::ObjectStore& store,
                                  const std::string& store_name, std::optional<int64_t> job);

}  // namespace stoker::vault
