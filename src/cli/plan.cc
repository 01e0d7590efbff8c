// stoker plan --from FILE.json: what-if under a power budget.
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/options.h"
#include "plan/planner.h"
#include "report/plan.h"

namespace stoker::cli {
namespace {

Result<std::optional<double>> ParseWatts(const std::string& text) {
  if (text.empty()) return std::optional<double>();
  std::string number = text;
  double scale = 1;
  if (number.ends_with("kW") || number.ends_with("kw")) {
    scale = 1000;
    number.resize(number.size() - 2);
  } else if (number.ends_with("W") || number.ends_with("w")) {
    number.pop_back();
  }
  const auto watts = ParseDouble(Trim(number));
  if (!watts || !(*watts > 0))
    return Invalid("not watts such as 4260 or 4.26kW", "stoker plan: " + text);
  return std::optional<double>(*watts * scale);
}

}  // namespace

Result<int> PlanCommand(Context& context, const std::vector<std::string>& args) {
  std::string from, cards_w, wall_w;
  Options options("plan", "--from FILE.json [--budget W | --wall W]",
                  "What capping, parking and both would give under a power budget.");
  options.Text("--from", from, "description of the pipeline and its cards (docs/plan.md)")
      .Text("--budget", cards_w, "watts of all cards together: 4260 or 4.26kW")
      .Text("--wall", wall_w, "watts at the plug: host and power supplies are counted in");
  STOKER_PARSE(options, args, context);
  if (from.empty())
    return Invalid("--from FILE.json is needed", "stoker plan", "docs/plan.md has an example");
  if (!cards_w.empty() && !wall_w.empty())
    return Invalid("--budget and --wall exclude each other", "stoker plan");
  const std::string path = CleanPath(from, context.cwd);
  STOKER_ASSIGN(const std::string text, ReadFile(path, 1 << 20));
  STOKER_ASSIGN(const plan::Problem problem, plan::ParseProblem(text, from));
  plan::Budget budget;
  STOKER_ASSIGN(budget.gpu_w, ParseWatts(cards_w));
  STOKER_ASSIGN(const auto at_the_plug, ParseWatts(wall_w));
  if (at_the_plug) budget.gpu_w = plan::CardBudget(problem, *at_the_plug);
  STOKER_ASSIGN(const plan::PlanSet set, plan::MakePlans(problem, budget));
  if (context.json) {
    context.PrintJson(report::PlansJson(set));
  } else {
    context.out(report::PlansText(set, problem));
  }
  return 0;
}

}  // namespace stoker::cli
