#include "plan/problem.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json.h"

namespace stoker::plan {
namespace {

// Takes fields one by one, keeps the first error, and notes what was left out.
class Reader {
 public:
  Reader(const Json& json, const std::string& where, std::vector<std::string>& assumed)
      : json_(json), where_(where), assumed_(assumed) {}

  void Number(const char* key, double& target, bool say_assumed = true) {
    if (!json_.contains(key)) {
      if (say_assumed) assumed_.push_back(fmt::format("{} {:.6g}", key, target));
      return;
    }
    const auto value = JsonNumber(json_, key);
    if (!value || !std::isfinite(*value) || *value < 0) {
      Fail(key, "must be a number of 0 or more");
    } else {
      target = *value;
    }
  }
  void Maybe(const char* key, std::optional<double>& target) {
    if (!json_.contains(key)) return;
    double value = 0;
    Number(key, value);
    target = value;
  }
  void Count(const char* key, int& target) {
    if (!json_.contains(key)) {
      assumed_.push_back(fmt::format("{} {}", key, target));
      return;
    }
    const auto value = JsonInt(json_, key);
    if (!value || *value < 0 || *value > 4096) {
      Fail(key, "must be a whole number from 0 to 4096");
    } else {
      target = static_cast<int>(*value);
    }
  }
  void Fail(const std::string& key, const std::string& what) {
    if (status_) status_ = Invalid(key + " " + what, where_);
  }
  const Status& status() const { return status_; }

 private:
  const Json& json_;
  const std::string& where_;
  std::vector<std::string>& assumed_;
  Status status_;
};

// GB202 prefill of a 27B model, a public sweep of caps: the nearest thing to this class of card.
const std::vector<CurvePoint>& PublishedCurve() {
  static const std::vector<CurvePoint> kCurve = {
      {400, 0.839}, {450, 0.902}, {500, 0.947}, {600, 1.0}};
  return kCurve;
}

void ReadCurve(const Json& json, Reader& reader, Problem& problem) {
  if (!json.contains("curve") || (json["curve"].is_array() && json["curve"].empty())) {
    for (const CurvePoint& p : PublishedCurve()) {
      problem.curve.push_back({p.power_w * problem.busy_w / 600, p.relative});
    }
    problem.assumed.emplace_back(
        "curve of a published sweep (600 W 1, 500 W 0.947, 450 W 0.902, 400 W 0.839), scaled to "
        "busy_w");
    return;
  }
  if (!json["curve"].is_array() || json["curve"].size() > 1000)
    return reader.Fail("curve", "must be a list of points");
  for (const Json& point : json["curve"]) {
    const auto power = JsonNumber(point, "power_w");
    const auto relative = JsonNumber(point, "relative");
    if (!power || !relative)
      return reader.Fail("curve", "needs power_w and relative in every point");
    problem.curve.push_back({*power, *relative});
  }
}

Status Consistent(const Problem& p, const std::string& where) {
  if (!(p.throughput_per_s > 0)) return Invalid("throughput_per_s must be above 0", where);
  if (p.targets < 1) return Invalid("targets must be 1 or more", where);
  if (p.targets + p.drafters > p.cards)
    return Invalid("targets and drafters need more cards than there are", where);
  if (!(p.busy_w > p.waiting_w) || p.busy_w < p.idle_w)
    return Invalid("busy_w must be above waiting_w and idle_w", where);
  if (p.limit_w < p.min_limit_w) return Invalid("limit_w is below min_limit_w", where);
  if (!(p.psu_efficiency > 0) || p.psu_efficiency > 1)
    return Invalid("psu_efficiency must be within 0 to 1", where);
  if (p.drafter_capacity_per_s && *p.drafter_capacity_per_s < p.throughput_per_s) {
    return Invalid("drafter_capacity_per_s is below today's throughput", where);
  }
  return Ok();
}

}  // namespace

Result<Problem> ParseProblem(std::string_view text, const std::string& where) {
  STOKER_ASSIGN(const Json json, ParseJson(text, where, 1 << 20));
  if (!json.is_object()) return Invalid("must be one JSON object", where);
  Problem problem;
  Reader reader(json, where, problem.assumed);
  problem.unit = JsonString(json, "unit").value_or(problem.unit);
  reader.Count("cards", problem.cards);
  if (!json.contains("targets")) problem.targets = problem.cards;
  reader.Count("targets", problem.targets);
  if (json.contains("drafters")) reader.Count("drafters", problem.drafters);
  reader.Number("throughput_per_s", problem.throughput_per_s);
  if (json.contains("limit_w") && !json.contains("busy_w"))
    problem.busy_w = JsonNumber(json, "limit_w").value_or(600);
  reader.Number("busy_w", problem.busy_w);
  reader.Number("idle_w", problem.idle_w);
  if (!json.contains("waiting_w")) problem.waiting_w = problem.idle_w;
  reader.Number("waiting_w", problem.waiting_w);
  if (!json.contains("limit_w")) problem.limit_w = problem.busy_w;
  reader.Number("limit_w", problem.limit_w);
  reader.Number("min_limit_w", problem.min_limit_w);
  reader.Number("host_w", problem.host_w);
  reader.Number("psu_efficiency", problem.psu_efficiency, /*say_assumed=*/problem.host_w > 0);
  reader.Number("restart_lost_units", problem.restart_lost_units);
  reader.Maybe("remaining_units", problem.remaining_units);
  reader.Maybe("drafter_capacity_per_s", problem.drafter_capacity_per_s);
  reader.Maybe("queue_slots", problem.queue_slots);
  reader.Maybe("service_variation", problem.service_variation);
  ReadCurve(json, reader, problem);
  STOKER_TRY(reader.status());
  STOKER_TRY(Consistent(problem, where));
  if (problem.drafters > 0 && !problem.drafter_capacity_per_s) {
    problem.assumed.emplace_back("drafters just keep up with today's throughput");
  }
  return problem;
}

}  // namespace stoker::plan
