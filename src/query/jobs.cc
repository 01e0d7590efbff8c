#include <algorithm>
#include <map>
#include <utility>

#include "query/query.h"

namespace stoker::query {
namespace {

using ledger::Job;
using ledger::JobState;
using ledger::Metric;
using ledger::Sample;

double SecondsBetween(WallTime from, WallTime to) {
  return std::max(0.0, static_cast<double>((to - from).count()) / 1000);
}

// The counter's rise from the job's first minute to now: three small reads a card, where a sum over
// all samples would grow with the job. Nullopt where the card has no counter or it began again.
Result<std::optional<double>> EnergySoFar(ledger::Ledger& ledger, int64_t card, WallTime from,
                                          WallTime to) {
  const ledger::Subject subject{ledger::Scope::kCard, card, ""};
  std::optional<double> none;
  STOKER_ASSIGN(const auto series, ledger.FindSeries(Metric::kEnergyJ, subject));
  if (!series) return none;
  STOKER_ASSIGN(const std::optional<Sample> latest, ledger.Latest(*series));
  if (!latest || latest->absence != Absence::kNone || latest->at <= from) return none;
  const Millis reach = std::min(Millis(60'000), to - from);
  STOKER_ASSIGN(const std::vector<Sample> head, ledger.Scan(*series, from, from + reach));
  for (const Sample& sample : head) {
    if (sample.absence != Absence::kNone) continue;
    return sample.value <= latest->value ? std::optional(latest->value - sample.value) : none;
  }
  return none;
}

// Without a counter: mean power of each bucket times its length.
Result<std::optional<double>> PowerSoFar(ledger::Ledger& ledger, int64_t card, WallTime from,
                                         WallTime to) {
  std::optional<double> joules;
  const ledger::Subject subject{ledger::Scope::kCard, card, ""};
  STOKER_ASSIGN(const auto series, ledger.FindSeries(Metric::kPowerW, subject));
  if (!series || to <= from) return joules;
  constexpr int kBuckets = 240;
  STOKER_ASSIGN(const auto buckets, ledger.ScanBuckets(*series, from, to, kBuckets));
  for (size_t i = 0; i < buckets.size(); ++i) {
    const WallTime end = i + 1 < buckets.size() ? buckets[i + 1].from : to;
    if (buckets[i].count == 0) continue;
    joules = joules.value_or(0) + buckets[i].mean * SecondsBetween(buckets[i].from, end);
  }
  return joules;
}

Result<std::optional<double>> JobEnergySoFar(ledger::Ledger& ledger, const Job& job, WallTime now) {
  std::optional<double> total;
  for (const int64_t card : job.cards) {
    STOKER_ASSIGN(std::optional<double> joules, EnergySoFar(ledger, card, *job.started_at, now));
    if (!joules) {
      STOKER_ASSIGN(joules, PowerSoFar(ledger, card, *job.started_at, now));
    }
    if (joules) total = total.value_or(0) + *joules;
  }
  return total;
}

// Seconds an epoch took lately: by the run's own lines where there are two, so that a run which
// resumed at epoch 300 is not thought to have done 300 epochs since its start.
Result<std::optional<double>> EpochSeconds(ledger::Ledger& ledger, const Job& job, WallTime now) {
  constexpr size_t kLately = 10;
  if (job.best) {
    STOKER_ASSIGN(const auto points, ledger.Metrics(job.id, job.best->metric));
    const size_t first = points.size() > kLately ? points.size() - kLately : 0;
    if (points.size() >= 2 && points[first].epoch && points.back().epoch) {
      const double epochs = *points.back().epoch - *points[first].epoch;
      const double seconds = SecondsBetween(points[first].at, points.back().at);
      if (epochs > 0 && seconds > 0) return std::optional<double>(seconds / epochs);
    }
  }
  const double wall = SecondsBetween(*job.started_at, now);
  if (!job.last_epoch || *job.last_epoch <= 0 || wall <= 0) return std::optional<double>();
  return std::optional<double>(wall / *job.last_epoch);
}

Result<JobView> MakeView(ledger::Ledger& ledger, Job job, WallTime now) {
  JobView view;
  const WallTime end = job.ended_at.value_or(now);
  if (job.started_at) view.wall_s = SecondsBetween(*job.started_at, end);
  view.gpu_energy_j = job.gpu_energy_j;
  if (job.last_epoch && job.epochs_planned && *job.epochs_planned > 0) {
    view.progress_ratio = std::clamp(*job.last_epoch / *job.epochs_planned, 0.0, 1.0);
  }
  if (job.state == JobState::kRunning && job.started_at) {
    if (!view.gpu_energy_j) {
      STOKER_ASSIGN(view.gpu_energy_j, JobEnergySoFar(ledger, job, now));
    }
    if (view.progress_ratio) {
      STOKER_ASSIGN(const std::optional<double> epoch_s, EpochSeconds(ledger, job, now));
      const double left = std::max(0.0, *job.epochs_planned - *job.last_epoch);
      if (epoch_s) view.eta_s = left * *epoch_s;
    }
  }
  view.job = std::move(job);
  return view;
}

}  // namespace

Result<std::vector<JobView>> GetJobs(ledger::Ledger& ledger, const ledger::JobFilter& filter,
                                     const Clock& clock) {
  STOKER_ASSIGN(std::vector<Job> jobs, ledger.Jobs(filter));
  std::vector<JobView> views;
  views.reserve(jobs.size());
  for (Job& job : jobs) {
    STOKER_ASSIGN(JobView view, MakeView(ledger, std::move(job), clock.Now()));
    views.push_back(std::move(view));
  }
  return views;
}

Result<std::vector<CheckpointView>> GetCheckpoints(ledger::Ledger& ledger,
                                                   std::optional<int64_t> job) {
  STOKER_ASSIGN(std::vector<ledger::Checkpoint> checkpoints, ledger.Checkpoints(job));
  std::vector<CheckpointView> views;
  views.reserve(checkpoints.size());
  for (ledger::Checkpoint& checkpoint : checkpoints) {
    STOKER_ASSIGN(std::vector<ledger::Copy> copies, ledger.Copies(checkpoint.id));
    views.push_back({std::move(checkpoint), std::move(copies)});
  }
  return views;
}

Result<JobDetail> GetJob(ledger::Ledger& ledger, int64_t id, const Clock& clock) {
  JobDetail detail;
  STOKER_ASSIGN(Job job, ledger.JobById(id));
  STOKER_ASSIGN(detail.view, MakeView(ledger, std::move(job), clock.Now()));
  STOKER_ASSIGN(detail.attempts, ledger.Attempts(id));
  STOKER_ASSIGN(std::vector<ledger::MetricPoint> points, ledger.Metrics(id, ""));
  std::map<std::string, size_t> index;  // curves stay in the order of their first point
  for (ledger::MetricPoint& point : points) {
    const auto [at, is_new] = index.emplace(point.name, detail.curves.size());
    if (is_new) detail.curves.push_back({point.name, {}});
    detail.curves[at->second].points.push_back(std::move(point));
  }
  STOKER_ASSIGN(detail.phases, ledger.Phases(id));
  STOKER_ASSIGN(detail.checkpoints, GetCheckpoints(ledger, id));
  ledger::EventFilter filter;
  filter.job = id;
  STOKER_ASSIGN(detail.events, ledger.Events(filter));
  return detail;
}

}  // namespace stoker::query
