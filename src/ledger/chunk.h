// The bytes of samples at rest: ticks (one instant, many series), columns (one series, many
// instants), the timelines that columns share, and tiers. Encoders take what they are given;
// decoders bound everything and answer damage with kCorrupt. The layout: docs/formats/ledger.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/reading.h"
#include "base/result.h"
#include "ledger/int_codec.h"

namespace stoker::ledger {

// A decoder refuses more samples, buckets or entries than this in one piece.
constexpr size_t kMaxInPiece = 1 << 16;

struct TickEntry {
  int64_t series = 0;
  int64_t value = 0;  // at the metric's scale; 0 where absent
  Absence absence = Absence::kNone;
  friend bool operator==(const TickEntry&, const TickEntry&) = default;
};

struct Column {
  std::vector<int64_t> values;  // one for each sample; 0 where absent
  std::vector<Absence> absences;
  friend bool operator==(const Column&, const Column&) = default;
};

struct TierBucket {
  int64_t index = 0;  // start in widths of the tier, from the start of the tier's window
  int64_t min = 0, max = 0, last = 0;
  int64_t mean16 = 0;  // sixteenths of the metric's scale
  int64_t count = 0, absent = 0;
  friend bool operator==(const TierBucket&, const TierBucket&) = default;
};

// Holds scratch memory between calls. Not thread-safe.
class ChunkCodec {
 public:
  std::string EncodeTick(std::span<const TickEntry> entries);  // ascending by series
  Result<std::vector<TickEntry>> DecodeTick(std::string_view bytes);

  std::string EncodeTimes(std::span<const int64_t> times_ms);  // ascending
  Result<std::vector<int64_t>> DecodeTimes(std::string_view bytes);

  std::string EncodeColumn(std::span<const int64_t> values, std::span<const Absence> absences);
  Result<Column> DecodeColumn(std::string_view bytes);

  std::string EncodeTier(std::span<const TierBucket> buckets);  // ascending by index
  Result<std::vector<TierBucket>> DecodeTier(std::string_view bytes);

 private:
  IntCodec ints_;
  std::vector<int64_t> scratch_;
};

}  // namespace stoker::ledger
