#include "collect/collector.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/json.h"
#include "base/proc_info.h"
#include "base/text.h"
#include "collect/own_cost.h"
#include "collect/readings.h"
#include "collect/watch.h"

namespace stoker::collect {
namespace {

using device::GpuIdentity;
using device::GpuReading;
using ledger::Card;
using ledger::Event;
using ledger::Metric;
using ledger::SeriesId;
using ledger::Severity;
using ledger::Subject;
using ledger::Writer;

// Wall and monotonic time may differ by this much between two ticks before it is called a step.
constexpr Millis kClockStep{2000};
// Events that wait for a ledger that cannot be written; beyond it the oldest go.
constexpr size_t kMaxWaiting = 1000;

std::optional<double> ValueOf(const Reading<Bytes>& r) {
  return r ? std::optional<double>(r->value) : std::nullopt;
}
std::optional<double> ValueOf(const Reading<Watts>& r) {
  return r ? std::optional<double>(r->value) : std::nullopt;
}

std::string CardName(const GpuIdentity& identity) {
  return "GPU " + std::to_string(identity.index) + " (" + identity.name + ")";
}

// "598 W, 71 °C", of what is known.
std::string Condition(const GpuReading& r) {
  std::vector<std::string> parts;
  const Reading<Watts>& watts = r.power_average ? r.power_average : r.power_instant;
  if (watts) parts.push_back(fmt::format("{:.0f} W", watts->value));
  if (r.temperature) parts.push_back(fmt::format("{:.0f} °C", r.temperature->value));
  return Join(parts, ", ");
}

Json ConditionJson(const GpuReading& r, const GpuIdentity& identity) {
  Json json{{"gpu", identity.index}, {"uuid", identity.uuid}};
  const Reading<Watts>& watts = r.power_average ? r.power_average : r.power_instant;
  if (watts) json["power_w"] = watts->value;
  if (r.limit) json["limit_w"] = r.limit->value;
  if (r.temperature) json["temperature_c"] = r.temperature->value;
  return json;
}

// A card that is gone says so in whatever it is asked.
bool SaysLost(const GpuReading& r) {
  return r.temperature.absence() == Absence::kLost || r.power_average.absence() == Absence::kLost ||
         r.busy.absence() == Absence::kLost;
}
bool SaysAnything(const GpuReading& r) { return r.temperature || r.power_average || r.busy; }

}  // namespace

struct Collector::State {
  struct Watched {
    GpuIdentity identity;
    int64_t card = 0;  // Card::id
    bool listed = true;
    Latch lost;
    ThrottleWatch throttle;
  };

  Config config;
  device::GpuProbe* gpus;
  device::HostProbe& host;
  ledger::Ledger& ledger;
  Logger& log;
  const Clock& clock;

  bool begun = false;
  bool started_said = false;
  int64_t box = 0;
  int64_t ticks = 0;
  std::vector<Watched> cards;
  std::map<std::pair<Metric, Subject>, SeriesId> series;
  std::deque<Event> waiting;
  std::set<int64_t> presence_changed;  // cards whose row waits to be written
  std::optional<std::pair<WallTime, MonoTime>> before;
  OwnCost own_cost{};

  void Log(const Event& event) {
    log.Write(event.severity >= Severity::kWarning ? LogLevel::kWarn : LogLevel::kInfo, "collect",
              event.text);
  }

  // Leaves the event to the transaction of this tick.
  void Say(Event event) {
    event.at = clock.Now();
    Log(event);
    waiting.push_back(std::move(event));
    if (waiting.size() > kMaxWaiting) waiting.pop_front();
  }

  // The card and what is to be said of it, in one transaction; returns the card's id.
  Result<int64_t> PutCard(const Card& card, std::optional<Event> event) {
    int64_t id = 0;
    STOKER_TRY(ledger.Write([&](Writer& w) -> Status {
      STOKER_ASSIGN(id, w.PutCard(card));
      if (!event) return Ok();
      event->at = clock.Now();
      event->card = id;
      STOKER_TRY(w.AddEvent(*event));
      return Ok();
    }));
    if (event) Log(*event);
    return id;
  }

  Card CardRow(const Watched& w) const {
    Card card;
    card.box = box;
    card.gpu = w.identity.index;
    card.uuid = w.identity.uuid;
    card.name = w.identity.name;
    card.memory_bytes = ValueOf(w.identity.memory_total);
    card.limit_default_w = ValueOf(w.identity.limit_default);
    card.simulated = gpus->simulated();
    card.present = w.listed && !w.lost.on();
    card.seen_at = clock.Now();
    return card;
  }

  Result<std::vector<GpuIdentity>> ListCards() {
    if (gpus == nullptr) return std::vector<GpuIdentity>();
    return gpus->List();
  }

  ledger::Box BoxRow();
  Status PutMissing(const std::vector<Card>& known, const std::vector<GpuIdentity>& now);
  Status AddCards(const std::vector<GpuIdentity>& identities, const std::vector<Card>& known);
  Status Reconcile();
  void ReadCards(bool slow, std::vector<Value>& values);
  void WatchCard(Watched& watched, const GpuReading& reading);
  void SetPresence(Watched& watched, bool lost, const std::string& why);
  void WatchClock();
  Status WriteTick(WallTime at, const std::vector<Value>& values);
};

ledger::Box Collector::State::BoxRow() {
  const device::HostFacts facts = host.Facts();
  Json json{
      {"kernel", facts.kernel}, {"os", facts.os}, {"cpu", facts.cpu_model}, {"cores", facts.cores}};
  if (facts.memory_total) json["memory_bytes"] = facts.memory_total->value;
  if (gpus != nullptr) {
    for (const auto& [name, value] : gpus->Facts()) json[name] = value;
    json["simulated"] = gpus->simulated();
  }
  ledger::Box row;
  row.hostname = facts.hostname.empty() ? HostName() : facts.hostname;
  row.boot_id = BootId().value_or("");
  row.facts_json = DumpJson(json);
  row.seen_at = clock.Now();
  return row;
}

// Cards that the ledger knows on this box and that are not there any more.
Status Collector::State::PutMissing(const std::vector<Card>& known,
                                    const std::vector<GpuIdentity>& now) {
  for (Card card : known) {
    const auto same = [&](const GpuIdentity& i) { return i.uuid == card.uuid; };
    if (card.box != box || !card.present || std::any_of(now.begin(), now.end(), same)) continue;
    card.present = false;
    std::optional<Event> event;
    if (!card.simulated) {  // a simulation that is over is no loss
      event.emplace();
      event->kind = "gpu.lost";
      event->severity = Severity::kFault;
      event->text = "GPU " + std::to_string(card.gpu) + " (" + card.name +
                    ") was here when Stoker last looked and is not any more";
      event->data_json = DumpJson(Json{{"gpu", card.gpu}, {"uuid", card.uuid}});
    }
    STOKER_TRY(PutCard(card, event));
  }
  return Ok();
}

// Puts cards that are not watched yet; those that the ledger never saw are said to have appeared.
Status Collector::State::AddCards(const std::vector<GpuIdentity>& identities,
                                  const std::vector<Card>& known) {
  for (const GpuIdentity& identity : identities) {
    Watched watched{identity, 0, true, Latch(config.lost_after, config.lost_after),
                    ThrottleWatch(config.throttle_began_after, config.throttle_ended_after)};
    const auto same = [&](const Card& c) { return c.box == box && c.uuid == identity.uuid; };
    const auto before = std::find_if(known.begin(), known.end(), same);
    std::optional<Event> event;
    if (before == known.end() || !before->present) {
      event.emplace();
      event->kind = before == known.end() ? "gpu.appeared" : "gpu.back";
      event->severity = Severity::kNotice;
      event->text = CardName(identity) + (before == known.end() ? " appeared" : " is back");
      event->data_json =
          DumpJson(Json{{"gpu", identity.index}, {"uuid", identity.uuid}, {"name", identity.name}});
    }
    STOKER_ASSIGN(watched.card, PutCard(CardRow(watched), event));
    cards.push_back(std::move(watched));
  }
  return Ok();
}

// A card that vanished from the list or came into it since the last look.
Status Collector::State::Reconcile() {
  const Result<std::vector<GpuIdentity>> listed = ListCards();
  if (!listed) return listed.error().In("listing the cards");
  std::vector<GpuIdentity> fresh;
  for (const GpuIdentity& identity : *listed) {
    const auto same = [&](const Watched& w) { return w.identity.uuid == identity.uuid; };
    const auto found = std::find_if(cards.begin(), cards.end(), same);
    if (found == cards.end()) {
      fresh.push_back(identity);
      continue;
    }
    found->identity = identity;
    if (!found->listed) {
      found->listed = true;
      SetPresence(*found, false, " is back on the bus");
    }
  }
  for (Watched& w : cards) {
    const auto same = [&](const GpuIdentity& i) { return i.uuid == w.identity.uuid; };
    if (!w.listed || std::any_of(listed->begin(), listed->end(), same)) continue;
    w.listed = false;
    if (!w.lost.on()) SetPresence(w, true, " is not on the bus any more");
  }
  if (fresh.empty()) return Ok();
  STOKER_ASSIGN(const std::vector<Card> known, ledger.Cards());
  return AddCards(fresh, known);
}

void Collector::State::SetPresence(Watched& watched, bool lost, const std::string& why) {
  presence_changed.insert(watched.card);
  Event event;
  event.kind = lost ? "gpu.lost" : "gpu.back";
  event.severity = lost ? Severity::kFault : Severity::kNotice;
  event.card = watched.card;
  event.text = CardName(watched.identity) + why;
  event.data_json =
      DumpJson(Json{{"gpu", watched.identity.index}, {"uuid", watched.identity.uuid}});
  Say(std::move(event));
}

void Collector::State::WatchCard(Watched& watched, const GpuReading& reading) {
  const bool lost = SaysLost(reading);
  if (!lost && !SaysAnything(reading)) {
    watched.lost.Miss();
  } else if (watched.lost.Read(lost)) {
    SetPresence(watched, lost,
                lost ? " does not answer: lost, or needs a reset" : " answers again");
  }
  for (const ThrottleWatch::Change& change :
       watched.throttle.Read(reading.throttle, clock.Mono())) {
    const std::string reason = device::ThrottleReasonNames(change.reason).front();
    const std::string condition = Condition(reading);
    Event event;
    event.kind = change.began ? "throttle.began" : "throttle.ended";
    event.severity = change.began && change.reason != device::kReasonPowerCap ? Severity::kWarning
                                                                              : Severity::kInfo;
    event.card = watched.card;
    event.text = CardName(watched.identity) +
                 (change.began ? " is held back by " : " is no longer held back by ") + reason +
                 (condition.empty() ? "" : " at " + condition);
    Json json = ConditionJson(reading, watched.identity);
    json["reason"] = reason;
    if (change.lasted) {
      event.text += " after " + FormatDuration(*change.lasted);
      json["seconds"] = change.lasted->count();
    }
    event.data_json = DumpJson(json);
    Say(std::move(event));
  }
}

void Collector::State::ReadCards(bool slow, std::vector<Value>& values) {
  for (Watched& watched : cards) {
    // A card off the bus has no index to ask; its absence is a reading all the same.
    GpuReading reading;
    if (watched.listed) {
      reading = gpus->Read(watched.identity.index, {.slow = slow});
    } else {
      reading.busy = Absence::kLost;
      reading.power_average = Absence::kLost;
      reading.temperature = Absence::kLost;
    }
    for (Value& value : CardValues(reading, watched.card)) {
      const bool cost_of_nothing = value.metric == Metric::kReadCostS && !watched.listed;
      if (!cost_of_nothing) values.push_back(std::move(value));
    }
    if (watched.listed) WatchCard(watched, reading);
  }
}

void Collector::State::WatchClock() {
  const WallTime wall = clock.Now();
  const MonoTime mono = clock.Mono();
  if (before) {
    const auto passed = std::chrono::duration_cast<Millis>(mono - before->second);
    const Millis step = (wall - before->first) - passed;
    if (std::chrono::abs(step) > kClockStep) {
      Event event;
      event.kind = "clock.stepped";
      event.severity = Severity::kNotice;
      const Seconds size = std::chrono::duration_cast<Seconds>(std::chrono::abs(step));
      event.text = "the wall clock was set " + std::string(step.count() > 0 ? "forward" : "back") +
                   " by " + FormatDuration(size) + ", or the box slept";
      event.data_json = DumpJson(Json{{"seconds", static_cast<double>(step.count()) / 1000}});
      Say(std::move(event));
    }
  }
  before = {wall, mono};
}

Status Collector::State::WriteTick(WallTime at, const std::vector<Value>& values) {
  std::map<std::pair<Metric, Subject>, SeriesId> made;
  STOKER_TRY(ledger.Write([&](Writer& w) -> Status {
    for (const Watched& watched : cards) {
      if (presence_changed.count(watched.card) > 0) STOKER_TRY(w.PutCard(CardRow(watched)));
    }
    for (const Event& event : waiting) STOKER_TRY(w.AddEvent(event));
    std::vector<ledger::TickValue> tick;
    for (const Value& value : values) {
      // What was not asked for in this tick, or needs a second read, is no sample.
      if (value.reading.absence() == Absence::kNotYet) continue;
      const std::pair key(value.metric, value.subject);
      auto found = series.find(key);
      if (found == series.end()) {
        STOKER_ASSIGN(const SeriesId id, w.SeriesFor(value.metric, value.subject));
        // Known to the others only once the transaction stands.
        found = made.emplace(key, id).first;
      }
      tick.push_back({found->second, value.reading ? *value.reading : 0, value.reading.absence()});
    }
    return w.AddTick(at, tick);
  }));
  series.merge(made);
  waiting.clear();
  presence_changed.clear();
  return Ok();
}

Collector::Collector(Config config, device::GpuProbe* gpus, device::HostProbe& host,
                     ledger::Ledger& ledger, Logger& log, const Clock& clock)
    : state_(new State{config, gpus, host, ledger, log, clock}) {}

Collector::~Collector() = default;

Status Collector::Begin() {
  State& s = *state_;
  STOKER_ASSIGN(const std::vector<GpuIdentity> listed, s.ListCards());
  const bool simulated = s.gpus != nullptr && s.gpus->simulated();
  Event started;
  started.at = s.clock.Now();
  started.kind = "stoker.started";
  started.text = "Stoker started and found " + std::to_string(listed.size()) +
                 (simulated ? " simulated" : "") + (listed.size() == 1 ? " card" : " cards");
  started.data_json = DumpJson(Json{{"cards", listed.size()}, {"simulated", simulated}});
  STOKER_TRY(s.ledger.Write([&](Writer& w) -> Status {
    STOKER_ASSIGN(s.box, w.PutBox(s.BoxRow()));
    if (!s.started_said) {
      STOKER_TRY(w.AddEvent(started));
    }
    return Ok();
  }));
  s.started_said = true;
  STOKER_ASSIGN(const std::vector<Card> known, s.ledger.Cards());
  STOKER_TRY(s.PutMissing(known, listed));
  s.cards.clear();
  STOKER_TRY(s.AddCards(listed, known));
  s.begun = true;
  return Ok();
}

Status Collector::Tick() {
  State& s = *state_;
  if (!s.begun) STOKER_TRY(Begin());
  s.WatchClock();
  const bool slow = s.ticks % std::max(1, s.config.slow_every) == 0;
  if (slow && s.ticks > 0) {
    if (const Status listed = s.Reconcile(); !listed) {
      s.log.Warn("collect", "{}", listed.error().Line());
    }
  }
  ++s.ticks;
  const WallTime at = s.clock.Now();
  std::vector<Value> values;
  s.ReadCards(slow, values);
  for (Value& value : HostValues(s.host.Read())) values.push_back(std::move(value));
  const OwnCost::Answer own = s.own_cost.Read(s.clock.Mono());
  values.push_back({Metric::kServeCpuRatio, Subject{}, own.cpu_ratio});
  values.push_back({Metric::kServeMemoryBytes,
                    {},
                    own.memory ? Reading<double>(own.memory->value) : own.memory.absence()});
  return s.WriteTick(at, values);
}

}  // namespace stoker::collect
