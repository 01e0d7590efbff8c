#include "base/json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace stoker {
namespace {

constexpr int kMaxDepth = 64;

// nlohmann's parser recurses on destruction: refuse deep nesting before it sees the text.
bool TooDeep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxDepth) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

const Json* Member(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto it = object.find(std::string(key));
  return it == object.end() ? nullptr : &*it;
}

}  // namespace

Result<Json> ParseJson(std::string_view text, const std::string& where, size_t max_bytes) {
  if (text.size() > max_bytes) {
    return Invalid(
        "larger than the " + FormatBytes(static_cast<double>(max_bytes)) + " allowed here", where);
  }
  if (TooDeep(text)) return Invalid("JSON nested deeper than 64 levels", where);
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    const std::string_view before = text.substr(0, std::min(text.size(), error.byte));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    return Invalid(
        "not valid JSON at line " + std::to_string(line) + ", byte " + std::to_string(error.byte),
        where);
  } catch (const Json::exception& error) {
    return Invalid(std::string("not valid JSON: ") + error.what(), where);
  }
}

std::string DumpJson(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::optional<std::string> JsonString(const Json& object, std::string_view key) {
  const Json* value = Member(object, key);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return value->get<std::string>();
}

std::optional<double> JsonNumber(const Json& object, std::string_view key) {
  const Json* value = Member(object, key);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->get<double>();
}

std::optional<int64_t> JsonInt(const Json& object, std::string_view key) {
  const Json* value = Member(object, key);
  if (value == nullptr) return std::nullopt;
  if (value->is_number_unsigned() && value->get<uint64_t>() > INT64_MAX) return std::nullopt;
  if (value->is_number_integer()) return value->get<int64_t>();
  if (!value->is_number_float()) return std::nullopt;
  const double number = value->get<double>();
  if (number != std::floor(number) || std::abs(number) > 9e15) return std::nullopt;
  return static_cast<int64_t>(number);
}

std::optional<bool> JsonBool(const Json& object, std::string_view key) {
  const Json* value = Member(object, key);
  if (value == nullptr || !value->is_boolean()) return std::nullopt;
  return value->get<bool>();
}

}  // namespace stoker
