#include "web/http.h"

#include <arpa/inet.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace stoker::web {
namespace {

// The name of "name", "name:port", "[v6]" or "[v6]:port", lower case; empty where it is neither.
std::string HostName(std::string_view header) {
  std::string_view name = header;
  std::string_view rest;
  if (header.starts_with('[')) {
    const size_t close = header.find(']');
    if (close == std::string_view::npos) return {};
    name = header.substr(1, close - 1);
    rest = header.substr(close + 1);
  } else if (const size_t colon = header.find(':'); colon != std::string_view::npos) {
    name = header.substr(0, colon);
    rest = header.substr(colon);
  }
  if (!rest.empty()) {
    const auto port = rest.front() == ':' ? ParseInt(rest.substr(1)) : std::nullopt;
    if (!port || *port < 1 || *port > 65535) return {};
  }
  if (name.ends_with('.')) name.remove_suffix(1);
  return ToLower(name);
}

bool IsAddress(const std::string& name) {
  in6_addr address;
  return inet_pton(AF_INET, name.c_str(), &address) == 1 ||
         inet_pton(AF_INET6, name.c_str(), &address) == 1;
}

bool IsLoopback(const std::string& name) {
  if (name == "localhost" || name == "::1") return true;
  return name.starts_with("127.") && IsAddress(name);
}

}  // namespace

int HttpStatus(Code code) {
  switch (code) {
    case Code::kNotFound:
      return 404;
    case Code::kInvalid:
      return 400;
    case Code::kUnavailable:
      return 503;
    case Code::kTimeout:
      return 504;
    case Code::kDenied:
      return 403;
    case Code::kUnsupported:
      return 501;
    case Code::kCorrupt:
    case Code::kInternal:
      return 500;
  }
  return 500;
}

std::string ErrorBody(const Error& error) {
  const Json body = {{"schema_version", 1},
                     {"error",
                      {{"code", CodeName(error.code)},
                       {"what", error.what},
                       {"where", error.where},
                       {"advice", error.advice}}}};
  return DumpJson(body);
}

Response JsonResponse(const Json& json) {
  Response response;
  response.body = DumpJson(json) + "\n";
  return response;
}

Response ErrorResponse(int status, const Error& error) {
  Response response;
  response.status = status;
  response.body = ErrorBody(error) + "\n";
  if (status == 503) response.headers.emplace_back("Retry-After", "1");
  return response;
}

Response ErrorResponse(const Error& error) { return ErrorResponse(HttpStatus(error.code), error); }

const std::vector<std::pair<std::string, std::string>>& SecurityHeaders() {
  static const std::vector<std::pair<std::string, std::string>> headers = {
      {"Content-Security-Policy",
       "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; "
       "frame-ancestors 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
  };
  return headers;
}

HostRule::HostRule(const std::string& bound, std::vector<std::string> names)
    : bound_(ToLower(bound)),
      wildcard_(bound_ == "0.0.0.0" || bound_ == "::"),
      names_(std::move(names)) {
  for (std::string& name : names_) name = ToLower(name);
}

bool HostRule::Allows(std::string_view host_header) const {
  const std::string name = HostName(host_header);
  if (name.empty()) return false;
  if (IsLoopback(name) || name == bound_) return true;
  if (wildcard_ && IsAddress(name)) return true;
  return std::find(names_.begin(), names_.end(), name) != names_.end();
}

}  // namespace stoker::web
