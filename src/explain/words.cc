#include "explain/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace stoker::explain {

std::string Percent(double ratio) {
  const double percent = ratio * 100;
  if (percent == 0 || std::abs(percent) >= 9.95) return fmt::format("{:.0f} %", percent);
  return fmt::format("{:.{}f} %", percent, std::abs(percent) >= 0.995 ? 1 : 2);
}

std::string Watt(double watts) {
  return std::abs(watts) < 1000 ? fmt::format("{:.0f} W", watts)
                                : fmt::format("{:.2f} kW", watts / 1000);
}

std::string MetricValue(double value) {
  if (std::isnan(value)) return "not a number";
  if (std::isinf(value)) return value > 0 ? "infinity" : "minus infinity";
  const double size = std::abs(value);
  if (size != 0 && size < 0.0005) return fmt::format("{:.3g}", value);
  if (size < 10) return fmt::format("{:.3f}", value);
  return size < 1000 ? fmt::format("{:.1f}", value) : FormatCount(value);
}

std::string EpochName(double epoch) {
  if (epoch == std::floor(epoch)) return FormatCount(epoch);
  return fmt::format("{:.1f}", epoch);
}

std::string TimeOfDay(WallTime time) {
  const std::string text = FormatTime(time);  // 2026-10-18T06:35:00.569Z
  return text.size() < 16 ? text : text.substr(0, 10) + " " + text.substr(11, 5) + " UTC";
}

std::string Count(double n, const char* one, const char* many) {
  return FormatCount(n) + " " + (n == 1 ? one : many);
}

std::string JoinAnd(const std::vector<std::string>& parts) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += i + 1 == parts.size() ? " and " : ", ";
    out += parts[i];
  }
  return out;
}

std::string GpuNames(std::vector<int> gpus, size_t of) {
  std::sort(gpus.begin(), gpus.end());
  gpus.erase(std::unique(gpus.begin(), gpus.end()), gpus.end());
  if (gpus.size() == of && of > 1) return fmt::format("all {} cards", of);
  std::vector<std::string> names;
  for (const int gpu : gpus) names.push_back(std::to_string(gpu));
  return (names.size() == 1 ? "GPU " : "GPUs ") + JoinAnd(names);
}

}  // namespace stoker::explain
