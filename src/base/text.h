// Small text helpers: splitting, trimming, and numbers as people read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace stoker {

std::vector<std::string_view> Split(std::string_view text, char separator);
// The parts would point into a text that is gone.
template <typename Text>
requires std::is_same_v<Text, std::string> std::vector<std::string_view> Split(Text&& text,
                                                                               char separator)
= delete;
std::string_view Trim(std::string_view text);
std::string Join(const std::vector<std::string>& parts, std::string_view separator);
std::string ToLower(std::string_view text);
std::optional<double> ParseDouble(std::string_view text);  // the whole text, finite or nan/inf
std::optional<int64_t> ParseInt(std::string_view text);    // the whole text, base 10
// Escapes control characters and broken UTF-8 so that hostile text stays one harmless line.
std::string Printable(std::string_view text);
std::string EscapeHtml(std::string_view text);
std::string HexEncode(std::string_view bytes);
std::string Ellipsize(std::string_view text, size_t max_columns);

std::string FormatBytes(double bytes);  // "1.8 GB" (decimal)
std::string FormatDuration(Seconds d);  // "19 h 10 min", "3 min 38 s", "4.2 s", "120 ms"
std::string FormatEnergy(Joules j);     // "64.1 kWh", "12.3 Wh", "940 J"
std::string FormatCount(double n);      // "1,030", "1.53 M"
Result<Seconds> ParseDuration(std::string_view text);  // "90s", "15m", "2h", "7d", "1h30m"

// The closest of `words` to `typed` by edit distance, if close enough to be meant.
std::optional<std::string> Suggest(std::string_view typed, const std::vector<std::string>& words);

}  // namespace stoker
