#include "base/clock.h"

#include <fmt/core.h>
#include <time.h>

#include <cctype>

#include "base/text.h"

namespace stoker {
namespace {

// Days from 1970-01-01 of a proleptic Gregorian date and back (Howard Hinnant, "chrono-compatible
// low-level date algorithms").
int64_t DaysFromCivil(int64_t year, unsigned month, unsigned day) {
  year -= month <= 2;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const unsigned year_of_era = static_cast<unsigned>(year - era * 400);
  const unsigned day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const unsigned day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + static_cast<int64_t>(day_of_era) - 719468;
}

int64_t NowNanos(clockid_t id) {
  timespec now{};
  ::clock_gettime(id, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

// Reads fixed-width digits; -1 where there are none.
int Digits(std::string_view text, size_t at, size_t count) {
  if (at + count > text.size()) return -1;
  int value = 0;
  for (size_t i = at; i < at + count; ++i) {
    if (!std::isdigit(static_cast<unsigned char>(text[i]))) return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

// "Z", "z", "+02:00", "-0130" at the end of the text: minutes east of UTC.
std::optional<int> OffsetMinutes(std::string_view zone) {
  if (zone == "Z" || zone == "z") return 0;
  if (zone.size() < 5 || (zone[0] != '+' && zone[0] != '-')) return std::nullopt;
  const bool colon = zone[3] == ':';
  if (zone.size() != (colon ? 6u : 5u)) return std::nullopt;
  const int hours = Digits(zone, 1, 2);
  const int minutes = Digits(zone, colon ? 4 : 3, 2);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return std::nullopt;
  return (zone[0] == '-' ? -1 : 1) * (hours * 60 + minutes);
}

bool RealDate(int year, int month, int day) {
  static constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (year < 1 || month < 1 || month > 12 || day < 1) return false;
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return day <= kDays[month - 1] + (month == 2 && leap ? 1 : 0);
}

}  // namespace

std::string FormatTime(WallTime time) {
  int64_t seconds = time.ms / 1000;
  int64_t millis = time.ms % 1000;
  if (millis < 0) {
    millis += 1000;
    --seconds;
  }
  const time_t t = static_cast<time_t>(seconds);
  tm parts{};
  ::gmtime_r(&t, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     millis);
}

Result<WallTime> ParseTime(std::string_view text) {
  const Error error = Invalid("not a time such as 2026-10-18T06:35:00Z", std::string(text));
  const int year = Digits(text, 0, 4), month = Digits(text, 5, 2), day = Digits(text, 8, 2);
  const int hour = Digits(text, 11, 2), minute = Digits(text, 14, 2), second = Digits(text, 17, 2);
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' || text[13] != ':' || text[16] != ':' ||
      (text[10] != 'T' && text[10] != 't' && text[10] != ' ')) {
    return error;
  }
  if (!RealDate(year, month, day) || hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
      second < 0 || second > 60) {
    return error;
  }
  size_t at = 19;
  int64_t millis = 0;
  if (text[at] == '.') {
    int64_t scale = 100;
    for (++at; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])); ++at) {
      millis += scale * (text[at] - '0');
      scale /= 10;
    }
  }
  const auto offset = OffsetMinutes(text.substr(at));
  if (!offset) return error;
  const int64_t days =
      DaysFromCivil(year, static_cast<unsigned>(month), static_cast<unsigned>(day));
  const int64_t seconds = days * 86400 + hour * 3600 + minute * 60 + second - *offset * 60;
  return WallTime{seconds * 1000 + millis};
}

WallTime SystemClock::Now() const { return WallTime{NowNanos(CLOCK_REALTIME) / 1'000'000}; }
MonoTime SystemClock::Mono() const { return MonoTime{NowNanos(CLOCK_MONOTONIC)}; }

}  // namespace stoker
