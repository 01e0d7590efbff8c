#include "ledger/sample_store.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <string>
#include <utility>

namespace stoker::ledger {
namespace {

constexpr int64_t kDayMs = int64_t{24} * 3600 * 1000;
// A merge holds the samples of one slice and all that is sealed over the same time.
constexpr size_t kSliceSamples = 32768;
constexpr size_t kSeriesAtOnce = 64;
// Times beyond this (the year 287,396) are no times.
constexpr int64_t kMaxTime = int64_t{1} << 53;
// Sixteen times a stored value still fits (the tiers' means).
constexpr double kMaxStored = 288230376151711744.0;  // 2^58

// What a sample is stored as: a number that the scale cannot hold is a failed read, never a wrong
// one.
RawSample ToRaw(int64_t at, double value, Absence absence, double scale) {
  if (absence != Absence::kNone) return RawSample{at, 0, absence};
  const double scaled = std::round(value * scale);
  if (!(std::abs(scaled) <= kMaxStored)) return RawSample{at, 0, Absence::kError};
  return RawSample{at, static_cast<int64_t>(scaled), Absence::kNone};
}

// Divides by whole numbers only, so that 1980 MHz comes back as 1.98e9 exactly.
double FromScaled(double value, double scale) {
  return scale < 1 ? value * std::round(1 / scale) : value / scale;
}

Sample ToSample(const RawSample& raw, double scale) {
  if (raw.absence != Absence::kNone) return Sample{WallTime{raw.at}, 0, raw.absence};
  return Sample{WallTime{raw.at}, FromScaled(static_cast<double>(raw.value), scale), raw.absence};
}

}  // namespace

SampleStore::SampleStore(Db& db, Tuning tuning)
    : db_(db), tuning_(tuning), chunks_(db, codec_), tiers_(db, codec_), hot_(db, codec_) {}

void SampleStore::Forget() {
  chunks_.Forget();
  hot_.Forget();
  scales_.clear();
}

Result<std::optional<SeriesId>> SampleStore::FindSeries(Metric metric, const Subject& subject) {
  return db_.AskInt(
      "SELECT id FROM series WHERE metric = ? AND scope = ? AND subject = ? AND name = ?",
      static_cast<int64_t>(metric), static_cast<int64_t>(subject.scope), subject.id, subject.name);
}

Result<SeriesId> SampleStore::SeriesFor(Metric metric, const Subject& subject) {
  STOKER_ASSIGN(const std::optional<SeriesId> found, FindSeries(metric, subject));
  if (found) return *found;
  STOKER_TRY(db_.Run("INSERT INTO series (metric, scope, subject, name) VALUES (?, ?, ?, ?)",
                     static_cast<int64_t>(metric), static_cast<int64_t>(subject.scope), subject.id,
                     subject.name));
  return db_.last_id();
}

Result<std::vector<Series>> SampleStore::AllSeries() {
  STOKER_ASSIGN(Query q,
                db_.Ask("SELECT id, metric, scope, subject, name FROM series ORDER BY id"));
  std::vector<Series> out;
  while (true) {
    STOKER_ASSIGN(const bool row, q.Step());
    if (!row) return out;
    Series series;
    series.id = q.Int();
    const std::optional<Metric> metric = MetricFromId(q.Int());
    const int64_t scope = q.Int();
    // Metrics and scopes that only a newer Stoker knows are there, but not for us.
    if (!metric || scope < 0 || scope > static_cast<int64_t>(Scope::kJob)) continue;
    series.metric = *metric;
    series.subject.scope = static_cast<Scope>(scope);
    series.subject.id = q.Int();
    series.subject.name = q.Text();
    out.push_back(std::move(series));
  }
}

Result<double> SampleStore::ScaleOf(SeriesId series) {
  if (const auto found = scales_.find(series); found != scales_.end()) return found->second;
  STOKER_ASSIGN(const auto number, db_.AskInt("SELECT metric FROM series WHERE id = ?", series));
  const std::optional<Metric> metric = number ? MetricFromId(*number) : std::nullopt;
  if (!metric) return NotFound("there is no series " + std::to_string(series), "ledger");
  return scales_[series] = Info(*metric).scale;
}

Status SampleStore::AddTick(WallTime at, const std::vector<TickValue>& values) {
  if (std::abs(at.ms) > kMaxTime) return Invalid("a tick at no time", "ledger");
  if (values.size() > kMaxInPiece) return Invalid("a tick of too many series", "ledger");
  std::vector<TickEntry> entries;
  entries.reserve(values.size());
  for (const TickValue& v : values) {
    STOKER_ASSIGN(const double scale, ScaleOf(v.series));
    const RawSample raw = ToRaw(at.ms, v.value, v.absence, scale);
    entries.push_back(TickEntry{v.series, raw.value, raw.absence});
  }
  const auto by_series = [](const TickEntry& a, const TickEntry& b) { return a.series < b.series; };
  std::sort(entries.begin(), entries.end(), by_series);
  const auto twice =
      std::adjacent_find(entries.begin(), entries.end(),
                         [](const auto& a, const auto& b) { return a.series == b.series; });
  if (twice != entries.end()) return Invalid("a tick names a series twice", "ledger");
  const std::string data = codec_.EncodeTick(entries);
  return db_.Run("INSERT INTO ticks (at_ms, data) VALUES (?, ?)", at, Blob{data});
}

Status SampleStore::AddSamples(SeriesId series, const std::vector<Sample>& samples) {
  STOKER_ASSIGN(const double scale, ScaleOf(series));
  std::vector<RawSample> raw;
  raw.reserve(samples.size());
  for (const Sample& s : samples) {
    if (std::abs(s.at.ms) > kMaxTime || (!raw.empty() && s.at.ms < raw.back().at)) {
      return Invalid("samples are not in time order", "ledger");
    }
    raw.push_back(ToRaw(s.at.ms, s.value, s.absence, scale));
  }
  SortAndDedupe(raw);
  return StoreSealed(series, std::move(raw));
}

// Chunks first, then the tiers of the same time from what the chunks hold now.
Status SampleStore::StoreSealed(SeriesId series, std::vector<RawSample> samples) {
  std::span<const RawSample> rest(samples);
  while (!rest.empty()) {
    const int64_t end = rest.front().at + kDayMs;
    const auto most = static_cast<ptrdiff_t>(std::min(rest.size(), kSliceSamples));
    const auto past = std::partition_point(rest.begin(), rest.begin() + most,
                                           [&](const RawSample& s) { return s.at < end; });
    const auto slice = rest.first(static_cast<size_t>(past - rest.begin()));
    STOKER_TRY(chunks_.Merge(series, slice));
    const int64_t from = FloorTo(slice.front().at, kCoarseTier.width_ms);
    const int64_t to = FloorTo(slice.back().at, kCoarseTier.width_ms) + kCoarseTier.width_ms;
    STOKER_TRY(tiers_.Update(series, from, to, [&](int64_t begin, int64_t finish) {
      return chunks_.Load(series, begin, finish - 1);
    }));
    rest = rest.subspan(slice.size());
  }
  return Ok();
}

Result<bool> SampleStore::SealDue(WallTime now) {
  STOKER_ASSIGN(const auto least, db_.AskInt("SELECT min(id) FROM ticks"));
  STOKER_ASSIGN(const auto most, db_.AskInt("SELECT max(id) FROM ticks"));
  if (!least || least == most) return false;
  if (*most - *least + 1 > tuning_.seal_above) return true;
  STOKER_ASSIGN(const auto at, db_.AskInt("SELECT at_ms FROM ticks WHERE id = ?", *least));
  return WallTime{*at} < now - tuning_.seal_age;
}

// Some of the oldest ticks.
struct SampleStore::Batch {
  int64_t last = 0;              // id of the newest of them; 0: none
  std::vector<SeriesId> series;  // all that they hold, ascending
};

Result<SampleStore::Batch> SampleStore::NextBatch() {
  Batch batch;
  STOKER_ASSIGN(const auto most, db_.AskInt("SELECT max(id) FROM ticks"));
  STOKER_ASSIGN(const auto least, db_.AskInt("SELECT min(id) FROM ticks"));
  if (!most || !least) return batch;
  // What lies there for its age alone goes as a whole, but for the newest (see schema.cc).
  const bool many = *most - *least + 1 > tuning_.seal_above;
  STOKER_ASSIGN(Query q, db_.Ask("SELECT id, data FROM ticks WHERE id <= ? ORDER BY id LIMIT ?",
                                 *most - (many ? tuning_.keep : 1), tuning_.batch));
  std::set<SeriesId> series;
  for (size_t samples = 0; samples < tuning_.batch_samples;) {
    STOKER_ASSIGN(const bool row, q.Step());
    if (!row) break;
    batch.last = q.Int();
    Result<std::vector<TickEntry>> entries = codec_.DecodeTick(q.Bytes());
    if (!entries) return entries.error().In("tick " + std::to_string(batch.last));
    for (const TickEntry& e : *entries) series.insert(e.series);
    samples += entries->size();
  }
  batch.series.assign(series.begin(), series.end());
  return batch;
}

Status SampleStore::SealSeries(const Batch& batch, std::span<const SeriesId> some) {
  std::vector<std::vector<RawSample>> lists(some.size());
  {
    STOKER_ASSIGN(Query q,
                  db_.Ask("SELECT at_ms, data FROM ticks WHERE id <= ? ORDER BY id", batch.last));
    while (true) {
      STOKER_ASSIGN(const bool row, q.Step());
      if (!row) break;
      const int64_t at = q.Int();
      STOKER_ASSIGN(const std::vector<TickEntry> entries, codec_.DecodeTick(q.Bytes()));
      for (const TickEntry& e : entries) {
        const auto place = std::lower_bound(some.begin(), some.end(), e.series);
        if (place == some.end() || *place != e.series) continue;
        lists[static_cast<size_t>(place - some.begin())].push_back({at, e.value, e.absence});
      }
    }
  }
  for (size_t i = 0; i < some.size(); ++i) {
    SortAndDedupe(lists[i]);
    STOKER_TRY(StoreSealed(some[i], std::move(lists[i])));
  }
  return Ok();
}

Status SampleStore::SealStep() {
  STOKER_ASSIGN(const Batch batch, NextBatch());
  if (batch.last == 0) return Ok();
  // A group of series at a time: the ticks are read again for each, and little is held at once.
  std::span<const SeriesId> rest(batch.series);
  while (!rest.empty()) {
    const size_t size = std::min(rest.size(), kSeriesAtOnce);
    STOKER_TRY(SealSeries(batch, rest.first(size)));
    rest = rest.subspan(size);
  }
  return db_.Run("DELETE FROM ticks WHERE id <= ?", batch.last);
}

Result<std::vector<Sample>> SampleStore::Scan(SeriesId series, WallTime from, WallTime to) {
  std::vector<Sample> out;
  STOKER_ASSIGN(const double scale, ScaleOf(series));
  STOKER_ASSIGN(const std::vector<RawSample> sealed, chunks_.Load(series, from.ms, to.ms));
  STOKER_TRY(hot_.Refresh());
  const std::vector<RawSample> hot = hot_.Load(series, from.ms, to.ms);
  out.reserve(sealed.size() + hot.size());
  auto h = hot.begin();
  for (const RawSample& s : sealed) {
    while (h != hot.end() && h->at < s.at) out.push_back(ToSample(*h++, scale));
    if (h == hot.end() || h->at != s.at) out.push_back(ToSample(s, scale));
  }
  for (; h != hot.end(); ++h) out.push_back(ToSample(*h, scale));
  return out;
}

Result<std::optional<Sample>> SampleStore::Latest(SeriesId series) {
  STOKER_ASSIGN(const double scale, ScaleOf(series));
  STOKER_TRY(hot_.Refresh());
  std::optional<RawSample> last = hot_.Last(series);
  if (!last) {
    STOKER_ASSIGN(last, chunks_.Last(series));
  }
  return last ? std::optional<Sample>(ToSample(*last, scale)) : std::nullopt;
}

// Buckets of one width on a grid that does not move when the range does.
class SampleStore::Buckets {
 public:
  Buckets(int64_t from, int64_t to, int64_t width)
      : from_(from),
        width_(width),
        origin_(FloorTo(from, width)),
        all_(static_cast<size_t>((to - 1 - origin_) / width) + 1) {}

  void Add(const RawSample& s) {
    Part& part = At(s.at);
    if (s.absence != Absence::kNone) {
      ++part.absent;
      return;
    }
    part.Add(s.at, s.value, s.value, s.value, static_cast<double>(s.value), 1);
  }
  void Add(const TimedBucket& t) {
    Part& part = At(t.from);
    part.absent += t.bucket.absent;
    if (t.bucket.count == 0) return;
    part.Add(t.from, t.bucket.min, t.bucket.max, t.bucket.last,
             static_cast<double>(t.bucket.mean16) / 16, t.bucket.count);
  }

  std::vector<Bucket> Finish(double scale) const {
    std::vector<Bucket> out;
    for (size_t i = 0; i < all_.size(); ++i) {
      const Part& p = all_[i];
      if (p.count == 0 && p.absent == 0) continue;
      Bucket b;
      b.from = WallTime{std::max(from_, origin_ + static_cast<int64_t>(i) * width_)};
      b.count = p.count;
      b.absent = p.absent;
      if (p.count > 0) {
        b.min = FromScaled(static_cast<double>(p.min), scale);
        b.max = FromScaled(static_cast<double>(p.max), scale);
        b.last = FromScaled(static_cast<double>(p.last), scale);
        b.mean = std::clamp(FromScaled(p.sum / static_cast<double>(p.count), scale), b.min, b.max);
      } else {
        b.min = b.max = b.last = b.mean = std::nan("");
      }
      out.push_back(b);
    }
    return out;
  }

 private:
  struct Part {
    int64_t min = 0, max = 0, last = 0, last_at = 0, count = 0, absent = 0;
    double sum = 0;
    void Add(int64_t at, int64_t least, int64_t most, int64_t newest, double mean, int64_t n) {
      min = count > 0 ? std::min(min, least) : least;
      max = count > 0 ? std::max(max, most) : most;
      if (count == 0 || at >= last_at) {
        last = newest;
        last_at = at;
      }
      sum += mean * static_cast<double>(n);
      count += n;
    }
  };
  Part& At(int64_t at) { return all_[static_cast<size_t>((at - origin_) / width_)]; }

  int64_t from_, width_, origin_;
  std::vector<Part> all_;
};

Status SampleStore::FillFromRaw(SeriesId series, int64_t from, int64_t to, Buckets& out) {
  if (from >= to) return Ok();
  STOKER_ASSIGN(const std::vector<RawSample> sealed, chunks_.Load(series, from, to - 1));
  for (const RawSample& s : sealed) out.Add(s);
  return Ok();
}

// Whole buckets of the tier inside the range, single samples at its two edges.
Status SampleStore::FillFromTier(SeriesId series, const Tier& tier, int64_t from, int64_t to,
                                 Buckets& out) {
  const int64_t inner_from = CeilTo(from, tier.width_ms);
  const int64_t inner_to = FloorTo(to, tier.width_ms);
  if (inner_from >= inner_to) return FillFromRaw(series, from, to, out);
  STOKER_TRY(FillFromRaw(series, from, inner_from, out));
  STOKER_ASSIGN(const TierStore::Answer answer, tiers_.Load(series, tier, inner_from, inner_to));
  for (const TimedBucket& b : answer.buckets) out.Add(b);
  for (const auto& [begin, end] : answer.missing) {
    STOKER_TRY(FillFromRaw(series, begin, end, out));
  }
  return FillFromRaw(series, inner_to, to, out);
}

Result<std::vector<Bucket>> SampleStore::ScanBuckets(SeriesId series, WallTime from, WallTime to,
                                                     int points) {
  constexpr int kMaxPoints = 1'000'000;
  if (points < 1 || points > kMaxPoints) {
    return Invalid("the number of points must be between 1 and 1,000,000", "ledger");
  }
  STOKER_ASSIGN(const double scale, ScaleOf(series));
  const int64_t begin = std::clamp(from.ms, -kMaxTime, kMaxTime);
  const int64_t end = std::clamp(to.ms, -kMaxTime, kMaxTime);
  if (begin >= end) return std::vector<Bucket>();
  const int64_t wanted = (end - begin + points - 1) / points;
  const Tier* tier = wanted >= kCoarseTier.width_ms ? &kCoarseTier
                     : wanted >= kFineTier.width_ms ? &kFineTier
                                                    : nullptr;
  Buckets buckets(begin, end, tier != nullptr ? CeilTo(wanted, tier->width_ms) : wanted);
  STOKER_TRY(tier != nullptr ? FillFromTier(series, *tier, begin, end, buckets)
                             : FillFromRaw(series, begin, end, buckets));
  STOKER_TRY(hot_.Refresh());
  for (const RawSample& s : hot_.Load(series, begin, end - 1)) buckets.Add(s);
  return buckets.Finish(scale);
}

}  // namespace stoker::ledger
