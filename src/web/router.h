// Which request gets which answer: one table of routes. No sockets here; one call, one answer.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "ledger/ledger.h"
#include "web/http.h"

namespace stoker::web {

// What handlers read. They change nothing.
struct Context {
  ledger::Ledger& ledger;
  const Clock& clock;
};

// What the address asked for.
struct Call {
  std::vector<std::string> path;                  // what stood for the {…} of the pattern
  std::map<std::string, std::string> parameters;  // only names that the route lists
};

using Handler = Result<Response> (*)(const Context& context, const Call& call);

struct Route {
  std::string_view method;
  std::string_view pattern;     // "/api/v1/jobs/{id}"
  std::string_view parameters;  // names by comma: "from,metric,points,to"
  Handler handler;
};

// The table. The page files are served beside it (pages.h).
std::span<const Route> Routes();

// Never fails and never throws: whatever goes wrong is an answer with one clear line.
Response Dispatch(const Request& request, const Context& context, const HostRule& hosts);

}  // namespace stoker::web
