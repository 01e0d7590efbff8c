// A request's target taken apart: path segments and parameters, percent-decoded and bounded.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace stoker::web {

struct Target {
  std::string path;                   // decoded, for messages
  std::vector<std::string> segments;  // "/api/v1/now" gives {"api", "v1", "now"}; "/" none
  std::map<std::string, std::string> parameters;
};

// kInvalid for anything but an absolute path of valid escapes: no control characters, no "." or
// ".." segment, no parameter twice. '+' stands for itself, so that times may carry an offset.
Result<Target> ParseTarget(std::string_view target);

Result<std::string> PercentDecode(std::string_view text);

// RFC 3339, "now", or a duration back from now such as "-1h" or "-90s".
Result<WallTime> ParseTimeParameter(std::string_view text, const std::string& name, WallTime now);
// A whole number in [least, most].
Result<int64_t> ParseIntParameter(std::string_view text, const std::string& name, int64_t least,
                                  int64_t most);

}  // namespace stoker::web
