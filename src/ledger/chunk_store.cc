#include "ledger/chunk_store.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace stoker::ledger {
namespace {

// Some kilobytes, which fill pages well; sealing makes a chunk of half an hour. None covers more
// than a day, so that chunks can be dropped by age.
constexpr size_t kTarget = 2400;
constexpr size_t kMost = kTarget * 3 / 2;
constexpr int64_t kMaxSpanMs = int64_t{24} * 3600 * 1000;
// A chunk below this grows when more comes, so that small imports and rare metrics leave no crumbs.
constexpr int64_t kGrowBelow = kTarget * 3 / 4;

// How many of `samples` go into the next chunk. Series that were read together are cut alike, so
// that they share their timelines.
size_t NextCut(std::span<const RawSample> samples) {
  const int64_t end = samples.front().at + kMaxSpanMs;
  const auto past = std::partition_point(samples.begin(), samples.end(),
                                         [&](const RawSample& s) { return s.at < end; });
  const auto size = static_cast<size_t>(past - samples.begin());
  if (size <= kMost) return size;
  const size_t pieces = (size + kTarget / 2) / kTarget;
  return (size + pieces - 1) / pieces;
}

}  // namespace

struct ChunkStore::Place {
  int64_t id = 0;
  int64_t timeline = 0;
  int64_t first = 0;
};

Status ChunkStore::Unpack(std::string_view column, std::string_view timeline, int64_t from,
                          int64_t to, std::vector<RawSample>& out) {
  STOKER_ASSIGN(const Column values, codec_.DecodeColumn(column));
  STOKER_ASSIGN(const std::vector<int64_t> times, codec_.DecodeTimes(timeline));
  if (times.size() != values.values.size()) {
    return Corrupt("a chunk and its timeline differ in length", "samples", Db::DamageAdvice());
  }
  const auto begin = std::lower_bound(times.begin(), times.end(), from) - times.begin();
  const auto end = std::upper_bound(times.begin(), times.end(), to) - times.begin();
  for (ptrdiff_t i = begin; i < end; ++i) {
    const auto at = static_cast<size_t>(i);
    out.push_back(RawSample{times[at], values.values[at], values.absences[at]});
  }
  return Ok();
}

Result<std::vector<RawSample>> ChunkStore::Load(int64_t series, int64_t from, int64_t to) {
  std::vector<RawSample> out;
  // Chunks do not overlap, so only the last one that begins before `from` can reach into the range.
  STOKER_ASSIGN(
      Query q,
      db_.Ask("SELECT c.id, c.data, t.data FROM chunks c JOIN timelines t "
              "ON t.id = c.timeline WHERE c.series = ?1 AND c.first_ms >= coalesce("
              "(SELECT max(first_ms) FROM chunks WHERE series = ?1 AND first_ms <= ?2), ?2) "
              "AND c.first_ms <= ?3 AND c.last_ms >= ?2 ORDER BY c.first_ms",
              series, from, to));
  while (true) {
    STOKER_ASSIGN(const bool row, q.Step());
    if (!row) return out;
    const int64_t id = q.Int();
    const std::string_view column = q.Bytes();
    if (Status s = Unpack(column, q.Bytes(), from, to, out); !s) {
      return s.error().In("chunk " + std::to_string(id));
    }
  }
}

Result<std::optional<RawSample>> ChunkStore::Last(int64_t series) {
  STOKER_ASSIGN(const auto last, db_.AskInt("SELECT last_ms FROM chunks WHERE series = ? "
                                            "ORDER BY first_ms DESC LIMIT 1",
                                            series));
  if (!last) return std::optional<RawSample>();
  STOKER_ASSIGN(const std::vector<RawSample> samples, Load(series, *last, *last));
  return samples.empty() ? std::optional<RawSample>() : samples.back();
}

// The chunks that overlap [first, last], and the one before where it is still small.
Result<std::vector<ChunkStore::Place>> ChunkStore::Touched(int64_t series, int64_t first,
                                                           int64_t last) {
  STOKER_ASSIGN(
      Query q,
      db_.Ask("SELECT id, timeline, first_ms, last_ms, count FROM chunks WHERE "
              "series = ?1 "
              "AND first_ms >= coalesce((SELECT max(first_ms) FROM chunks WHERE series = ?1 "
              "AND first_ms <= ?2), ?2) AND first_ms <= ?3 ORDER BY first_ms",
              series, first, last));
  std::vector<Place> out;
  while (true) {
    STOKER_ASSIGN(const bool row, q.Step());
    if (!row) return out;
    Place place;
    place.id = q.Int();
    place.timeline = q.Int();
    place.first = q.Int();
    const bool overlaps = q.Int() >= first;
    const bool small = q.Int() < kGrowBelow && last - place.first < kMaxSpanMs;
    if (overlaps || small) out.push_back(place);
  }
}

Status ChunkStore::Merge(int64_t series, std::span<const RawSample> samples) {
  STOKER_ASSIGN(const std::vector<Place> touched,
                Touched(series, samples.front().at, samples.back().at));
  std::vector<RawSample> merged;
  if (!touched.empty()) {
    std::vector<RawSample> old;
    for (const Place& place : touched) {
      STOKER_ASSIGN(Query q, db_.Ask("SELECT c.data, t.data FROM chunks c JOIN timelines t "
                                     "ON t.id = c.timeline WHERE c.id = ?",
                                     place.id));
      STOKER_ASSIGN(const bool row, q.Step());
      if (!row) return Corrupt("a chunk has no timeline", db_.path(), Db::DamageAdvice());
      const std::string_view column = q.Bytes();
      if (Status s = Unpack(column, q.Bytes(), std::numeric_limits<int64_t>::min(),
                            std::numeric_limits<int64_t>::max(), old);
          !s) {
        return s.error().In("chunk " + std::to_string(place.id));
      }
    }
    merged.reserve(old.size() + samples.size());
    auto o = old.begin();
    for (const RawSample& s : samples) {
      while (o != old.end() && o->at < s.at) merged.push_back(*o++);
      while (o != old.end() && o->at == s.at) ++o;
      merged.push_back(s);
    }
    merged.insert(merged.end(), o, old.end());
    samples = merged;
    for (const Place& place : touched) STOKER_TRY(Remove(place));
  }
  while (!samples.empty()) {
    const size_t size = NextCut(samples);
    STOKER_TRY(Insert(series, samples.first(size)));
    samples = samples.subspan(size);
  }
  return Ok();
}

Status ChunkStore::Remove(const Place& place) {
  STOKER_TRY(db_.Run("DELETE FROM chunks WHERE id = ?", place.id));
  STOKER_TRY(
      db_.Run("DELETE FROM timelines WHERE id = ?1 "
              "AND NOT EXISTS (SELECT 1 FROM chunks WHERE timeline = ?1)",
              place.timeline));
  if (db_.changes() > 0 && known_timeline_ == place.timeline) known_timeline_ = 0;
  return Ok();
}

Status ChunkStore::Insert(int64_t series, std::span<const RawSample> samples) {
  std::vector<int64_t> times, values;
  std::vector<Absence> absences;
  for (const RawSample& s : samples) {
    times.push_back(s.at);
    values.push_back(s.value);
    absences.push_back(s.absence);
  }
  STOKER_ASSIGN(const int64_t timeline, TimelineOf(std::move(times)));
  const std::string data = codec_.EncodeColumn(values, absences);
  return db_.Run(
      "INSERT INTO chunks (series, first_ms, last_ms, count, timeline, data) "
      "VALUES (?, ?, ?, ?, ?, ?)",
      series, samples.front().at, samples.back().at, static_cast<int64_t>(samples.size()), timeline,
      Blob{data});
}

Result<int64_t> ChunkStore::TimelineOf(std::vector<int64_t> times) {
  if (known_timeline_ != 0 && known_times_ == times) return known_timeline_;
  const std::string data = codec_.EncodeTimes(times);
  STOKER_ASSIGN(const auto found, db_.AskInt("SELECT id FROM timelines WHERE first_ms = ? "
                                             "AND last_ms = ? AND data = ?",
                                             times.front(), times.back(), Blob{data}));
  int64_t id = found.value_or(0);
  if (!found) {
    STOKER_TRY(db_.Run("INSERT INTO timelines (first_ms, last_ms, data) VALUES (?, ?, ?)",
                       times.front(), times.back(), Blob{data}));
    id = db_.last_id();
  }
  known_times_ = std::move(times);
  known_timeline_ = id;
  return id;
}

}  // namespace stoker::ledger
