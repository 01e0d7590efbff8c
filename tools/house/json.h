// A small JSON reader: this program is compiled before anything is installed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stoker::house {

struct JsonMember;

struct JsonValue {
  enum class Kind { kNull, kBool, kNumber, kString, kArray, kObject };
  Kind kind = Kind::kNull;
  std::string text;  // of a string, decoded; of a number or bool, as written
  std::vector<JsonValue> items;
  std::vector<JsonMember> members;

  const JsonValue* Get(std::string_view key) const;  // null where there is no such member
  std::string Text(std::string_view key) const;      // "" where there is none
};

struct JsonMember {
  std::string name;
  JsonValue value;
};

std::optional<JsonValue> ReadJson(std::string_view text);

}  // namespace stoker::house
