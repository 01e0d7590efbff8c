#include "json.h"

#include <cstdlib>

namespace stoker::house {
namespace {

constexpr int kMaxDepth = 64;

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::optional<JsonValue> Run() {
    JsonValue value;
    if (!Value(value, 0)) return std::nullopt;
    Space();
    if (at_ != text_.size()) return std::nullopt;
    return value;
  }

 private:
  void Space() {
    at_ = text_.find_first_not_of(" \t\r\n", at_);
    if (at_ == text_.npos) at_ = text_.size();
  }

  bool Take(char c) {
    Space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool Value(JsonValue& value, int depth) {
    Space();
    if (at_ >= text_.size() || depth > kMaxDepth) return false;
    switch (text_[at_]) {
      case '{':
        value.kind = JsonValue::Kind::kObject;
        return Object(value, depth);
      case '[':
        value.kind = JsonValue::Kind::kArray;
        return Array(value, depth);
      case '"':
        value.kind = JsonValue::Kind::kString;
        return String(value.text);
      default:
        return Bare(value);
    }
  }

  bool Bare(JsonValue& value) {
    size_t end = text_.find_first_of(" \t\r\n,]}", at_);
    if (end == text_.npos) end = text_.size();
    value.text = text_.substr(at_, end - at_);
    at_ = end;
    if (value.text == "null") return true;
    value.kind = JsonValue::Kind::kBool;
    if (value.text == "true" || value.text == "false") return true;
    value.kind = JsonValue::Kind::kNumber;
    return !value.text.empty() &&
           value.text.find_first_not_of("+-.eE0123456789") == std::string::npos;
  }

  bool Object(JsonValue& value, int depth) {
    if (!Take('{')) return false;
    if (Take('}')) return true;
    do {
      JsonMember member;
      Space();
      if (!String(member.name) || !Take(':') || !Value(member.value, depth + 1)) return false;
      value.members.push_back(std::move(member));
    } while (Take(','));
    return Take('}');
  }

  bool Array(JsonValue& value, int depth) {
    if (!Take('[')) return false;
    if (Take(']')) return true;
    do {
      if (!Value(value.items.emplace_back(), depth + 1)) return false;
    } while (Take(','));
    return Take(']');
  }

  bool String(std::string& out) {
    if (at_ >= text_.size() || text_[at_] != '"') return false;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') {
        ++at_;
        return true;
      }
      if (text_[at_] != '\\') {
        out += text_[at_];
      } else if (!Escape(out)) {
        return false;
      }
    }
    return false;
  }

  // Only names and paths are looked at, so characters beyond ASCII become '?'.
  bool Escape(std::string& out) {
    if (++at_ >= text_.size()) return false;
    switch (text_[at_]) {
      case 'n':
        out += '\n';
        return true;
      case 't':
        out += '\t';
        return true;
      case 'b':
      case 'f':
      case 'r':
        return true;
      case 'u': {
        if (at_ + 4 >= text_.size()) return false;
        const long code = std::strtol(std::string(text_.substr(at_ + 1, 4)).c_str(), nullptr, 16);
        out += code > 0 && code < 128 ? static_cast<char>(code) : '?';
        at_ += 4;
        return true;
      }
      default:
        out += text_[at_];
        return true;
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

const JsonValue* JsonValue::Get(std::string_view key) const {
  for (const auto& [name, value] : members) {
    if (name == key) return &value;
  }
  return nullptr;
}

std::string JsonValue::Text(std::string_view key) const {
  const JsonValue* value = Get(key);
  return value ? value->text : std::string();
}

std::optional<JsonValue> ReadJson(std::string_view text) { return Reader(text).Run(); }

}  // namespace stoker::house
