#include <algorithm>
#include <map>
#include <tuple>

#include "query/boxes.h"
#include "query/query.h"

namespace stoker::query {
namespace {

using ledger::Scope;
using ledger::Series;

struct Places {
  std::map<int64_t, ledger::Card> cards;
  std::map<int64_t, std::string> hosts;  // hostname by box
  int64_t local = 0;
};

Result<Places> GetPlaces(ledger::Ledger& ledger) {
  Places places;
  STOKER_ASSIGN(const std::vector<ledger::Box> boxes, ledger.Boxes());
  for (const ledger::Box& box : boxes) places.hosts[box.id] = box.hostname;
  if (const auto local = LocalBox(boxes)) places.local = local->id;
  STOKER_ASSIGN(const std::vector<ledger::Card> cards, ledger.Cards());
  for (const ledger::Card& card : cards) places.cards[card.id] = card;
  return places;
}

std::string LabelOf(const ledger::Subject& subject, const Places& places) {
  switch (subject.scope) {
    case Scope::kCard: {
      const auto card = places.cards.find(subject.id);
      if (card == places.cards.end()) return "card " + std::to_string(subject.id);
      const std::string gpu = "GPU " + std::to_string(card->second.gpu);
      if (card->second.box == places.local) return gpu;
      const auto host = places.hosts.find(card->second.box);
      return host == places.hosts.end() || host->second.empty() ? gpu : host->second + " " + gpu;
    }
    case Scope::kCore:
      return "core " + std::to_string(subject.id);
    case Scope::kJob:
      return "job " + std::to_string(subject.id);
    case Scope::kHost:
      return "host";
    default:
      return subject.name.empty() ? std::string(ledger::ScopeName(subject.scope)) : subject.name;
  }
}

}  // namespace

Result<std::vector<SeriesView>> GetSeries(ledger::Ledger& ledger, ledger::Metric metric,
                                          WallTime from, WallTime to, int points) {
  if (to <= from) return Invalid("the time range is empty", "series", "give from before to");
  if (points < 1) return Invalid("the number of points is not positive", "series");
  STOKER_ASSIGN(const Places places, GetPlaces(ledger));
  STOKER_ASSIGN(std::vector<Series> all, ledger.AllSeries());
  std::erase_if(all, [&](const Series& series) { return series.metric != metric; });
  const auto order = [&](const Series& s) {
    const auto card = places.cards.find(s.subject.id);
    const bool is_card = s.subject.scope == Scope::kCard && card != places.cards.end();
    const int64_t box = is_card ? card->second.box : 0;
    return std::tuple(box != 0 && box != places.local, box,
                      is_card ? card->second.gpu : s.subject.id, s.subject.name, s.id);
  };
  std::sort(all.begin(), all.end(),
            [&](const Series& a, const Series& b) { return order(a) < order(b); });
  std::vector<SeriesView> views;
  for (const Series& series : all) {
    STOKER_ASSIGN(auto buckets, ledger.ScanBuckets(series.id, from, to, points));
    if (buckets.empty()) continue;
    views.push_back({series, LabelOf(series.subject, places), std::move(buckets)});
  }
  return views;
}

Result<std::vector<SeriesView>> GetJobSeries(ledger::Ledger& ledger, const ledger::Job& job,
                                             ledger::Metric metric, int points,
                                             const Clock& clock) {
  std::vector<SeriesView> views;
  if (points < 1) return Invalid("the number of points is not positive", "series");
  const Scope scope = ledger::Info(metric).scope;
  const bool elsewhere = scope != Scope::kCard && job.origin == ledger::JobOrigin::kImported;
  if (!job.started_at || elsewhere) return views;
  const WallTime from = *job.started_at;
  const WallTime to = std::max(job.ended_at.value_or(clock.Now()), from + Millis(1));
  if (scope != Scope::kCard) return GetSeries(ledger, metric, from, to, points);
  STOKER_ASSIGN(const Places places, GetPlaces(ledger));
  for (size_t i = 0; i < job.cards.size(); ++i) {
    const ledger::Subject subject{Scope::kCard, job.cards[i], ""};
    STOKER_ASSIGN(const auto id, ledger.FindSeries(metric, subject));
    if (!id) continue;
    STOKER_ASSIGN(auto buckets, ledger.ScanBuckets(*id, from, to, points));
    if (buckets.empty()) continue;
    // A job's own page says "GPU 3"; whose box it was stands above it once.
    const auto card = places.cards.find(job.cards[i]);
    const bool named = job.gpus.size() == job.cards.size();
    std::string label = LabelOf(subject, places);
    if (named || card != places.cards.end()) {
      label = "GPU " + std::to_string(named ? job.gpus[i] : card->second.gpu);
    }
    views.push_back({{*id, metric, subject}, std::move(label), std::move(buckets)});
  }
  return views;
}

}  // namespace stoker::query
