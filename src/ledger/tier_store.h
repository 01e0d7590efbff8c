// The tiers in the ledger's file: buckets of 1 and 15 minutes, kept in windows of fixed size.
// Inside the Ledger's lock and transaction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "ledger/chunk.h"
#include "ledger/db.h"
#include "ledger/raw_sample.h"

namespace stoker::ledger {

struct Tier {
  int64_t width_ms;   // of a bucket
  int64_t window_ms;  // of a row; a multiple of the width
};
constexpr Tier kFineTier{60'000, 1440 * 60'000};
constexpr Tier kCoarseTier{15 * 60'000, int64_t{768} * 15 * 60'000};

struct TimedBucket {
  int64_t from = 0;  // milliseconds since 1970
  TierBucket bucket;
};

class TierStore {
 public:
  TierStore(Db& db, ChunkCodec& codec) : db_(db), codec_(codec) {}

  // Buckets that begin in [from, to), in time order.
  Result<std::vector<TimedBucket>> Load(int64_t series, const Tier& tier, int64_t from, int64_t to);
  // Puts the buckets of `samples` (ascending) in the place of all that begin in [from, to), which
  // lies on the coarse tier's grid.
  Status Replace(int64_t series, int64_t from, int64_t to, std::span<const RawSample> samples);

 private:
  Status ReplaceIn(int64_t series, const Tier& tier, int64_t from, int64_t to,
                   std::span<const RawSample> samples);

  Db& db_;
  ChunkCodec& codec_;
};

}  // namespace stoker::ledger
