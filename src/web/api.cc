#include "web/api.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "explain/explain.h"
#include "ledger/metrics.h"
#include "query/query.h"
#include "report/json.h"
#include "web/open_metrics.h"
#include "web/target.h"

namespace stoker::web {
namespace {

constexpr int kDefaultPoints = 1000;
constexpr int kMaxPoints = 10'000;
constexpr int kDefaultEvents = 200;
constexpr int kMaxRows = 10'000;
constexpr Millis kDefaultWindow = std::chrono::hours(1);

std::optional<std::string> Find(const Call& call, const std::string& name) {
  const auto it = call.parameters.find(name);
  if (it == call.parameters.end() || it->second.empty()) return std::nullopt;
  return it->second;
}

Result<int64_t> IdFrom(const std::string& text) {
  return ParseIntParameter(text, "job", 1, INT64_MAX);
}

Result<int> LimitFrom(const Call& call, int otherwise, int most) {
  const auto text = Find(call, "limit");
  if (!text) return otherwise;
  STOKER_ASSIGN(const int64_t limit, ParseIntParameter(*text, "limit", 1, most));
  return static_cast<int>(limit);
}

Result<std::optional<WallTime>> TimeFrom(const Context& context, const Call& call,
                                         const std::string& name) {
  const auto text = Find(call, name);
  if (!text) return std::optional<WallTime>();
  STOKER_ASSIGN(const WallTime time, ParseTimeParameter(*text, name, context.clock.Now()));
  return std::optional<WallTime>(time);
}

Result<ledger::Metric> MetricFrom(const Call& call) {
  const auto name = Find(call, "metric");
  std::vector<std::string> names;
  for (const ledger::MetricInfo& info : ledger::AllMetrics()) names.emplace_back(info.name);
  if (!name) return Invalid("a metric is needed", "metric", "one of " + Join(names, ", "));
  if (const auto metric = ledger::FindMetric(*name)) return *metric;
  const auto near = Suggest(*name, names);
  return NotFound(fmt::format("no metric \"{}\"", Printable(*name)), "metric",
                  near ? fmt::format("did you mean {}?", *near) : "one of " + Join(names, ", "));
}

Result<std::vector<ledger::JobState>> StatesFrom(const Call& call) {
  std::vector<ledger::JobState> states;
  const auto text = Find(call, "state");
  if (!text) return states;
  for (const std::string_view word : Split(*text, ',')) {
    const auto state = ledger::ParseJobState(word);
    if (!state) {
      return Invalid(fmt::format("no state \"{}\"", Printable(word)), "state",
                     "queued, running, succeeded, failed, stopped or lost");
    }
    states.push_back(*state);
  }
  return states;
}

Result<query::JobDetail> DetailFrom(const Context& context, const Call& call) {
  STOKER_ASSIGN(const int64_t id, IdFrom(call.path.at(0)));
  return query::GetJob(context.ledger, id, context.clock);
}

}  // namespace

Result<Response> GetNow(const Context& context, const Call&) {
  STOKER_ASSIGN(const query::Now now, query::GetNow(context.ledger, context.clock));
  return JsonResponse(report::NowJson(now));
}

Result<Response> GetBox(const Context& context, const Call&) {
  STOKER_ASSIGN(const query::Now now, query::GetNow(context.ledger, context.clock));
  Json body = {{"schema_version", 1}, {"simulated", now.simulated}, {"box", nullptr}};
  if (now.box) {
    const Result<Json> facts = ParseJson(now.box->facts_json, "facts of the box");
    body["box"] = {{"hostname", now.box->hostname},
                   {"boot_id", now.box->boot_id},
                   {"seen_at", FormatTime(now.box->seen_at)},
                   {"facts", facts ? *facts : Json(nullptr)}};
  }
  Json& cards = body["cards"] = Json::array();
  for (const query::CardNow& card : now.cards) {
    const auto number = [](const std::optional<double>& x) { return x ? Json(*x) : Json(nullptr); };
    cards.push_back({{"gpu", card.card.gpu},
                     {"uuid", card.card.uuid},
                     {"name", card.card.name},
                     {"memory_bytes", number(card.card.memory_bytes)},
                     {"limit_default_w", number(card.card.limit_default_w)},
                     {"simulated", card.card.simulated}});
  }
  return JsonResponse(body);
}

Result<Response> GetSeries(const Context& context, const Call& call) {
  STOKER_ASSIGN(const ledger::Metric metric, MetricFrom(call));
  STOKER_ASSIGN(const std::optional<WallTime> to, TimeFrom(context, call, "to"));
  STOKER_ASSIGN(const std::optional<WallTime> from, TimeFrom(context, call, "from"));
  const WallTime end = to.value_or(context.clock.Now());
  const WallTime begin = from.value_or(end - kDefaultWindow);
  if (begin >= end) return Invalid("the window ends before it begins", "from");
  int64_t points = kDefaultPoints;
  if (const auto text = Find(call, "points")) {
    STOKER_ASSIGN(points, ParseIntParameter(*text, "points", 1, kMaxPoints));
  }
  STOKER_ASSIGN(const auto series,
                query::GetSeries(context.ledger, metric, begin, end, static_cast<int>(points)));
  return JsonResponse(report::SeriesJson(series));
}

Result<Response> GetJobs(const Context& context, const Call& call) {
  ledger::JobFilter filter;
  STOKER_ASSIGN(filter.states, StatesFrom(call));
  STOKER_ASSIGN(filter.since, TimeFrom(context, call, "since"));
  STOKER_ASSIGN(filter.limit, LimitFrom(call, 0, kMaxRows));
  STOKER_ASSIGN(const auto jobs, query::GetJobs(context.ledger, filter, context.clock));
  return JsonResponse(report::JobsJson(jobs));
}

Result<Response> GetJob(const Context& context, const Call& call) {
  STOKER_ASSIGN(const query::JobDetail detail, DetailFrom(context, call));
  return JsonResponse(report::JobJson(detail));
}

Result<Response> GetJobMetrics(const Context& context, const Call& call) {
  STOKER_ASSIGN(const query::JobDetail detail, DetailFrom(context, call));
  const Json whole = report::JobJson(detail);
  Json body = {{"schema_version", 1}, {"id", detail.view.job.id}, {"metrics", Json::array()}};
  const auto job = whole.find("job");
  if (job != whole.end() && job->contains("metrics")) body["metrics"] = (*job)["metrics"];
  return JsonResponse(body);
}

Result<Response> GetCheckpoints(const Context& context, const Call& call) {
  std::optional<int64_t> job;
  if (const auto text = Find(call, "job")) {
    STOKER_ASSIGN(job, IdFrom(*text));
    STOKER_TRY(context.ledger.JobById(*job));
  }
  STOKER_ASSIGN(const auto checkpoints, query::GetCheckpoints(context.ledger, job));
  return JsonResponse(report::CheckpointsJson(checkpoints));
}

Result<Response> GetEvents(const Context& context, const Call& call) {
  ledger::EventFilter filter;
  STOKER_ASSIGN(filter.since, TimeFrom(context, call, "since"));
  STOKER_ASSIGN(filter.limit, LimitFrom(call, kDefaultEvents, kMaxRows));
  if (const auto text = Find(call, "job")) {
    STOKER_ASSIGN(filter.job, IdFrom(*text));
  }
  STOKER_ASSIGN(const auto events, context.ledger.Events(filter));
  return JsonResponse(report::EventsJson(events));
}

Result<Response> GetExplain(const Context& context, const Call& call) {
  STOKER_ASSIGN(query::JobDetail detail, DetailFrom(context, call));
  STOKER_ASSIGN(query::JobUse use,
                query::GetJobUse(context.ledger, detail.view.job, context.clock));
  return JsonResponse(report::ExplainJson(explain::Explain(std::move(detail), std::move(use))));
}

Result<Response> GetLive(const Context&, const Call&) {
  Response response;
  response.content_type = "text/event-stream";
  response.live = true;
  return response;
}

Result<Response> GetHealth(const Context& context, const Call&) {
  STOKER_ASSIGN(const query::Now now, query::GetNow(context.ledger, context.clock));
  Json age = nullptr;
  if (!now.host.empty()) age = now.host_age_s;
  for (const query::CardNow& card : now.cards) {
    if (!card.readings.empty() && (age.is_null() || card.age_s < age.get<double>())) {
      age = card.age_s;
    }
  }
  return JsonResponse({{"schema_version", 1}, {"status", "ok"}, {"newest_reading_age_s", age}});
}

Result<Response> GetMetricsText(const Context& context, const Call&) {
  STOKER_ASSIGN(const query::Now now, query::GetNow(context.ledger, context.clock));
  Response response;
  response.content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
  response.body = OpenMetrics(now);
  return response;
}

}  // namespace stoker::web
