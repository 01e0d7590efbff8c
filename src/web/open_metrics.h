// The latest readings as OpenMetrics 1.0 text (openmetrics.io): names and units of metrics.json
// with "stoker_" before them. A reading that is absent or old has no sample; its reason or age is
// one.
#pragma once

#include <string>

#include "query/views.h"

namespace stoker::web {

std::string OpenMetrics(const query::Now& now);

}  // namespace stoker::web
