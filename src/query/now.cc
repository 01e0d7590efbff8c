#include <algorithm>
#include <cstdint>
#include <utility>

#include "query/boxes.h"
#include "query/query.h"
#include "query/throttle.h"

namespace stoker::query {
namespace {

using ledger::Metric;
using ledger::Sample;
using ledger::Scope;
using ledger::Series;

// A metric that was read so much earlier than its neighbours is no longer a reading of now.
constexpr Millis kStale{300'000};
// A card counts as answering while its newest value is younger.
constexpr double kFreshS = 60;

struct Latest {
  Series series;
  Sample sample;
};

Result<std::vector<Latest>> LatestOf(ledger::Ledger& ledger, const std::vector<Series>& all,
                                     const std::vector<ledger::Card>& cards) {
  std::vector<Latest> out;
  for (const Series& series : all) {
    const Scope scope = series.subject.scope;
    if (scope != Scope::kCard && scope != Scope::kHost && scope != Scope::kCore) continue;
    const auto is_mine = [&](const ledger::Card& c) { return c.id == series.subject.id; };
    if (scope == Scope::kCard && std::none_of(cards.begin(), cards.end(), is_mine)) continue;
    STOKER_ASSIGN(const std::optional<Sample> sample, ledger.Latest(series.id));
    if (sample) out.push_back({series, *sample});
  }
  return out;
}

// The newest instant at which one of `latest` that `mine` picks had a value, else was asked at all.
template <typename Mine>
std::optional<WallTime> Newest(const std::vector<Latest>& latest, const Mine& mine) {
  std::optional<WallTime> value, any;
  for (const Latest& l : latest) {
    if (!mine(l.series)) continue;
    any = std::max(any.value_or(l.sample.at), l.sample.at);
    if (l.sample.absence != Absence::kNone) continue;
    value = std::max(value.value_or(l.sample.at), l.sample.at);
  }
  return value ? value : any;
}

Reading<double> ReadingOf(const Latest& latest, WallTime newest) {
  if (newest - latest.sample.at > kStale) return Absence::kNotYet;
  if (latest.sample.absence != Absence::kNone) return latest.sample.absence;
  return latest.sample.value;
}

double AgeSeconds(WallTime now, WallTime then) {
  return std::max(0.0, static_cast<double>((now - then).count()) / 1000);
}

std::string NameOf(const Latest& latest) {
  return std::string(ledger::Info(latest.series.metric).name);
}

CardNow MakeCard(const ledger::Card& card, const std::vector<Latest>& latest,
                 const std::vector<ledger::Job>& running, WallTime now) {
  CardNow out;
  out.card = card;
  const auto mine = [&](const Series& series) {
    return series.subject.scope == Scope::kCard && series.subject.id == card.id;
  };
  const std::optional<WallTime> newest = Newest(latest, mine);
  out.age_s = AgeSeconds(now, newest.value_or(card.seen_at));
  for (const Latest& l : latest) {
    if (mine(l.series)) out.readings[NameOf(l)] = ReadingOf(l, *newest);
  }
  if (const auto bits = out.readings.find("throttle_bits");
      bits != out.readings.end() && bits->second && *bits->second >= 0) {
    out.throttle = ThrottleNames(static_cast<uint64_t>(*bits->second));
  }
  for (const ledger::Job& job : running) {
    if (std::count(job.cards.begin(), job.cards.end(), card.id)) out.jobs.push_back(job.id);
  }
  std::sort(out.jobs.begin(), out.jobs.end());
  return out;
}

void AddHost(const std::vector<Latest>& latest, Now& now) {
  const auto newest =
      Newest(latest, [](const Series& s) { return s.subject.scope == Scope::kHost; });
  if (newest) now.host_age_s = AgeSeconds(now.at, *newest);
  std::vector<std::pair<int64_t, Reading<double>>> cores;
  for (const Latest& l : latest) {
    const Scope scope = l.series.subject.scope;
    if (scope == Scope::kHost) now.host[NameOf(l)] = ReadingOf(l, *newest);
    if (scope == Scope::kCore && l.series.metric == Metric::kCoreBusyRatio) {
      cores.emplace_back(l.series.subject.id, ReadingOf(l, newest.value_or(l.sample.at)));
    }
  }
  std::sort(cores.begin(), cores.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [core, reading] : cores) now.cores.push_back(reading);
}

void AddPower(Now& now) {
  for (const CardNow& card : now.cards) {
    auto power = card.readings.find("power_w");
    if (power == card.readings.end() || !power->second) {
      power = card.readings.find("power_instant_w");
    }
    if (power == card.readings.end() || !power->second || card.age_s > kFreshS) continue;
    now.gpu_power_w += *power->second;
    ++now.cards_answering;
  }
}

}  // namespace

std::optional<ledger::Box> LocalBox(const std::vector<ledger::Box>& boxes) {
  std::optional<ledger::Box> best;
  for (const ledger::Box& box : boxes) {
    const auto rank = [](const ledger::Box& b) { return std::pair(!b.boot_id.empty(), b.seen_at); };
    if (!best || rank(box) > rank(*best)) best = box;
  }
  return best;
}

Result<Now> GetNow(ledger::Ledger& ledger, const Clock& clock) {
  Now now;
  now.at = clock.Now();
  STOKER_ASSIGN(const std::vector<ledger::Box> boxes, ledger.Boxes());
  now.box = LocalBox(boxes);
  STOKER_ASSIGN(std::vector<ledger::Card> cards, ledger.Cards());
  std::erase_if(cards, [&](const ledger::Card& card) {
    return !card.present || !now.box || card.box != now.box->id;
  });
  std::sort(cards.begin(), cards.end(), [](const auto& a, const auto& b) { return a.gpu < b.gpu; });
  STOKER_ASSIGN(const std::vector<Series> series, ledger.AllSeries());
  STOKER_ASSIGN(const std::vector<Latest> latest, LatestOf(ledger, series, cards));
  ledger::JobFilter filter;
  filter.states = {ledger::JobState::kRunning};
  STOKER_ASSIGN(now.running, GetJobs(ledger, filter, clock));
  std::vector<ledger::Job> running;
  for (const JobView& view : now.running) running.push_back(view.job);
  for (const ledger::Card& card : cards) {
    now.simulated |= card.simulated;
    now.cards.push_back(MakeCard(card, latest, running, now.at));
  }
  AddHost(latest, now);
  AddPower(now);
  return now;
}

}  // namespace stoker::query
