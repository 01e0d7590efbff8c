// Sealed samples in the ledger's file: chunks of one series each, which never overlap in time, and
// the timelines that they share. Inside the Ledger's lock and transaction.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "ledger/chunk.h"
#include "ledger/db.h"
#include "ledger/raw_sample.h"

namespace stoker::ledger {

class ChunkStore {
 public:
  ChunkStore(Db& db, ChunkCodec& codec) : db_(db), codec_(codec) {}

  // Everything sealed in [from, to], in time order.
  Result<std::vector<RawSample>> Load(int64_t series, int64_t from, int64_t to);
  Result<std::optional<RawSample>> Last(int64_t series);
  // Adds samples (some, ascending, one an instant); at an instant that is there already they win.
  // All chunks that overlap their range are held in memory: the caller cuts long ranges up.
  Status Merge(int64_t series, std::span<const RawSample> samples);
  // What was remembered of a transaction that was rolled back.
  void Forget() { known_timeline_ = 0; }

 private:
  struct Place;
  Result<std::vector<Place>> Touched(int64_t series, int64_t first, int64_t last);
  Status Remove(const Place& place);
  Status Insert(int64_t series, std::span<const RawSample> samples);
  Result<int64_t> TimelineOf(std::vector<int64_t> times);
  Status Unpack(std::string_view column, std::string_view timeline, int64_t from, int64_t to,
                std::vector<RawSample>& out);

  Db& db_;
  ChunkCodec& codec_;
  // Series of one tick share a timeline: the last one is found without asking the file.
  std::vector<int64_t> known_times_;
  int64_t known_timeline_ = 0;
};

}  // namespace stoker::ledger
