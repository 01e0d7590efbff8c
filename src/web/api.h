// The handlers of the routes: each reads its parameters, asks one question of query/ or explain/
// and renders it as report/ does for the command line.
#pragma once

#include "base/result.h"
#include "web/router.h"

namespace stoker::web {

Result<Response> GetNow(const Context& context, const Call& call);
// What the box is: names, versions, cards; no readings.
Result<Response> GetBox(const Context& context, const Call& call);
Result<Response> GetSeries(const Context& context, const Call& call);
Result<Response> GetJobs(const Context& context, const Call& call);
Result<Response> GetJob(const Context& context, const Call& call);
Result<Response> GetJobMetrics(const Context& context, const Call& call);
Result<Response> GetCheckpoints(const Context& context, const Call& call);
Result<Response> GetEvents(const Context& context, const Call& call);
Result<Response> GetExplain(const Context& context, const Call& call);
// Only says that the connection becomes a stream; LiveFeed fills it.
Result<Response> GetLive(const Context& context, const Call& call);
// 200 where the ledger can be read, and how old its newest reading is.
Result<Response> GetHealth(const Context& context, const Call& call);
// The latest readings as OpenMetrics text.
Result<Response> GetMetricsText(const Context& context, const Call& call);

}  // namespace stoker::web
