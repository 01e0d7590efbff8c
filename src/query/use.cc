#include <algorithm>
#include <map>

#include "query/card_use.h"
#include "query/measure.h"
#include "query/query.h"
#include "query/rhythm.h"
#include "query/throttle.h"

namespace stoker::query {
namespace {

using ledger::Job;
using ledger::Metric;
using ledger::Sample;
using ledger::Scope;
using ledger::Subject;

// Counters are read a little past the job's edges, so that its first and last second count.
constexpr Millis kReach{10'000};

Result<std::vector<Sample>> ScanFor(ledger::Ledger& ledger, Metric metric, const Subject& subject,
                                    Window window, Millis reach = Millis(0)) {
  STOKER_ASSIGN(const auto series, ledger.FindSeries(metric, subject));
  if (!series) return std::vector<Sample>{};
  return ledger.Scan(*series, window.from - reach, window.to + reach);
}

bool AnyValue(const std::vector<Sample>& samples) {
  return std::any_of(samples.begin(), samples.end(),
                     [](const Sample& s) { return s.absence == Absence::kNone; });
}

Result<CardSamples> SamplesOf(ledger::Ledger& ledger, int64_t card, Window window) {
  const Subject subject{Scope::kCard, card, ""};
  CardSamples out;
  STOKER_ASSIGN(out.busy, ScanFor(ledger, Metric::kBusyRatio, subject, window));
  STOKER_ASSIGN(out.power, ScanFor(ledger, Metric::kPowerW, subject, window));
  if (!AnyValue(out.power)) {
    // Some cards and drivers give only the instant value.
    STOKER_ASSIGN(auto instant, ScanFor(ledger, Metric::kPowerInstantW, subject, window));
    if (AnyValue(instant)) out.power = std::move(instant);
  }
  STOKER_ASSIGN(out.energy, ScanFor(ledger, Metric::kEnergyJ, subject, window, kReach));
  STOKER_ASSIGN(out.temperature, ScanFor(ledger, Metric::kTemperatureC, subject, window));
  STOKER_ASSIGN(out.margin, ScanFor(ledger, Metric::kMarginC, subject, window));
  STOKER_ASSIGN(out.memory, ScanFor(ledger, Metric::kMemoryUsedBytes, subject, window));
  STOKER_ASSIGN(out.limit, ScanFor(ledger, Metric::kLimitW, subject, window));
  STOKER_ASSIGN(out.throttle, ScanFor(ledger, Metric::kThrottleBits, subject, window));
  for (const ThrottleReason& reason : ThrottleReasons()) {
    std::vector<Sample> counter;
    if (reason.seconds) {
      STOKER_ASSIGN(counter, ScanFor(ledger, *reason.seconds, subject, window, kReach));
    }
    out.throttled_s.push_back(std::move(counter));
  }
  return out;
}

struct MeanPeak {
  std::optional<double> mean, peak;
};

Result<MeanPeak> HostMetric(ledger::Ledger& ledger, Metric metric, Window window) {
  STOKER_ASSIGN(const auto samples, ScanFor(ledger, metric, Subject{}, window));
  MeanPeak out;
  double sum = 0;
  int64_t count = 0;
  for (const Sample& s : samples) {
    if (s.absence != Absence::kNone) continue;
    sum += s.value;
    ++count;
    out.peak = std::max(out.peak.value_or(s.value), s.value);
  }
  if (count > 0) out.mean = sum / static_cast<double>(count);
  return out;
}

Result<HostUse> HostOf(ledger::Ledger& ledger, Window window) {
  HostUse host;
  STOKER_ASSIGN(const MeanPeak cpu, HostMetric(ledger, Metric::kCpuBusyRatio, window));
  STOKER_ASSIGN(const MeanPeak memory, HostMetric(ledger, Metric::kHostMemoryUsedBytes, window));
  STOKER_ASSIGN(const MeanPeak wait_cpu, HostMetric(ledger, Metric::kPressureCpuRatio, window));
  STOKER_ASSIGN(const MeanPeak wait_io, HostMetric(ledger, Metric::kPressureIoRatio, window));
  host.cpu_mean_ratio = cpu.mean;
  host.cpu_peak_ratio = cpu.peak;
  host.memory_peak_bytes = memory.peak;
  host.pressure_cpu_mean_ratio = wait_cpu.mean;
  host.pressure_io_mean_ratio = wait_io.mean;
  return host;
}

// Jobs that had one of this job's cards while it had it: their watts cannot be told apart.
Status AddSharing(ledger::Ledger& ledger, const Job& job, Window window, JobUse& use) {
  if (job.cards.empty()) return Ok();
  ledger::JobFilter filter;
  filter.since = window.from;
  STOKER_ASSIGN(const std::vector<Job> others, ledger.Jobs(filter));
  for (const Job& other : others) {
    if (other.id == job.id || !other.started_at || *other.started_at >= window.to) continue;
    if (other.ended_at && *other.ended_at <= window.from) continue;
    for (CardUse& card : use.cards) {
      if (std::count(other.cards.begin(), other.cards.end(), card.card)) {
        card.shared_with.push_back(other.id);
      }
    }
  }
  for (CardUse& card : use.cards) std::sort(card.shared_with.begin(), card.shared_with.end());
  return Ok();
}

Result<std::map<int64_t, ledger::Card>> CardsById(ledger::Ledger& ledger) {
  STOKER_ASSIGN(const std::vector<ledger::Card> cards, ledger.Cards());
  std::map<int64_t, ledger::Card> by_id;
  for (const ledger::Card& card : cards) by_id.emplace(card.id, card);
  return by_id;
}

// Energy after the job's best was reached, of the same cards by the same rule.
void AddAfterBest(const Job& job, const CardSamples& samples, Window window, UseTotal& total) {
  if (!job.best || !job.best->at || *job.best->at < window.from) return;
  const Window after{*job.best->at, window.to};
  if (after.to <= after.from) return;
  const CardEnergy energy = EnergyOfCard(samples, after);
  if (energy.joules) {
    total.after_best_energy_j = total.after_best_energy_j.value_or(0) + *energy.joules;
  }
}

}  // namespace

Result<JobUse> MeasureCards(ledger::Ledger& ledger, const Job& job, const Clock& clock) {
  JobUse use;
  const WallTime now = clock.Now();
  const Window window{job.started_at.value_or(now), job.ended_at.value_or(now)};
  use.from = window.from;
  use.to = window.to;
  if (!job.started_at) return use;
  STOKER_ASSIGN(const auto cards, CardsById(ledger));
  std::optional<double> after_best;
  RhythmBuilder rhythm(window);
  for (size_t i = 0; i < job.cards.size(); ++i) {
    STOKER_ASSIGN(const CardSamples samples, SamplesOf(ledger, job.cards[i], window));
    CardUse card = UseOfCard(samples, window);
    card.card = job.cards[i];
    const auto known = cards.find(card.card);
    if (known != cards.end()) {
      card.gpu = known->second.gpu;
      card.name = known->second.name;
      if (!card.limit_w) card.limit_w = known->second.limit_default_w;
    }
    if (job.gpus.size() == job.cards.size()) card.gpu = job.gpus[i];
    AddAfterBest(job, samples, window, use.total);
    rhythm.Add(card.gpu, samples);
    use.cards.push_back(std::move(card));
  }
  use.rhythm = rhythm.Finish();
  after_best = use.total.after_best_energy_j;
  use.total = TotalOf(use.cards);
  use.total.after_best_energy_j = after_best;
  return use;
}

Result<JobUse> GetJobUse(ledger::Ledger& ledger, const Job& job, const Clock& clock) {
  STOKER_ASSIGN(JobUse use, MeasureCards(ledger, job, clock));
  if (!job.started_at) return use;
  const Window window{use.from, use.to};
  // An imported job ran on another machine's host.
  if (job.origin != ledger::JobOrigin::kImported) {
    STOKER_ASSIGN(use.host, HostOf(ledger, window));
  }
  STOKER_TRY(AddSharing(ledger, job, window, use));
  return use;
}

}  // namespace stoker::query
