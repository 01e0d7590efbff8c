// Brings a checkpoint back: newest verified copy, hash compared on arrival, never over an existing
// file unless `force`.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "blob/object_store.h"
#include "ledger/ledger.h"

namespace stoker::vault {

// "17@best", "17@last", "17@epoch=412", "17@id=3": the job and which of its checkpoints.
struct Wanted {
  int64_t job = 0;
  std::string which;
};
Result<Wanted> ParseWanted(std::string_view text);

struct Restored {
  ledger::Checkpoint checkpoint;
  std::string path;
};
// `dest` is a file to create, or a folder (then the checkpoint's own name is used; one that ends in
// a slash is created). `best` without a file of that role is the one with the best metric, `last`
// the newest. kNotFound where the job has no such checkpoint with a verified copy.
Result<Restored> Restore(ledger::Ledger& ledger, blob::ObjectStore& store, const Wanted& wanted,
                         const std::string& dest, bool force);

}  // namespace stoker::vault
