// The samples that are not sealed yet, decoded once and kept by series. Follows the file: new ticks
// are read, sealed ones dropped. Inside the Ledger's lock and a transaction.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "ledger/chunk.h"
#include "ledger/db.h"
#include "ledger/raw_sample.h"

namespace stoker::ledger {

class HotTicks {
 public:
  HotTicks(Db& db, ChunkCodec& codec) : db_(db), codec_(codec) {}

  // Brings the copy up to date with the transaction's view.
  Status Refresh();
  // Samples of the series in [from, to], ascending, one an instant.
  std::vector<RawSample> Load(int64_t series, int64_t from, int64_t to) const;
  std::optional<RawSample> Last(int64_t series) const;  // the one that arrived last
  void Forget();

 private:
  struct Entry {
    int64_t value;
    uint32_t tick;  // id of the tick, from base_
    Absence absence;
  };
  RawSample SampleOf(const Entry& e) const {
    return {times_[e.tick - dropped_], e.value, e.absence};
  }
  void DropBefore(int64_t id);

  Db& db_;
  ChunkCodec& codec_;
  std::unordered_map<int64_t, std::vector<Entry>> by_series_;
  std::deque<int64_t> times_;  // of the ticks from base_ + dropped_ on
  uint32_t dropped_ = 0;
  int64_t base_ = 0;
  int64_t first_ = 0;  // ids held: [first_, last_]; none where last_ is 0
  int64_t last_ = 0;
};

// Ascending by time; of several at one instant the last stays.
void SortAndDedupe(std::vector<RawSample>& samples);

}  // namespace stoker::ledger
