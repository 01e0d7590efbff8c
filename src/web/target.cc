#include "web/target.h"

#include <fmt/core.h>

#include "base/text.h"

namespace stoker::web {
namespace {

constexpr size_t kMaxTargetBytes = 4096;
constexpr size_t kMaxParts = 64;

std::optional<int> HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

Status ParseParameters(std::string_view query, Target& target) {
  const std::vector<std::string_view> pairs = Split(query, '&');
  if (pairs.size() > kMaxParts) return Invalid("too many parameters", "query");
  for (const std::string_view pair : pairs) {
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    STOKER_ASSIGN(std::string name, PercentDecode(pair.substr(0, equals)));
    std::string value;
    if (equals != std::string_view::npos) {
      STOKER_ASSIGN(value, PercentDecode(pair.substr(equals + 1)));
    }
    if (!target.parameters.emplace(name, std::move(value)).second) {
      return Invalid("given twice", name);
    }
  }
  return Ok();
}

}  // namespace

Result<std::string> PercentDecode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    auto c = static_cast<unsigned char>(text[i]);
    if (c == '%') {
      const auto high = i + 2 < text.size() ? HexDigit(text[i + 1]) : std::nullopt;
      const auto low = high ? HexDigit(text[i + 2]) : std::nullopt;
      if (!low) return Invalid("a '%' is not followed by two hex digits", Printable(text));
      c = static_cast<unsigned char>(*high * 16 + *low);
      i += 2;
    }
    if (c < 0x20 || c == 0x7f) return Invalid("a control character", Printable(text));
    out += static_cast<char>(c);
  }
  return out;
}

Result<Target> ParseTarget(std::string_view text) {
  if (text.size() > kMaxTargetBytes) return Invalid("the address is too long", "request");
  if (!text.starts_with('/')) return Invalid("not an absolute path", Printable(text));
  Target target;
  const size_t question = text.find('?');
  const std::string_view path = text.substr(0, question);
  if (question != std::string_view::npos) {
    STOKER_TRY(ParseParameters(text.substr(question + 1), target));
  }
  STOKER_ASSIGN(target.path, PercentDecode(path));
  if (path == "/") return target;
  for (const std::string_view part : Split(path.substr(1), '/')) {
    STOKER_ASSIGN(std::string segment, PercentDecode(part));
    if (segment == "." || segment == "..") return Invalid("a path with dots", Printable(path));
    target.segments.push_back(std::move(segment));
    if (target.segments.size() > kMaxParts) return Invalid("too deep a path", "request");
  }
  return target;
}

Result<WallTime> ParseTimeParameter(std::string_view text, const std::string& name, WallTime now) {
  if (text == "now") return now;
  if (text.starts_with('-')) {
    // A century back is further than any ledger; the bound keeps the sum in range.
    constexpr double kMaxSeconds = 3.2e9;
    Result<Seconds> back = ParseDuration(text.substr(1));
    if (back && back->count() <= kMaxSeconds) {
      return now - std::chrono::duration_cast<Millis>(*back);
    }
  } else if (Result<WallTime> time = ParseTime(text)) {
    return *time;
  }
  return Invalid(fmt::format("\"{}\" is not a time", Printable(text)), name,
                 "give RFC 3339 such as 2026-10-18T06:35:00Z, or a time back such as -1h");
}

Result<int64_t> ParseIntParameter(std::string_view text, const std::string& name, int64_t least,
                                  int64_t most) {
  const std::optional<int64_t> value = ParseInt(text);
  if (!value || *value < least || *value > most) {
    return Invalid(
        fmt::format("\"{}\" is not a whole number from {} to {}", Printable(text), least, most),
        name);
  }
  return *value;
}

}  // namespace stoker::web
