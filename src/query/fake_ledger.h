// For tests: a ledger in memory with the rules of ledger.h and nothing on disk. Buckets are cut
// evenly; Write() keeps what was written before an error, so tests of atomicity use the real one.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ledger/ledger.h"

namespace stoker::query {

class FakeLedger final : public ledger::Ledger, public ledger::Writer {
 public:
  // Writer
  Result<int64_t> PutBox(const ledger::Box& box) override {
    for (ledger::Box& old : boxes_) {
      if (old.hostname == box.hostname) return Replace(old, box);
    }
    return Insert(boxes_, box);
  }
  Result<int64_t> PutCard(const ledger::Card& card) override {
    for (ledger::Card& old : cards_) {
      if (old.box == card.box && old.uuid == card.uuid) return Replace(old, card);
    }
    return Insert(cards_, card);
  }
  Status PutJob(const ledger::Job& job) override {
    jobs_[job.id] = job;
    return Ok();
  }
  Status PutAttempt(const ledger::Attempt& attempt) override {
    attempts_.push_back(attempt);
    return Ok();
  }
  Status AddMetrics(int64_t job, const std::vector<ledger::MetricPoint>& points) override {
    auto& all = metrics_[job];
    all.insert(all.end(), points.begin(), points.end());
    return Ok();
  }
  Status PutPhase(const ledger::Phase& phase) override {
    phases_.push_back(phase);
    return Ok();
  }
  Result<int64_t> PutCheckpoint(const ledger::Checkpoint& c) override {
    return Insert(checkpoints_, c);
  }
  Status PutCopy(const ledger::Copy& copy) override {
    copies_.push_back(copy);
    return Ok();
  }
  Result<int64_t> AddEvent(const ledger::Event& event) override { return Insert(events_, event); }
  Result<ledger::SeriesId> SeriesFor(ledger::Metric metric,
                                     const ledger::Subject& subject) override {
    for (const ledger::Series& s : series_) {
      if (s.metric == metric && s.subject == subject) return s.id;
    }
    return Insert(series_, ledger::Series{0, metric, subject});
  }
  Status AddTick(WallTime at, const std::vector<ledger::TickValue>& values) override {
    for (const ledger::TickValue& v : values) {
      samples_[v.series].push_back({at, v.value, v.absence});
    }
    return Ok();
  }
  Status AddSamples(ledger::SeriesId series, const std::vector<ledger::Sample>& samples) override {
    auto& all = samples_[series];
    all.insert(all.end(), samples.begin(), samples.end());
    return Ok();
  }
  Status SetMark(const std::string& name, const std::string& value) override {
    marks_[name] = value;
    return Ok();
  }

  // Ledger
  Status Write(const std::function<Status(ledger::Writer&)>& change) override {
    ++writes_;
    return change(*this);
  }
  Result<std::vector<ledger::Box>> Boxes() override { return boxes_; }
  Result<std::vector<ledger::Card>> Cards() override { return cards_; }
  Result<std::vector<ledger::Job>> Jobs(const ledger::JobFilter& filter) override {
    std::vector<ledger::Job> out;
    for (auto it = jobs_.rbegin(); it != jobs_.rend(); ++it) {
      const ledger::Job& job = it->second;
      if (!filter.ids.empty() && !Has(filter.ids, job.id)) continue;
      if (!filter.states.empty() && !Has(filter.states, job.state)) continue;
      if (filter.since && job.ended_at && *job.ended_at <= *filter.since) continue;
      if (filter.limit > 0 && static_cast<int>(out.size()) >= filter.limit) break;
      out.push_back(job);
    }
    return out;
  }
  Result<ledger::Job> JobById(int64_t id) override {
    const auto job = jobs_.find(id);
    if (job == jobs_.end()) return NotFound("no such job", "job " + std::to_string(id));
    return job->second;
  }
  Result<std::vector<ledger::Attempt>> Attempts(int64_t job) override {
    return Select(attempts_, [&](const auto& a) { return a.job == job; });
  }
  Result<std::vector<std::string>> MetricNames(int64_t job) override {
    std::vector<std::string> names;
    for (const auto& point : metrics_[job]) {
      if (!Has(names, point.name)) names.push_back(point.name);
    }
    return names;
  }
  Result<std::vector<ledger::MetricPoint>> Metrics(int64_t job, const std::string& name) override {
    return Select(metrics_[job], [&](const auto& p) { return name.empty() || p.name == name; });
  }
  Result<std::vector<ledger::Phase>> Phases(int64_t job) override {
    return Select(phases_, [&](const auto& p) { return p.job == job; });
  }
  Result<std::vector<ledger::Checkpoint>> Checkpoints(std::optional<int64_t> job) override {
    return Select(checkpoints_, [&](const auto& c) { return !job || c.job == *job; });
  }
  Result<ledger::Checkpoint> CheckpointById(int64_t id) override {
    for (const auto& c : checkpoints_) {
      if (c.id == id) return c;
    }
    return NotFound("no such checkpoint", std::to_string(id));
  }
  Result<std::vector<ledger::Copy>> Copies(int64_t checkpoint) override {
    return Select(copies_, [&](const auto& c) { return c.checkpoint == checkpoint; });
  }
  Result<std::vector<ledger::Event>> Events(const ledger::EventFilter& filter) override {
    return Select(events_, [&](const auto& e) { return !filter.job || e.job == filter.job; });
  }
  Result<std::vector<ledger::Series>> AllSeries() override { return series_; }
  Result<std::optional<ledger::SeriesId>> FindSeries(ledger::Metric metric,
                                                     const ledger::Subject& subject) override {
    for (const ledger::Series& s : series_) {
      if (s.metric == metric && s.subject == subject) return std::optional(s.id);
    }
    return std::optional<ledger::SeriesId>();
  }
  Result<std::vector<ledger::Sample>> Scan(ledger::SeriesId series, WallTime from,
                                           WallTime to) override {
    if (series == broken_) return Corrupt("the chunk is damaged", "series");
    return Select(samples_[series], [&](const auto& s) { return s.at >= from && s.at <= to; });
  }
  Result<std::vector<ledger::Bucket>> ScanBuckets(ledger::SeriesId series, WallTime from,
                                                  WallTime to, int points) override {
    const int64_t step = std::max<int64_t>(1, (to - from).count() / points);
    std::map<int64_t, ledger::Bucket> buckets;
    for (const ledger::Sample& s : samples_[series]) {
      if (s.at < from || s.at >= to) continue;
      const int64_t slot = (s.at - from).count() / step;
      ledger::Bucket& b = buckets[slot];
      b.from = from + Millis(slot * step);
      if (s.absence != Absence::kNone) {
        ++b.absent;
        continue;
      }
      b.min = b.count == 0 ? s.value : std::min(b.min, s.value);
      b.max = b.count == 0 ? s.value : std::max(b.max, s.value);
      b.mean = (b.mean * static_cast<double>(b.count) + s.value) / static_cast<double>(b.count + 1);
      b.last = s.value;
      ++b.count;
    }
    std::vector<ledger::Bucket> out;
    for (const auto& [slot, bucket] : buckets) out.push_back(bucket);
    return out;
  }
  Result<std::optional<ledger::Sample>> Latest(ledger::SeriesId series) override {
    const auto& all = samples_[series];
    return all.empty() ? std::optional<ledger::Sample>() : std::optional(all.back());
  }
  Result<std::optional<std::string>> Mark(const std::string& name) override {
    const auto mark = marks_.find(name);
    return mark == marks_.end() ? std::optional<std::string>() : std::optional(mark->second);
  }
  Status Maintain() override { return Ok(); }

  int writes() const { return writes_; }
  void Break(ledger::SeriesId series) { broken_ = series; }

 private:
  template <typename T, typename V>
  static bool Has(const std::vector<T>& all, const V& value) {
    return std::find(all.begin(), all.end(), value) != all.end();
  }
  template <typename T>
  static int64_t Insert(std::vector<T>& all, T row) {
    row.id = static_cast<int64_t>(all.size()) + 1;
    all.push_back(std::move(row));
    return all.back().id;
  }
  template <typename T>
  static int64_t Replace(T& old, T row) {
    row.id = old.id;
    old = std::move(row);
    return old.id;
  }
  template <typename T, typename Keep>
  static std::vector<T> Select(const std::vector<T>& all, const Keep& keep) {
    std::vector<T> out;
    std::copy_if(all.begin(), all.end(), std::back_inserter(out), keep);
    return out;
  }

  std::vector<ledger::Box> boxes_;
  std::vector<ledger::Card> cards_;
  std::map<int64_t, ledger::Job> jobs_;
  std::vector<ledger::Attempt> attempts_;
  std::map<int64_t, std::vector<ledger::MetricPoint>> metrics_;
  std::vector<ledger::Phase> phases_;
  std::vector<ledger::Checkpoint> checkpoints_;
  std::vector<ledger::Copy> copies_;
  std::vector<ledger::Event> events_;
  std::vector<ledger::Series> series_;
  std::map<ledger::SeriesId, std::vector<ledger::Sample>> samples_;
  std::map<std::string, std::string> marks_;
  ledger::SeriesId broken_ = -1;
  int writes_ = 0;
};

}  // namespace stoker::query
