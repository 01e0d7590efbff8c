// A request and an answer as plain data, apart from any socket, and the rules that hold for all:
// errors as JSON, security headers, which Host names are ours.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace stoker::web {

struct Request {
  std::string method = "GET";
  std::string target = "/";  // as sent: path and query
  std::string host;          // the Host header; empty where there was none
  std::string if_none_match;
  std::string last_event_id;
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  bool live = false;  // the connection becomes a stream of server-sent events
};

Response JsonResponse(const Json& json);
// {"schema_version":1,"error":{"code","what","where","advice"}} with the status of its code.
Response ErrorResponse(const Error& error);
Response ErrorResponse(int status, const Error& error);
int HttpStatus(Code code);
std::string ErrorBody(const Error& error);

// What every answer carries: no framing, no sniffing, no referrer, nothing loaded from elsewhere.
const std::vector<std::pair<std::string, std::string>>& SecurityHeaders();

// Decides whether a Host header names this server.
class HostRule {
 public:
  // `bound` is the address listened on; the wildcard lets any literal address through, which no
  // DNS answer can forge.
  HostRule(const std::string& bound, std::vector<std::string> names);
  bool Allows(std::string_view host_header) const;

 private:
  std::string bound_;
  bool wildcard_;
  std::vector<std::string> names_;
};

}  // namespace stoker::web
