// Query results as the JSON of the command contract; the command line and the HTTP API print the
// same bytes. Every object has "schema_version": 1; ratios run 0 to 1, units stand in the names,
// absent values are null.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "explain/compare.h"
#include "explain/explain.h"
#include "query/views.h"

namespace stoker::report {

Json NowJson(const query::Now& now);
Json JobsJson(const std::vector<query::JobView>& jobs);
Json JobJson(const query::JobDetail& detail);
Json CheckpointsJson(const std::vector<query::CheckpointView>& checkpoints);
Json EventsJson(const std::vector<ledger::Event>& events);
Json SeriesJson(const std::vector<query::SeriesView>& series);
Json ExplainJson(const explain::Explanation& explanation);
// `parts` may be null.
Json CompareJson(const explain::Comparison& comparison, const explain::Decomposition* parts);

}  // namespace stoker::report
