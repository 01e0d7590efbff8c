// The screen of `top`.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "explain/words.h"
#include "report/text.h"
#include "report/text_parts.h"

namespace stoker::report {
namespace {

using query::CardNow;
using query::Now;

// Readings older than this are shown as old.
constexpr double kStaleS = 10;
constexpr double kHotMarginC = 10;

const Reading<double>& Find(const std::map<std::string, Reading<double>>& readings,
                            const std::string& name) {
  static const Reading<double> kNone;
  const auto found = readings.find(name);
  return found == readings.end() ? kNone : found->second;
}

// A value by `format`, or the reason for its absence in a word.
template <typename Format>
Cell ValueCell(const Reading<double>& reading, bool stale, const Format& format,
               Tone tone = Tone::kPlain) {
  if (reading) return {format(*reading), stale ? Tone::kDim : tone};
  if (reading.absence() == Absence::kUnsupported) return {"–", Tone::kDim};
  return {std::string(AbsenceName(reading.absence())), Tone::kNotice};
}

const Reading<double>& PowerOf(const CardNow& card) {
  const auto& average = Find(card.readings, "power_w");
  const auto& instant = Find(card.readings, "power_instant_w");
  return average || !instant ? average : instant;
}

std::optional<double> LimitOf(const CardNow& card) {
  const auto& limit = Find(card.readings, "limit_w");
  return limit ? std::optional(*limit) : card.card.limit_default_w;
}

Cell BusyBar(const Reading<double>& busy, int columns, bool stale) {
  if (!busy) return {std::string(static_cast<size_t>(columns), ' ')};
  return {Bar(*busy, columns), stale ? Tone::kDim : Tone::kAccent};
}

Cell PowerBar(const CardNow& card, int columns, bool stale) {
  const auto& power = PowerOf(card);
  const auto limit = LimitOf(card);
  if (!power || !limit || *limit <= 0) return {std::string(static_cast<size_t>(columns), ' ')};
  const double ratio = *power / *limit;
  const Tone tone = ratio > 0.97 ? Tone::kNotice : Tone::kGood;
  return {Bar(ratio, columns), stale ? Tone::kDim : tone};
}

Cell PowerCell(const CardNow& card, bool stale) {
  const auto limit = LimitOf(card);
  return ValueCell(PowerOf(card), stale, [&](double watts) {
    return limit ? fmt::format("{:.0f}/{:.0f} W", watts, *limit) : fmt::format("{:.0f} W", watts);
  });
}

Cell MarginCell(const CardNow& card, bool stale) {
  const auto& margin = Find(card.readings, "margin_c");
  const Tone tone = margin && *margin < kHotMarginC ? Tone::kNotice : Tone::kPlain;
  return ValueCell(
      margin, stale, [](double c) { return fmt::format("{:.0f} °C", c); }, tone);
}

Cell MemoryCell(const CardNow& card, bool stale) {
  return ValueCell(Find(card.readings, "memory_used_bytes"), stale, [&](double bytes) {
    const std::string used = fmt::format("{:.1f}", bytes / 1e9);
    return card.card.memory_bytes ? fmt::format("{}/{:.0f} GB", used, *card.card.memory_bytes / 1e9)
                                  : used + " GB";
  });
}

Cell StateCell(const CardNow& card, bool stale) {
  if (card.readings.empty()) return {"not read yet", Tone::kDim};
  if (stale) return {fmt::format("read {} ago", DurationText(card.age_s)), Tone::kNotice};
  return {Join(card.throttle, " "), Tone::kNotice};
}

Cell JobsCell(const CardNow& card) {
  std::vector<std::string> ids;
  for (const int64_t id : card.jobs) ids.push_back("#" + std::to_string(id));
  return {Join(ids, " "), Tone::kAccent};
}

std::string CardsText(const Now& now, const TextStyle& style) {
  if (now.cards.empty()) return Toned("no cards; the host alone\n", Tone::kDim, style);
  const int busy_columns = std::clamp((style.width - 76) * 2 / 3 + 8, 8, 28);
  const int power_columns = std::clamp((style.width - 76) / 3 + 6, 6, 16);
  Table table({{"GPU", true},
               {"BUSY"},
               {"", true},
               {"POWER"},
               {"", true},
               {"TEMP", true},
               {"MARGIN", true},
               {"MEMORY", true},
               {"HELD BACK BY", false, true},
               {"JOBS", false, true}});
  for (const CardNow& card : now.cards) {
    const bool stale = card.age_s > kStaleS;
    const auto& busy = Find(card.readings, "busy_ratio");
    table.Add({{std::to_string(card.card.gpu), Tone::kBold},
               BusyBar(busy, busy_columns, stale),
               ValueCell(busy, stale, [](double b) { return fmt::format("{:.0f} %", 100 * b); }),
               PowerBar(card, power_columns, stale),
               PowerCell(card, stale),
               ValueCell(Find(card.readings, "temperature_c"), stale,
                         [](double c) { return fmt::format("{:.0f} °C", c); }),
               MarginCell(card, stale),
               MemoryCell(card, stale),
               StateCell(card, stale),
               JobsCell(card)});
  }
  return table.Render(style);
}

// One block a core, by how busy it is.
std::string CoresText(const std::vector<Reading<double>>& cores) {
  static constexpr const char* kLevels[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string out;
  for (const auto& core : cores) {
    const int level = core ? static_cast<int>(std::clamp(*core, 0.0, 1.0) * 7 + 0.5) : -1;
    out += level < 0 ? "·" : kLevels[level];
  }
  return out;
}

std::vector<std::string> CoreLines(const std::vector<Reading<double>>& cores, int columns) {
  std::vector<std::string> lines;
  const size_t width = static_cast<size_t>(std::max(columns, 8));
  for (size_t from = 0; from < cores.size(); from += width) {
    const auto first = cores.begin() + static_cast<std::ptrdiff_t>(from);
    const size_t count = std::min(width, cores.size() - from);
    lines.push_back(CoresText({first, first + static_cast<std::ptrdiff_t>(count)}));
  }
  return lines;
}

std::string HostText(const Now& now, const TextStyle& style) {
  const auto& cpu = Find(now.host, "cpu_busy_ratio");
  std::vector<std::string> parts;
  const auto add = [&](const char* name, const char* label, auto format) {
    const auto& reading = Find(now.host, name);
    if (reading) parts.push_back(std::string(label) + " " + format(*reading));
  };
  const auto percent = [](double ratio) { return fmt::format("{:.0f} %", 100 * ratio); };
  add("load_1m", "load", [](double load) { return fmt::format("{:.1f}", load); });
  add("host_memory_used_bytes", "memory", [](double bytes) { return FormatBytes(bytes); });
  add("pressure_cpu_ratio", "waiting for cpu", percent);
  add("pressure_io_ratio", "for disk", percent);
  add("pressure_memory_ratio", "for memory", percent);
  const bool stale = now.host_age_s > kStaleS;
  std::string out = Toned("CPU ", Tone::kBold, style);
  if (cpu) {
    out += Toned(Bar(*cpu, std::clamp((style.width - 76) * 2 / 3 + 8, 8, 28)),
                 stale ? Tone::kDim : Tone::kAccent, style);
    out += fmt::format(" {:>4}", percent(*cpu));
  } else {
    out += Toned("not read yet", Tone::kDim, style);
  }
  if (!parts.empty()) out += "   " + Join(parts, " · ");
  if (stale && !now.host.empty()) {
    out += Toned(fmt::format("   read {} ago", DurationText(now.host_age_s)), Tone::kNotice, style);
  }
  out += "\n";
  for (const std::string& line : CoreLines(now.cores, style.width - 4)) {
    out += "    " + Toned(line, Tone::kDim, style) + "\n";
  }
  return out;
}

std::string HeadText(const Now& now, const TextStyle& style) {
  std::string out = Toned("stoker", Tone::kBold, style);
  if (now.box) out += "  " + Printable(now.box->hostname);
  out += "  " + Toned(SecondOf(now.at) + " UTC", Tone::kDim, style);
  if (!now.cards.empty()) {
    out +=
        fmt::format("  {}", explain::Count(static_cast<double>(now.cards.size()), "card", "cards"));
    if (now.cards_answering > 0) out += ", " + explain::Watt(now.gpu_power_w);
    const size_t silent = now.cards.size() - static_cast<size_t>(now.cards_answering);
    if (silent > 0) out += "  " + Toned(fmt::format("{} silent", silent), Tone::kBad, style);
  }
  if (now.simulated) out += "  " + Toned("SIMULATED", Tone::kNotice, style);
  return out + "\n\n";
}

}  // namespace

std::string NowText(const Now& now, const TextStyle& style) {
  std::string out = HeadText(now, style);
  out += CardsText(now, style) + "\n" + HostText(now, style);
  if (now.running.empty()) return out + "\n" + Toned("no job runs\n", Tone::kDim, style);
  return out + "\n" + JobsText(now.running, style);
}

}  // namespace stoker::report
