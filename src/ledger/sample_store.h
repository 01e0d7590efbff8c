// All samples of the ledger: series, recent ticks, sealed chunks and tiers behind one set of
// questions. Inside the Ledger's lock; every call inside a transaction of the Ledger.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "ledger/chunk.h"
#include "ledger/chunk_store.h"
#include "ledger/db.h"
#include "ledger/hot_ticks.h"
#include "ledger/ledger.h"
#include "ledger/tier_store.h"

namespace stoker::ledger {

// When and how much is sealed at a time. Tests make it small.
struct Tuning {
  int64_t seal_above = 2100;                // ticks that may wait
  int64_t keep = 300;                       // ticks that stay
  int64_t batch = 1800;                     // ticks sealed in one transaction
  size_t batch_samples = 500'000;           // and samples
  Millis seal_age = std::chrono::hours(2);  // older ones are sealed however few they are
  int steps = 4;                            // transactions in one Maintain()
};

class SampleStore {
 public:
  SampleStore(Db& db, Tuning tuning);

  Result<SeriesId> SeriesFor(Metric metric, const Subject& subject);
  Result<std::optional<SeriesId>> FindSeries(Metric metric, const Subject& subject);
  Result<std::vector<Series>> AllSeries();

  Status AddTick(WallTime at, const std::vector<TickValue>& values);
  Status AddSamples(SeriesId series, const std::vector<Sample>& samples);

  Result<std::vector<Sample>> Scan(SeriesId series, WallTime from, WallTime to);
  Result<std::vector<Bucket>> ScanBuckets(SeriesId series, WallTime from, WallTime to, int points);
  Result<std::optional<Sample>> Latest(SeriesId series);

  // True where the next step has something to seal.
  Result<bool> SealDue(WallTime now);
  // Seals one bounded batch of the oldest ticks, all of them or none.
  Status SealStep();
  // What was remembered of a transaction that was rolled back.
  void Forget();

 private:
  class Buckets;
  struct Batch;
  Result<Batch> NextBatch();
  Status SealSeries(const Batch& batch, std::span<const SeriesId> some);
  Result<double> ScaleOf(SeriesId series);
  Status StoreSealed(SeriesId series, std::vector<RawSample> samples);
  Status FillFromTier(SeriesId series, const Tier& tier, int64_t from, int64_t to, Buckets& out);
  Status FillFromRaw(SeriesId series, int64_t from, int64_t to, Buckets& out);

  Db& db_;
  const Tuning tuning_;
  ChunkCodec codec_;
  ChunkStore chunks_;
  TierStore tiers_;
  HotTicks hot_;
  std::unordered_map<SeriesId, double> scales_;
};

}  // namespace stoker::ledger
