#include "web/router.h"

#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <optional>

#include "base/text.h"
#include "web/api.h"
#include "web/pages.h"
#include "web/target.h"

namespace stoker::web {
namespace {

constexpr Route kRoutes[] = {
    {"GET", "/api/v1/now", "", GetNow},
    {"GET", "/api/v1/box", "", GetBox},
    {"GET", "/api/v1/series", "from,metric,points,to", GetSeries},
    {"GET", "/api/v1/jobs", "limit,since,state", GetJobs},
    {"GET", "/api/v1/jobs/{id}", "", GetJob},
    {"GET", "/api/v1/jobs/{id}/metrics", "", GetJobMetrics},
    {"GET", "/api/v1/checkpoints", "job", GetCheckpoints},
    {"GET", "/api/v1/events", "job,limit,since", GetEvents},
    {"GET", "/api/v1/explain/{id}", "", GetExplain},
    {"GET", "/api/v1/live", "", GetLive},
    {"GET", "/healthz", "", GetHealth},
    {"GET", "/metrics", "", GetMetricsText},
};

// The segments that stand for the pattern's {…}; nullopt where the path is another.
std::optional<std::vector<std::string>> Match(std::string_view pattern, const Target& target) {
  const std::vector<std::string_view> parts = Split(pattern.substr(1), '/');
  if (parts.size() != target.segments.size()) return std::nullopt;
  std::vector<std::string> found;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].starts_with('{')) {
      found.push_back(target.segments[i]);
    } else if (parts[i] != target.segments[i]) {
      return std::nullopt;
    }
  }
  return found;
}

Status CheckParameters(const Route& route, const Target& target) {
  std::vector<std::string> known;
  for (const std::string_view name : Split(route.parameters, ',')) {
    if (!name.empty()) known.emplace_back(name);
  }
  for (const auto& [name, value] : target.parameters) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const auto near = Suggest(name, known);
    return Invalid("no such parameter", Printable(name),
                   near            ? fmt::format("did you mean {}?", *near)
                   : known.empty() ? std::string("this address takes none")
                                   : fmt::format("known here: {}", Join(known, ", ")));
  }
  return Ok();
}

Response PageResponse(const Page& page, const Request& request) {
  Response response;
  response.content_type = page.content_type;
  response.headers = {{"ETag", std::string(page.etag)}, {"Cache-Control", "no-cache"}};
  if (request.if_none_match.find(page.etag) != std::string::npos || request.if_none_match == "*") {
    response.status = 304;
  } else {
    response.body = page.bytes;
  }
  return response;
}

Response NotFoundResponse(const Target& target) {
  std::vector<std::string> known;
  for (const Route& route : kRoutes) known.emplace_back(route.pattern);
  const auto near = Suggest(target.path, known);
  return ErrorResponse(
      NotFound("nothing is served here", Printable(target.path),
               near ? fmt::format("did you mean {}?", *near) : "docs/openapi.json lists what is"));
}

Response Answer(const Request& request, const Target& target, const Context& context) {
  for (const Route& route : kRoutes) {
    const auto found = Match(route.pattern, target);
    if (!found) continue;
    if (Status fine = CheckParameters(route, target); !fine) return ErrorResponse(fine.error());
    Result<Response> response = route.handler(context, Call{*found, target.parameters});
    if (!response) return ErrorResponse(response.error());
    response->headers.emplace_back("Cache-Control", "no-store");
    return std::move(*response);
  }
  for (const Page& page : Pages()) {
    if (page.path == target.path) return PageResponse(page, request);
  }
  return NotFoundResponse(target);
}

Response DispatchUnguarded(const Request& request, const Context& context, const HostRule& hosts) {
  if (request.method != "GET" && request.method != "HEAD") {
    Response response =
        ErrorResponse(405, Invalid("only GET and HEAD are answered here", Printable(request.method),
                                   "change things with the stoker command"));
    response.headers.emplace_back("Allow", "GET, HEAD");
    return response;
  }
  if (!hosts.Allows(request.host)) {
    return ErrorResponse(421,
                         Denied("this server does not answer to that name", Printable(request.host),
                                "open it as localhost or by the address it listens on"));
  }
  Result<Target> target = ParseTarget(request.target);
  if (!target) return ErrorResponse(target.error());
  return Answer(request, *target, context);
}

}  // namespace

std::span<const Route> Routes() { return kRoutes; }

Response Dispatch(const Request& request, const Context& context, const HostRule& hosts) {
  // Libraries below throw on what nobody foresaw (memory, a JSON type): that costs one answer.
  try {
    return DispatchUnguarded(request, context, hosts);
  } catch (const std::exception& e) {
    return ErrorResponse(Internal(Printable(e.what()), Printable(request.target)));
  }
}

}  // namespace stoker::web
