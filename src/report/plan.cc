#include "report/plan.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace stoker::report {
namespace {

Json OrNull(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

}  // namespace

Json PlansJson(const plan::PlanSet& set) {
  Json json;
  json["schema_version"] = 1;
  json["plans"] = Json::array();
  for (const plan::Plan& p : set.plans) {
    json["plans"].push_back(
        {{"name", p.name},
         {"kind", plan::PlanKindName(p.kind)},
         {"targets", p.targets},
         {"drafters", p.drafters},
         {"parked", p.parked},
         {"cap_w", p.cap_w},
         {"drafter_cap_w", p.drafters > 0 ? Json(p.drafter_cap_w) : Json(nullptr)},
         {"throughput_per_s", p.throughput_per_s},
         {"relative", p.relative},
         {"gpu_w", p.gpu_w},
         {"wall_w", p.wall_w},
         {"eta_s", OrNull(p.eta_s)},
         {"energy_j", OrNull(p.energy_j)},
         {"units_per_j", p.units_per_j},
         {"fits", p.fits},
         {"pareto", p.pareto},
         {"assumed", set.assumed}});
  }
  json["chosen"] = set.chosen ? Json(set.plans[*set.chosen].name) : Json(nullptr);
  json["break_even_w"] = set.break_even_w;
  json["sentence"] = set.sentence;
  return json;
}

std::string PlansText(const plan::PlanSet& set, const plan::Problem& problem) {
  std::string out = fmt::format("  {:<26} {:>12} {:>7} {:>9} {:>9} {:>8} {:>9} {:>10}\n", "plan",
                                problem.unit + "/s", "of now", "cards", "wall", "days", "kWh",
                                problem.unit + "/J");
  for (size_t i = 0; i < set.plans.size(); ++i) {
    const plan::Plan& p = set.plans[i];
    out += fmt::format(
        "{}{:<26} {:>12} {:>6.1f}% {:>7.0f} W {:>7.0f} W {:>8} {:>9} {:>10.3g}{}{}\n",
        set.chosen == i ? "> " : "  ", p.name, FormatCount(p.throughput_per_s), p.relative * 100,
        p.gpu_w, p.wall_w, p.eta_s ? fmt::format("{:.2f}", *p.eta_s / 86400) : "",
        p.energy_j ? fmt::format("{:.0f}", *p.energy_j / 3.6e6) : "", p.units_per_j,
        p.pareto ? "  best for its watts" : "", p.fits ? "" : "  over budget");
  }
  if (!set.sentence.empty()) out += "\n" + set.sentence + "\n";
  out += fmt::format("\nCap before parking down to {:.0f} W a card; below that, run fewer cards.\n",
                     set.break_even_w);
  if (!set.assumed.empty()) out += "Assumed: " + Join(set.assumed, "; ") + ".\n";
  return out;
}

}  // namespace stoker::report
