#include "ledger/hot_ticks.h"

#include <algorithm>
#include <limits>

namespace stoker::ledger {

void SortAndDedupe(std::vector<RawSample>& samples) {
  const auto earlier = [](const RawSample& a, const RawSample& b) { return a.at < b.at; };
  // Only a wall clock that was stepped back makes ticks arrive out of order.
  if (!std::is_sorted(samples.begin(), samples.end(), earlier)) {
    std::stable_sort(samples.begin(), samples.end(), earlier);
  }
  size_t kept = 0;
  for (const RawSample& s : samples) {
    if (kept > 0 && samples[kept - 1].at == s.at) --kept;
    samples[kept++] = s;
  }
  samples.resize(kept);
}

void HotTicks::Forget() {
  by_series_.clear();
  times_.clear();
  dropped_ = 0;
  base_ = first_ = last_ = 0;
}

void HotTicks::DropBefore(int64_t id) {
  for (auto& [series, entries] : by_series_) {
    const auto keep = std::partition_point(entries.begin(), entries.end(), [&](const Entry& e) {
      return base_ + static_cast<int64_t>(e.tick) < id;
    });
    entries.erase(entries.begin(), keep);
  }
  for (; base_ + dropped_ < id && !times_.empty(); ++dropped_) times_.pop_front();
}

Status HotTicks::Refresh() {
  STOKER_ASSIGN(Query range,
                db_.Ask("SELECT (SELECT min(id) FROM ticks), (SELECT max(id) FROM ticks)"));
  STOKER_TRY(range.Step());
  const std::optional<int64_t> least = range.MaybeInt();
  const int64_t most = range.MaybeInt().value_or(0);
  if (!least || most < last_ || most - base_ > std::numeric_limits<uint32_t>::max()) Forget();
  if (!least) return Ok();
  if (last_ == 0) {
    base_ = first_ = *least;
    last_ = *least - 1;
  }
  if (*least > first_) {
    DropBefore(*least);
    first_ = *least;
  }
  if (most == last_) return Ok();
  STOKER_ASSIGN(Query q,
                db_.Ask("SELECT id, at_ms, data FROM ticks WHERE id > ? ORDER BY id", last_));
  while (true) {
    STOKER_ASSIGN(const bool row, q.Step());
    if (!row) return Ok();
    const int64_t id = q.Int();
    const int64_t at = q.Int();
    Result<std::vector<TickEntry>> entries = codec_.DecodeTick(q.Bytes());
    if (!entries) return entries.error().In("tick " + std::to_string(id));
    for (const TickEntry& e : *entries) {
      by_series_[e.series].push_back(Entry{e.value, static_cast<uint32_t>(id - base_), e.absence});
    }
    // Ids may have gaps: a time for each, so that an entry finds its own.
    while (base_ + dropped_ + static_cast<int64_t>(times_.size()) <= id) times_.push_back(at);
    last_ = id;
  }
}

std::vector<RawSample> HotTicks::Load(int64_t series, int64_t from, int64_t to) const {
  std::vector<RawSample> out;
  const auto found = by_series_.find(series);
  if (found == by_series_.end()) return out;
  for (const Entry& e : found->second) {
    const RawSample sample = SampleOf(e);
    if (sample.at >= from && sample.at <= to) out.push_back(sample);
  }
  SortAndDedupe(out);
  return out;
}

std::optional<RawSample> HotTicks::Last(int64_t series) const {
  const auto found = by_series_.find(series);
  if (found == by_series_.end() || found->second.empty()) return std::nullopt;
  return SampleOf(found->second.back());
}

}  // namespace stoker::ledger
