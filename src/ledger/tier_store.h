// The tiers in the ledger's file: buckets of 1 and 15 minutes, kept in windows of fixed size.
// Inside the Ledger's lock and transaction.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
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
constexpr Tier kFineTier{60'000, 720 * 60'000};
constexpr Tier kCoarseTier{15 * 60'000, int64_t{768} * 15 * 60'000};

struct TimedBucket {
  int64_t from = 0;  // milliseconds since 1970
  TierBucket bucket;
};

class TierStore {
 public:
  TierStore(Db& db, ChunkCodec& codec) : db_(db), codec_(codec) {}

  struct Answer {
    std::vector<TimedBucket> buckets;  // in time order
    // Parts of the range that are not kept, each [from, to).
    std::vector<std::pair<int64_t, int64_t>> missing;
  };
  // Buckets that begin in [from, to).
  Result<Answer> Load(int64_t series, const Tier& tier, int64_t from, int64_t to);

  // The sealed samples of [from, to), ascending.
  using ReadSamples = std::function<Result<std::vector<RawSample>>(int64_t from, int64_t to)>;
  // Brings the buckets that begin in [from, to), which lies on the coarse tier's grid, up to date.
  Status Update(int64_t series, int64_t from, int64_t to, const ReadSamples& read);

 private:
  Status UpdateWindow(int64_t series, const Tier& tier, int64_t window, int64_t from, int64_t to,
                      const ReadSamples& read);

  Db& db_;
  ChunkCodec& codec_;
};

}  // namespace stoker::ledger
