#include "ledger/tier_store.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace stoker::ledger {
namespace {

TierBucket Summarise(std::span<const RawSample> samples) {
  TierBucket out;
  long double sum = 0;
  for (const RawSample& s : samples) {
    if (s.absence != Absence::kNone) {
      ++out.absent;
      continue;
    }
    out.min = out.count > 0 ? std::min(out.min, s.value) : s.value;
    out.max = out.count > 0 ? std::max(out.max, s.value) : s.value;
    out.last = s.value;
    sum += static_cast<long double>(s.value);
    ++out.count;
  }
  if (out.count > 0) {
    out.mean16 = std::llround(sum * 16 / static_cast<long double>(out.count));
  }
  return out;
}

// The buckets of one window, in order.
std::vector<TierBucket> BucketsOf(std::span<const RawSample> samples, const Tier& tier,
                                  int64_t window) {
  std::vector<TierBucket> out;
  while (!samples.empty()) {
    const int64_t index = (samples.front().at - window) / tier.width_ms;
    const int64_t end = window + (index + 1) * tier.width_ms;
    const auto past = std::partition_point(samples.begin(), samples.end(),
                                           [&](const RawSample& s) { return s.at < end; });
    const auto size = static_cast<size_t>(past - samples.begin());
    out.push_back(Summarise(samples.first(size)));
    out.back().index = index;
    samples = samples.subspan(size);
  }
  return out;
}

}  // namespace

Result<std::vector<TimedBucket>> TierStore::Load(int64_t series, const Tier& tier, int64_t from,
                                                 int64_t to) {
  std::vector<TimedBucket> out;
  STOKER_ASSIGN(Query q,
                db_.Ask("SELECT window_ms, data FROM tiers WHERE series = ? AND width_s = ? "
                        "AND window_ms >= ? AND window_ms < ? ORDER BY window_ms",
                        series, tier.width_ms / 1000, FloorTo(from, tier.window_ms), to));
  while (true) {
    STOKER_ASSIGN(const bool row, q.Step());
    if (!row) return out;
    const int64_t window = q.Int();
    Result<std::vector<TierBucket>> buckets = codec_.DecodeTier(q.Bytes());
    if (!buckets) return buckets.error().In("tier of series " + std::to_string(series));
    for (const TierBucket& b : *buckets) {
      const int64_t begin = window + b.index * tier.width_ms;
      if (begin >= from && begin < to) out.push_back(TimedBucket{begin, b});
    }
  }
}

Status TierStore::Replace(int64_t series, int64_t from, int64_t to,
                          std::span<const RawSample> samples) {
  STOKER_TRY(ReplaceIn(series, kFineTier, from, to, samples));
  return ReplaceIn(series, kCoarseTier, from, to, samples);
}

Status TierStore::ReplaceIn(int64_t series, const Tier& tier, int64_t from, int64_t to,
                            std::span<const RawSample> samples) {
  for (int64_t window = FloorTo(from, tier.window_ms); window < to; window += tier.window_ms) {
    const int64_t window_end = window + tier.window_ms;
    const auto past = std::partition_point(samples.begin(), samples.end(),
                                           [&](const RawSample& s) { return s.at < window_end; });
    const auto size = static_cast<size_t>(past - samples.begin());
    std::vector<TierBucket> fresh = BucketsOf(samples.first(size), tier, window);
    samples = samples.subspan(size);
    STOKER_ASSIGN(const auto kept, Load(series, tier, window, window_end));
    std::vector<TierBucket> all;
    for (const TimedBucket& k : kept) {
      if (k.from < from) all.push_back(k.bucket);
    }
    all.insert(all.end(), fresh.begin(), fresh.end());
    for (const TimedBucket& k : kept) {
      if (k.from >= to) all.push_back(k.bucket);
    }
    if (all.empty()) continue;
    const std::string data = codec_.EncodeTier(all);
    STOKER_TRY(
        db_.Run("INSERT INTO tiers (series, width_s, window_ms, data) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (series, width_s, window_ms) DO UPDATE SET data = excluded.data",
                series, tier.width_ms / 1000, window, Blob{data}));
  }
  return Ok();
}

}  // namespace stoker::ledger
