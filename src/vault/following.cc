#include "vault/following.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/file.h"

namespace stoker::vault {
namespace {

// File times come from a clock that ticks every few milliseconds; the end is seen a little late.
constexpr Millis kStartSlack{50}, kEndSlack{5000};
// A trainer writes its numbers, then the file.
constexpr Millis kMetricSlack{500};

WallTime WrittenAt(int64_t mtime_ns) { return WallTime{mtime_ns / 1'000'000}; }

bool CanHaveWritten(const Followed& followed, WallTime at) {
  const ledger::Job& job = followed.job;
  if (at < job.started_at.value_or(job.created_at) - kStartSlack) return false;
  return !followed.ended || !job.ended_at || at <= *job.ended_at + kEndSlack;
}

// Length of the deepest root that holds `path`; 0 where none does.
size_t DepthOf(const Followed& followed, std::string_view path) {
  size_t deepest = 0;
  for (const std::string& root : followed.roots) {
    if (path.size() > root.size() && path.starts_with(root) && path[root.size()] == '/') {
      deepest = std::max(deepest, root.size());
    }
  }
  return deepest;
}

bool NamedFolder(const Followed& followed, const std::string& path) {
  const std::string folder = DirName(path);
  return std::any_of(followed.told.begin(), followed.told.end(),
                     [&](const auto& told) { return DirName(told.first) == folder; });
}

}  // namespace

Followed* Following::Find(int64_t job) {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? nullptr : &found->second;
}

bool Following::Uses(const std::string& root) const {
  return std::any_of(jobs_.begin(), jobs_.end(),
                     [&](const auto& entry) { return entry.second.roots.count(root) != 0; });
}

Followed* Following::OwnerOf(const std::string& path, const Version& version, int64_t last_owner) {
  using Rank = std::tuple<int, size_t, bool, bool, WallTime, int64_t>;
  Followed* best = nullptr;
  Rank best_rank;
  for (auto& [id, followed] : jobs_) {
    const int named = followed.told.count(path) != 0 ? 2 : NamedFolder(followed, path) ? 1 : 0;
    const size_t depth = DepthOf(followed, path);
    if (named == 0 && depth == 0) continue;
    if (!CanHaveWritten(followed, WrittenAt(version.mtime_ns))) continue;
    const Rank rank{named,
                    depth,
                    id == last_owner,
                    !followed.ended,
                    followed.job.started_at.value_or(followed.job.created_at),
                    id};
    if (best == nullptr || rank > best_rank) {
      best = &followed;
      best_rank = rank;
    }
  }
  return best;
}

Status JoinMetrics(ledger::Ledger& ledger, const ledger::Job& job, bool keep_epoch,
                   ledger::Checkpoint& checkpoint) {
  if (!job.best) {
    if (!keep_epoch && !checkpoint.epoch) checkpoint.epoch = job.last_epoch;
    return Ok();
  }
  const WallTime written = WrittenAt(checkpoint.mtime_ns) + kMetricSlack;
  STOKER_ASSIGN(const std::vector<ledger::MetricPoint> points,
                ledger.Metrics(job.id, job.best->metric));
  const ledger::MetricPoint* match = nullptr;
  for (const ledger::MetricPoint& point : points) {
    if (keep_epoch ? point.epoch == checkpoint.epoch : point.at <= written) match = &point;
  }
  if (match == nullptr) return Ok();
  if (!keep_epoch) checkpoint.epoch = match->epoch;
  checkpoint.metric = ledger::Best{job.best->metric, match->value, job.best->higher_is_better,
                                   match->epoch, match->at};
  return Ok();
}

}  // namespace stoker::vault
