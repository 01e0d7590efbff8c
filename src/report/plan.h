// Plans as the JSON of the command contract and as a table for a terminal.
#pragma once

#include <string>

#include "base/json.h"
#include "plan/planner.h"

namespace stoker::report {

Json PlansJson(const plan::PlanSet& set);
std::string PlansText(const plan::PlanSet& set, const plan::Problem& problem);

}  // namespace stoker::report
