#include "ledger/tier_store.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace stoker::ledger {
namespace {

// A window with fewer samples a bucket than this, on average, is not kept.
constexpr int64_t kFewSamples = 8;

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

Result<TierStore::Answer> TierStore::Load(int64_t series, const Tier& tier, int64_t from,
                                          int64_t to) {
  Answer out;
  STOKER_ASSIGN(Query q,
                db_.Ask("SELECT window_ms, data FROM tiers WHERE series = ? AND width_s = ? "
                        "AND window_ms >= ? AND window_ms < ? ORDER BY window_ms",
                        series, tier.width_ms / 1000, FloorTo(from, tier.window_ms), to));
  int64_t covered = from;
  while (true) {
    STOKER_ASSIGN(const bool row, q.Step());
    if (!row) break;
    const int64_t window = q.Int();
    if (window > covered) out.missing.emplace_back(covered, window);
    covered = window + tier.window_ms;
    Result<std::vector<TierBucket>> buckets = codec_.DecodeTier(q.Bytes());
    if (!buckets) return buckets.error().In("tier of series " + std::to_string(series));
    for (const TierBucket& b : *buckets) {
      const int64_t begin = window + b.index * tier.width_ms;
      if (begin >= from && begin < to) out.buckets.push_back(TimedBucket{begin, b});
    }
  }
  if (covered < to) out.missing.emplace_back(covered, to);
  return out;
}

Status TierStore::Update(int64_t series, int64_t from, int64_t to, const ReadSamples& read) {
  for (const Tier& tier : {kFineTier, kCoarseTier}) {
    for (int64_t window = FloorTo(from, tier.window_ms); window < to; window += tier.window_ms) {
      STOKER_TRY(UpdateWindow(series, tier, window, from, to, read));
    }
  }
  return Ok();
}

Status TierStore::UpdateWindow(int64_t series, const Tier& tier, int64_t window, int64_t from,
                               int64_t to, const ReadSamples& read) {
  const int64_t window_end = window + tier.window_ms;
  std::vector<TierBucket> old;
  bool kept = false;
  {
    STOKER_ASSIGN(Query q, db_.Ask("SELECT data FROM tiers WHERE series = ? AND width_s = ? "
                                   "AND window_ms = ?",
                                   series, tier.width_ms / 1000, window));
    STOKER_ASSIGN(kept, q.Step());
    if (kept) {
      Result<std::vector<TierBucket>> decoded = codec_.DecodeTier(q.Bytes());
      if (!decoded) return decoded.error().In("tier of series " + std::to_string(series));
      old = std::move(*decoded);
    }
  }
  if (kept) {
    from = std::max(from, window);
    to = std::min(to, window_end);
  } else {
    // Nothing of the window is kept yet: it may be new, or its samples were few until now.
    from = window;
    to = window_end;
  }
  STOKER_ASSIGN(const std::vector<RawSample> samples, read(from, to));
  std::vector<TierBucket> all;
  for (const TierBucket& b : old) {
    if (window + b.index * tier.width_ms < from) all.push_back(b);
  }
  const std::vector<TierBucket> fresh = BucketsOf(samples, tier, window);
  all.insert(all.end(), fresh.begin(), fresh.end());
  for (const TierBucket& b : old) {
    if (window + b.index * tier.width_ms >= to) all.push_back(b);
  }
  int64_t count = 0;
  for (const TierBucket& b : all) count += b.count + b.absent;
  if (!kept && count < kFewSamples * static_cast<int64_t>(all.size())) return Ok();
  const std::string data = codec_.EncodeTier(all);
  return db_.Run(
      "INSERT INTO tiers (series, width_s, window_ms, data) VALUES (?, ?, ?, ?) "
      "ON CONFLICT (series, width_s, window_ms) DO UPDATE SET data = excluded.data",
      series, tier.width_ms / 1000, window, Blob{data});
}

}  // namespace stoker::ledger
