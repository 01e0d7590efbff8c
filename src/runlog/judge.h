// Which metric judges a run, and which way is better: what the plan line says, else the field's
// usual names in order (val/map50_95, val/accuracy, val/top1, …, then val/loss).
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace stoker::runlog {

struct Judge {
  std::string metric;
  bool higher_is_better = true;
  bool Better(double a, double b) const;  // NaN is never better
};

// `said_metric` may be empty. nullopt where no name can judge.
std::optional<Judge> ChooseJudge(const std::string& said_metric, std::optional<bool> said_higher,
                                 const std::vector<std::string>& names);

}  // namespace stoker::runlog
