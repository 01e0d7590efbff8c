#include "report/json.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace stoker::report {
namespace {

Json OrNull(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}
Json OrNull(const std::optional<WallTime>& time) {
  return time ? Json(FormatTime(*time)) : Json(nullptr);
}
template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
Json Finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

// Text that holds a JSON object; an empty object where it holds none.
Json Object(const std::string& text) {
  if (text.empty()) return Json::object();
  Result<Json> json = ParseJson(text, "record");
  return json && json->is_object() ? std::move(*json) : Json::object();
}

Json BestJson(const std::optional<ledger::Best>& best) {
  if (!best) return nullptr;
  return {{"metric", best->metric},
          {"value", Finite(best->value)},
          {"epoch", OrNull(best->epoch)},
          {"at", OrNull(best->at)},
          {"higher_is_better", best->higher_is_better}};
}

Json RowJson(const query::JobView& view) {
  const ledger::Job& job = view.job;
  Json row;
  row["id"] = job.id;
  row["name"] = job.name;
  row["state"] = ledger::JobStateName(job.state);
  row["origin"] = ledger::JobOriginName(job.origin);
  row["command"] = job.command;
  row["cwd"] = job.cwd;
  row["user"] = job.user;
  row["gpus"] = job.gpus;
  row["created_at"] = FormatTime(job.created_at);
  row["started_at"] = OrNull(job.started_at);
  row["ended_at"] = OrNull(job.ended_at);
  row["exit_code"] = OrNull(job.exit_code);
  row["signal"] = OrNull(job.signal);
  row["reason"] = job.reason.empty() ? Json(nullptr) : Json(job.reason);
  row["wall_s"] = job.started_at ? Finite(view.wall_s) : Json(nullptr);
  row["gpu_energy_j"] = OrNull(view.gpu_energy_j);
  row["best"] = BestJson(job.best);
  row["last_epoch"] = OrNull(job.last_epoch);
  row["epochs_planned"] = OrNull(job.epochs_planned);
  row["progress_ratio"] = OrNull(view.progress_ratio);
  row["eta_s"] = OrNull(view.eta_s);
  row["checkpoints"] = {{"seen", job.checkpoints_seen}, {"safe", job.checkpoints_safe}};
  return row;
}

Json CheckpointJson(const query::CheckpointView& view) {
  const ledger::Checkpoint& c = view.checkpoint;
  Json copies = Json::array();
  for (const ledger::Copy& copy : view.copies) {
    copies.push_back(
        {{"store", copy.store}, {"key", copy.key}, {"verified_at", OrNull(copy.verified_at)}});
  }
  return {{"id", c.id},
          {"job", c.job},
          {"path", c.path},
          {"role", ledger::CheckpointRoleName(c.role)},
          {"epoch", OrNull(c.epoch)},
          {"metric", BestJson(c.metric)},
          {"bytes", c.bytes},
          {"sha256", c.sha256.empty() ? Json(nullptr) : Json(c.sha256)},
          {"state", ledger::CheckpointStateName(c.state)},
          {"reason", c.reason.empty() ? Json(nullptr) : Json(c.reason)},
          {"pinned", c.pinned},
          {"seen_at", FormatTime(c.seen_at)},
          {"copies", std::move(copies)}};
}

Json CurveJson(const query::MetricCurve& curve) {
  Json points = Json::array();
  for (const ledger::MetricPoint& p : curve.points) {
    points.push_back({{"epoch", OrNull(p.epoch)},
                      {"step", OrNull(p.step)},
                      {"value", Finite(p.value)},
                      {"at", FormatTime(p.at)}});
  }
  return {{"name", curve.name}, {"points", std::move(points)}};
}

Json AttemptJson(const ledger::Attempt& attempt) {
  return {{"number", attempt.number},
          {"pid", attempt.pid},
          {"started_at", FormatTime(attempt.started_at)},
          {"ended_at", OrNull(attempt.ended_at)},
          {"exit_code", OrNull(attempt.exit_code)},
          {"signal", OrNull(attempt.signal)}};
}

Json EventJson(const ledger::Event& event) {
  return {{"id", event.id},           {"at", FormatTime(event.at)},
          {"kind", event.kind},       {"severity", ledger::SeverityName(event.severity)},
          {"job", OrNull(event.job)}, {"card", OrNull(event.card)},
          {"text", event.text},       {"data", Object(event.data_json)}};
}

// {"readings": {name: value}, "absent": {name: reason}}: every metric is in one of the two.
void AddReadings(const std::map<std::string, Reading<double>>& readings, Json& out) {
  out["readings"] = Json::object();
  out["absent"] = Json::object();
  for (const auto& [name, reading] : readings) {
    if (reading && std::isfinite(*reading)) {
      out["readings"][name] = *reading;
    } else {
      out["absent"][name] = AbsenceName(reading ? Absence::kError : reading.absence());
    }
  }
}

Json CardNowJson(const query::CardNow& card) {
  Json out = {{"id", card.card.id},
              {"gpu", card.card.gpu},
              {"uuid", card.card.uuid},
              {"name", card.card.name},
              {"memory_bytes", OrNull(card.card.memory_bytes)},
              {"simulated", card.card.simulated},
              {"age_s", Finite(card.age_s)},
              {"throttle", card.throttle},
              {"jobs", card.jobs}};
  AddReadings(card.readings, out);
  return out;
}

Json CardUseJson(const query::CardUse& card) {
  Json throttle = Json::array();
  for (const query::ThrottleUse& use : card.throttle) {
    throttle.push_back({{"reason", use.reason},
                        {"samples", use.samples},
                        {"seconds", OrNull(use.seconds)},
                        {"first_s", OrNull(use.first_s)},
                        {"last_s", OrNull(use.last_s)}});
  }
  return {{"gpu", card.gpu},
          {"name", card.name},
          {"samples", card.samples},
          {"unread", card.unread},
          {"period_s", OrNull(card.period_s)},
          {"busy_mean_ratio", OrNull(card.busy_mean_ratio)},
          {"power_mean_w", OrNull(card.power_mean_w)},
          {"power_peak_w", OrNull(card.power_peak_w)},
          {"limit_w", OrNull(card.limit_w)},
          {"energy_j", OrNull(card.energy_j)},
          {"energy_counter_j", OrNull(card.energy_counter_j)},
          {"energy_integral_j", OrNull(card.energy_integral_j)},
          {"energy_gap_s", Finite(card.energy_gap_s)},
          {"temperature_mean_c", OrNull(card.temperature_mean_c)},
          {"temperature_max_c", OrNull(card.temperature_max_c)},
          {"margin_min_c", OrNull(card.margin_min_c)},
          {"memory_peak_bytes", OrNull(card.memory_peak_bytes)},
          {"throttled_samples", card.throttled_samples},
          {"throttle", std::move(throttle)},
          {"shared_with", card.shared_with}};
}

Json TotalJson(const query::UseTotal& total) {
  return {{"samples", total.samples},
          {"unread", total.unread},
          {"gpu_energy_j", OrNull(total.gpu_energy_j)},
          {"after_best_energy_j", OrNull(total.after_best_energy_j)},
          {"busy_mean_ratio", OrNull(total.busy_mean_ratio)},
          {"power_mean_w", OrNull(total.power_mean_w)},
          {"power_peak_w", OrNull(total.power_peak_w)},
          {"throttled_samples", total.throttled_samples}};
}

Json RhythmJson(const std::optional<query::Rhythm>& rhythm) {
  if (!rhythm) return nullptr;
  return {{"from", FormatTime(rhythm->from)},
          {"to", FormatTime(rhythm->to)},
          {"power_mean_w", Finite(rhythm->power_mean_w)},
          {"power_p90_w", Finite(rhythm->power_p90_w)},
          {"busy_mean_ratio", OrNull(rhythm->busy_mean_ratio)},
          {"stalls", rhythm->stalls.size()},
          {"stalled_s", Finite(rhythm->stalled_s)},
          {"stall_median_s", OrNull(rhythm->stall_median_s)},
          {"stall_period_s", OrNull(rhythm->stall_period_s)},
          {"stall_power_w", OrNull(rhythm->stall_power_w)}};
}

Json FindingJson(const explain::Finding& finding) {
  Json numbers = Json::object();
  for (const auto& [name, value] : finding.numbers) numbers[name] = Finite(value);
  return {{"id", finding.id},
          {"severity", finding.severity},
          {"text", finding.text},
          {"numbers", std::move(numbers)},
          {"cannot_tell", finding.cannot_tell.empty() ? Json(nullptr) : Json(finding.cannot_tell)}};
}

}  // namespace

Json NowJson(const query::Now& now) {
  Json json = {{"schema_version", 1}, {"at", FormatTime(now.at)}, {"box", nullptr}};
  if (now.box) {
    json["box"] = {{"hostname", now.box->hostname}, {"facts", Object(now.box->facts_json)}};
  }
  json["simulated"] = now.simulated;
  json["gpu_power_w"] = now.cards_answering > 0 ? Finite(now.gpu_power_w) : Json(nullptr);
  json["cards_answering"] = now.cards_answering;
  json["cards"] = Json::array();
  for (const query::CardNow& card : now.cards) json["cards"].push_back(CardNowJson(card));
  json["host"] = {{"age_s", Finite(now.host_age_s)}};
  AddReadings(now.host, json["host"]);
  json["cores"] = Json::array();
  for (const Reading<double>& core : now.cores) {
    json["cores"].push_back(core ? Finite(*core) : Json(nullptr));
  }
  json["running"] = Json::array();
  for (const query::JobView& view : now.running) json["running"].push_back(RowJson(view));
  return json;
}

Json JobsJson(const std::vector<query::JobView>& jobs) {
  Json json = {{"schema_version", 1}, {"jobs", Json::array()}};
  for (const query::JobView& view : jobs) json["jobs"].push_back(RowJson(view));
  return json;
}

Json JobJson(const query::JobDetail& detail) {
  const ledger::Job& job = detail.view.job;
  Json row = RowJson(detail.view);
  row["run_log"] = job.run_log.empty() ? Json(nullptr) : Json(job.run_log);
  row["folder"] = job.folder.empty() ? Json(nullptr) : Json(job.folder);
  row["metrics"] = Json::array();
  for (const query::MetricCurve& curve : detail.curves) row["metrics"].push_back(CurveJson(curve));
  row["phases"] = Json::array();
  for (const ledger::Phase& phase : detail.phases) {
    row["phases"].push_back({{"name", phase.name},
                             {"began_at", FormatTime(phase.began_at)},
                             {"ended_at", OrNull(phase.ended_at)}});
  }
  row["checkpoints"] = Json::array();
  for (const auto& view : detail.checkpoints) row["checkpoints"].push_back(CheckpointJson(view));
  row["attempts"] = Json::array();
  for (const auto& attempt : detail.attempts) row["attempts"].push_back(AttemptJson(attempt));
  row["events"] = Json::array();
  for (const ledger::Event& event : detail.events) row["events"].push_back(EventJson(event));
  row["environment"] = Object(job.environment_json);
  row["git"] = Object(job.git_json);
  row["plan"] = Object(job.plan_json);
  return {{"schema_version", 1}, {"job", std::move(row)}};
}

Json CheckpointsJson(const std::vector<query::CheckpointView>& checkpoints) {
  Json json = {{"schema_version", 1}, {"checkpoints", Json::array()}};
  for (const auto& view : checkpoints) json["checkpoints"].push_back(CheckpointJson(view));
  return json;
}

Json EventsJson(const std::vector<ledger::Event>& events) {
  Json json = {{"schema_version", 1}, {"events", Json::array()}};
  for (const ledger::Event& event : events) json["events"].push_back(EventJson(event));
  return json;
}

Json SeriesJson(const std::vector<query::SeriesView>& series) {
  Json json = {{"schema_version", 1}, {"series", Json::array()}};
  for (const query::SeriesView& view : series) {
    const ledger::MetricInfo& info = ledger::Info(view.series.metric);
    Json buckets = Json::array();
    for (const ledger::Bucket& b : view.buckets) {
      const bool some = b.count > 0;
      buckets.push_back({{"from", FormatTime(b.from)},
                         {"min", some ? Finite(b.min) : Json(nullptr)},
                         {"mean", some ? Finite(b.mean) : Json(nullptr)},
                         {"max", some ? Finite(b.max) : Json(nullptr)},
                         {"last", some ? Finite(b.last) : Json(nullptr)},
                         {"count", b.count},
                         {"absent", b.absent}});
    }
    const ledger::Subject& subject = view.series.subject;
    json["series"].push_back({{"metric", info.name},
                              {"unit", info.unit},
                              {"label", view.label},
                              {"scope", ledger::ScopeName(subject.scope)},
                              {"subject_id", subject.id},
                              {"subject", subject.name},
                              {"buckets", std::move(buckets)}});
  }
  return json;
}

Json ExplainJson(const explain::Explanation& explanation) {
  const ledger::Job& job = explanation.detail.view.job;
  const query::JobUse& use = explanation.use;
  Json json = {{"schema_version", 1},
               {"job", job.id},
               {"name", job.name},
               {"state", ledger::JobStateName(job.state)},
               {"from", job.started_at ? Json(FormatTime(use.from)) : Json(nullptr)},
               {"to", job.started_at ? Json(FormatTime(use.to)) : Json(nullptr)},
               {"wall_s", job.started_at ? Finite(explanation.detail.view.wall_s) : Json(nullptr)}};
  json["cards"] = Json::array();
  for (const query::CardUse& card : use.cards) json["cards"].push_back(CardUseJson(card));
  json["total"] = TotalJson(use.total);
  json["rhythm"] = RhythmJson(use.rhythm);
  json["host"] = {{"cpu_mean_ratio", OrNull(use.host.cpu_mean_ratio)},
                  {"cpu_peak_ratio", OrNull(use.host.cpu_peak_ratio)},
                  {"memory_peak_bytes", OrNull(use.host.memory_peak_bytes)},
                  {"pressure_cpu_mean_ratio", OrNull(use.host.pressure_cpu_mean_ratio)},
                  {"pressure_io_mean_ratio", OrNull(use.host.pressure_io_mean_ratio)}};
  json["best"] = BestJson(job.best);
  json["findings"] = Json::array();
  for (const auto& finding : explanation.findings) json["findings"].push_back(FindingJson(finding));
  return json;
}

Json CompareJson(const explain::Comparison& comparison, const explain::Decomposition* parts) {
  Json json = {{"schema_version", 1}, {"jobs", Json::array()}, {"findings", Json::array()}};
  for (const explain::Side& side : comparison.sides) {
    json["jobs"].push_back({{"job", side.job},
                            {"name", side.name},
                            {"cards", side.cards},
                            {"unit", side.unit.empty() ? Json(nullptr) : Json(side.unit)},
                            {"units_per_s", OrNull(side.units_per_s)},
                            {"epoch_s", OrNull(side.epoch_s)},
                            {"step_ms", OrNull(side.step_ms())},
                            {"busy_mean_ratio", OrNull(side.busy_ratio)},
                            {"power_mean_w", OrNull(side.power_w)},
                            {"gpu_energy_j", OrNull(side.energy_j)},
                            {"j_per_unit", OrNull(side.j_per_unit())},
                            {"rhythm", RhythmJson(side.rhythm)}});
  }
  for (const auto& finding : comparison.findings) json["findings"].push_back(FindingJson(finding));
  json["arms"] = nullptr;
  if (!parts) return json;
  json["arms"] = {{"total_ms", Finite(parts->total_ms)},
                  {"interaction_ms", OrNull(parts->interaction_ms)},
                  {"cannot_tell", parts->cannot_tell},
                  {"shares", Json::array()}};
  for (const explain::Share& share : parts->shares) {
    json["arms"]["shares"].push_back(
        {{"id", share.id}, {"what", share.what}, {"ms", Finite(share.ms)}});
  }
  return json;
}

}  // namespace stoker::report
