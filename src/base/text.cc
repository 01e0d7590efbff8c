#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

namespace stoker {
namespace {

// Bytes of the valid UTF-8 sequence at the start of `text`; 0 where it is none.
size_t Utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  size_t length = first < 0x80   ? 1
                  : first < 0xC2 ? 0
                  : first < 0xE0 ? 2
                  : first < 0xF0 ? 3
                  : first < 0xF5 ? 4
                                 : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  if (length == 3 && ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F)))
    return 0;
  if (length == 4 && ((first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F)))
    return 0;
  return length;
}

// C1 controls and the marks that reorder or hide text.
bool HidesText(std::string_view sequence) {
  if (sequence.size() == 2)
    return sequence[0] == '\xC2' && static_cast<unsigned char>(sequence[1]) < 0xA0;
  if (sequence.size() != 3 || sequence[0] != '\xE2') return false;
  const unsigned char b = static_cast<unsigned char>(sequence[1]);
  const unsigned char c = static_cast<unsigned char>(sequence[2]);
  return (b == 0x80 && c >= 0xA8 && c <= 0xAE) || (b == 0x81 && c >= 0xA6 && c <= 0xA9);
}

// Optimal string alignment: two letters swapped count as one slip.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

std::string Grouped(long long n) {
  std::string digits = std::to_string(n);
  for (int at = static_cast<int>(digits.size()) - 3; at > (n < 0 ? 1 : 0); at -= 3) {
    digits.insert(static_cast<size_t>(at), ",");
  }
  return digits;
}

// "64.1" or "640" with `suffix`: three significant digits.
std::string Short(double value, std::string_view suffix) {
  const double size = std::abs(value);
  return fmt::format("{:.{}f} {}", value, size < 10 ? 2 : size < 100 ? 1 : 0, suffix);
}

}  // namespace

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  while (true) {
    const size_t at = text.find(separator);
    out.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return out;
    text.remove_prefix(at + 1);
  }
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string Join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out.append(separator);
    out.append(parts[i]);
  }
  return out;
}

std::string ToLower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::optional<double> ParseDouble(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int64_t> ParseInt(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string Printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    const unsigned char c = static_cast<unsigned char>(text[0]);
    if (length == 0) {
      out += fmt::format("\\x{:02x}", c);
    } else if (length == 1 && (c < 0x20 || c == 0x7F)) {
      out += c == '\n'   ? "\\n"
             : c == '\t' ? "\\t"
             : c == '\r' ? "\\r"
                         : fmt::format("\\x{:02x}", c);
    } else if (HidesText(text.substr(0, length))) {
      out += "\uFFFD";
    } else {
      out.append(text.substr(0, length));
    }
    text.remove_prefix(std::max<size_t>(1, length));
  }
  return out;
}

std::string EscapeHtml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string HexEncode(std::string_view bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    out += kDigits[static_cast<unsigned char>(c) >> 4];
    out += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

std::string Ellipsize(std::string_view text, size_t max_columns) {
  size_t columns = 0;
  for (const char c : text) columns += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  if (columns <= max_columns) return std::string(text);
  if (max_columns == 0) return {};
  size_t at = 0;
  for (size_t kept = 0; at < text.size() && kept + 1 < max_columns; ++kept) {
    do ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  }
  return std::string(text.substr(0, at)) + "…";
}

std::string FormatBytes(double bytes) {
  static constexpr std::array kUnits = {"B", "kB", "MB", "GB", "TB", "PB"};
  size_t unit = 0;
  while (std::abs(bytes) >= 999.5 && unit + 1 < kUnits.size()) {
    bytes /= 1000;
    ++unit;
  }
  if (unit == 0) return fmt::format("{:.0f} B", bytes);
  return fmt::format("{:.{}f} {}", bytes, std::abs(bytes) < 99.95 ? 1 : 0, kUnits[unit]);
}

std::string FormatDuration(Seconds d) {
  const double s = d.count();
  if (!std::isfinite(s)) return "unknown";
  if (s < 0) return "-" + FormatDuration(-d);
  if (s < 0.9995) return fmt::format("{:.0f} ms", s * 1000);
  if (s < 59.95) return fmt::format("{:.{}f} s", s, s < 9.995 ? 1 : 0);
  const long long whole = std::llround(s);
  if (whole < 3600) {
    return whole % 60 == 0 ? fmt::format("{} min", whole / 60)
                           : fmt::format("{} min {} s", whole / 60, whole % 60);
  }
  const long long minutes = std::llround(s / 60);
  if (minutes < 48 * 60) {
    return minutes % 60 == 0 ? fmt::format("{} h", minutes / 60)
                             : fmt::format("{} h {} min", minutes / 60, minutes % 60);
  }
  const long long hours = std::llround(s / 3600);
  return hours % 24 == 0 ? fmt::format("{} d", hours / 24)
                         : fmt::format("{} d {} h", hours / 24, hours % 24);
}

std::string FormatEnergy(Joules j) {
  const double size = std::abs(j.value);
  if (size < 1000) return fmt::format("{:.0f} J", j.value);
  if (size < 3600) return Short(j.value / 1000, "kJ");
  if (size < 3.6e6) return Short(j.value / 3600, "Wh");
  return Short(j.value / 3.6e6, "kWh");
}

std::string FormatCount(double n) {
  if (std::abs(n) >= 1e9) return Short(n / 1e9, "G");
  if (std::abs(n) >= 1e6) return Short(n / 1e6, "M");
  if (n == std::floor(n)) return Grouped(static_cast<long long>(n));
  return std::abs(n) >= 1000 ? Grouped(std::llround(n)) : fmt::format("{:.4g}", n);
}

Result<Seconds> ParseDuration(std::string_view text) {
  const Error error = Invalid("not a duration such as 90s, 15m, 2h or 1h30m", std::string(text));
  if (text.empty()) return error;
  double total = 0;
  while (!text.empty()) {
    double value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc() || value < 0 || !std::isfinite(value)) return error;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (text.empty()) return error;
    const char unit = text.front();
    const double scale = unit == 's'   ? 1
                         : unit == 'm' ? 60
                         : unit == 'h' ? 3600
                         : unit == 'd' ? 86400
                                       : 0;
    if (scale == 0) return error;
    total += value * scale;
    text.remove_prefix(1);
  }
  return Seconds(total);
}

std::optional<std::string> Suggest(std::string_view typed, const std::vector<std::string>& words) {
  std::optional<std::string> best;
  size_t best_distance = std::max<size_t>(1, typed.size() / 3) + 1;
  for (const std::string& word : words) {
    const size_t distance = EditDistance(typed, word);
    if (distance < best_distance) {
      best_distance = distance;
      best = word;
    }
  }
  return best;
}

}  // namespace stoker
