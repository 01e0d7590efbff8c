#include "report/svg_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"

namespace stoker::report {
namespace {

// The step of 1, 2 or 5 times a power of ten that gives at most about `about` ticks.
double NiceStep(double range, int about) {
  const double rough = range / std::max(1, about);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double lead = rough / power;
  return power * (lead < 1.01 ? 1 : lead < 2.01 ? 2 : lead < 5.01 ? 5 : 10);
}

int Decimals(double step) {
  return std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 9);
}

std::string Label(double value, double step) {
  if (std::abs(value) < step / 1e6) value = 0;
  if (std::abs(value) >= 1e6 || (step < 1e-9 && value != 0)) return fmt::format("{:.3g}", value);
  if (step >= 1) return FormatCount(value);
  return fmt::format("{:.{}f}", value, Decimals(step));
}

bool Usable(double low, double high) {
  return std::isfinite(low) && std::isfinite(high) && std::isfinite(high - low);
}

void AddTicks(Axis& axis, double step) {
  constexpr int kMost = 100;
  const double first = std::ceil(axis.from / step - 1e-9);
  for (int i = 0; i < kMost; ++i) {
    const double at = (first + i) * step;
    if (at > axis.to + step * 1e-9) break;
    axis.ticks.push_back({at, Label(at, step)});
  }
}

constexpr int64_t kSecond = 1000;
constexpr int64_t kMinute = 60 * kSecond;
constexpr int64_t kHour = 60 * kMinute;
constexpr int64_t kDay = 24 * kHour;
constexpr std::array kTimeSteps = {
    kSecond,  2 * kSecond, 5 * kSecond, 10 * kSecond, 15 * kSecond, 30 * kSecond,
    kMinute,  2 * kMinute, 5 * kMinute, 10 * kMinute, 15 * kMinute, 30 * kMinute,
    kHour,    2 * kHour,   3 * kHour,   6 * kHour,    12 * kHour,   kDay,
    2 * kDay, 7 * kDay,    14 * kDay,   28 * kDay,    91 * kDay,    182 * kDay};

std::string TimeLabel(int64_t at, int64_t step) {
  static constexpr std::array kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::string text = FormatTime(WallTime{at});  // 2026-10-18T06:35:00.569Z
  if (text.size() < 19) return text;
  if (at % kDay == 0) {
    const size_t month = static_cast<size_t>((text[5] - '0') * 10 + text[6] - '0');
    const int day = (text[8] - '0') * 10 + text[9] - '0';
    if (month >= 1 && month <= 12) return fmt::format("{} {}", day, kMonths[month - 1]);
  }
  return step < kMinute ? text.substr(11, 8) : text.substr(11, 5);
}

}  // namespace

Axis ValueAxis(double low, double high, int about, std::string unit) {
  Axis axis;
  axis.unit = std::move(unit);
  if (!Usable(low, high)) low = 0, high = 1;
  if (low > high) std::swap(low, high);
  if (high - low <= std::abs(high) * 1e-9) {
    const double room = high == 0 ? 1 : std::abs(high) * 0.1;
    low -= room;
    high += room;
  }
  const double step = NiceStep(high - low, about);
  axis.from = std::floor(low / step + 1e-9) * step;
  axis.to = std::ceil(high / step - 1e-9) * step;
  AddTicks(axis, step);
  return axis;
}

Axis TightAxis(double low, double high, int about, std::string unit) {
  if (!Usable(low, high)) low = 0, high = 1;
  if (low > high) std::swap(low, high);
  if (high <= low) high = low + 1;
  Axis axis;
  axis.unit = std::move(unit);
  axis.from = low;
  axis.to = high;
  // Whole numbers only: there is no half epoch worth a tick.
  AddTicks(axis, std::max(1.0, NiceStep(high - low, about)));
  return axis;
}

Axis TimeAxis(WallTime from, WallTime to, int about) {
  Axis axis;
  axis.unit = "UTC";
  const int64_t end = std::max(to.ms, from.ms + kSecond);
  axis.from = static_cast<double>(from.ms);
  axis.to = static_cast<double>(end);
  const int64_t range = end - from.ms;
  int64_t step = kTimeSteps.back();
  for (const int64_t candidate : kTimeSteps) {
    if (range / candidate <= std::max(1, about)) {
      step = candidate;
      break;
    }
  }
  step = std::max(step, range / 100 / kDay * kDay);
  int64_t at = (from.ms + step - 1) / step * step;
  for (; at <= end; at += step)
    axis.ticks.push_back({static_cast<double>(at), TimeLabel(at, step)});
  return axis;
}

}  // namespace stoker::report
