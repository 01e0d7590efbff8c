// Feeds Dispatch() with any method, Host, validators and target. Properties: it answers, the answer
// is JSON where it says so, an error says what and where, and a foreign Host learns nothing.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/json.h"
#include "query/fake_ledger.h"
#include "web/router.h"

using stoker::web::Request;
using stoker::web::Response;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static stoker::query::FakeLedger ledger;
  static const stoker::FakeClock clock;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto next = [&] {
    const size_t end = text.find('\n');
    std::string line(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return line;
  };
  Request request;
  request.target = next();
  request.host = size % 2 == 0 ? "localhost" : next();
  request.if_none_match = next();
  if (size % 3 == 0) request.method = next();
  const Response response =
      stoker::web::Dispatch(request, {ledger, clock}, stoker::web::HostRule("127.0.0.1", {}));
  STOKER_CHECK(response.status >= 200 && response.status < 600);
  if (response.content_type == "application/json") {
    const auto json = stoker::ParseJson(response.body);
    STOKER_CHECK(json.has_value());
    STOKER_CHECK(response.status < 400 || !(*json)["error"]["what"].get<std::string>().empty());
  }
  return 0;
}
