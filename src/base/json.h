// JSON through nlohmann-json, without its exceptions. Key order is kept. Include
// <nlohmann/json.hpp> in the .cc that looks inside a Json.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stoker {

using Json = nlohmann::ordered_json;

// kInvalid with line and column; nesting deeper than 64 and inputs over `max_bytes` are refused.
Result<Json> ParseJson(std::string_view text, const std::string& where = "JSON",
                       size_t max_bytes = 64 << 20);
// Compact, or indented by `indent` spaces. Bytes that are no UTF-8 become U+FFFD; NaN and
// infinities become null.
std::string DumpJson(const Json& json, int indent = -1);

// Members of an object by key; nullopt where the key is absent, null or of another type.
std::optional<std::string> JsonString(const Json& object, std::string_view key);
std::optional<double> JsonNumber(const Json& object, std::string_view key);
std::optional<int64_t> JsonInt(const Json& object, std::string_view key);
std::optional<bool> JsonBool(const Json& object, std::string_view key);

}  // namespace stoker
