// Jobs side by side as text.
#include <fmt/format.h>

#include "base/text.h"
#include "explain/words.h"
#include "report/text.h"
#include "report/text_parts.h"

namespace stoker::report {
namespace {

template <typename Format>
std::string Maybe(const std::optional<double>& value, const Format& format) {
  return value ? format(*value) : std::string();
}

std::string SidesText(const std::vector<explain::Side>& sides, const TextStyle& style) {
  Table table({{"JOB", true},
               {"NAME", false, true},
               {"CARDS", true},
               {"EPOCH", true},
               {"RATE", true},
               {"BUSY", true},
               {"POWER", true},
               {"ENERGY", true},
               {"J A UNIT", true},
               {"AT WORK", true},
               {"STOPS", true}});
  for (const explain::Side& side : sides) {
    const auto rate = [&](double r) { return fmt::format("{} {}/s", FormatCount(r), side.unit); };
    const auto joules = [](double j) { return fmt::format("{:.3g}", j); };
    std::string work, stops;
    if (side.rhythm) {
      work = explain::Watt(side.rhythm->power_mean_w);
      stops = std::to_string(side.rhythm->stalls.size());
      if (side.rhythm->stall_median_s) stops += " × " + DurationText(*side.rhythm->stall_median_s);
    }
    table.Add({{std::to_string(side.job), Tone::kBold},
               {Printable(side.name)},
               {std::to_string(side.cards)},
               {Maybe(side.epoch_s, DurationText)},
               {Printable(Maybe(side.units_per_s, rate))},
               {Maybe(side.busy_ratio, explain::Percent)},
               {Maybe(side.power_w, explain::Watt)},
               {EnergyText(side.energy_j)},
               {Maybe(side.j_per_unit(), joules)},
               {work},
               {stops, Tone::kDim}});
  }
  return table.Render(style, 2);
}

std::string ArmsText(const explain::Decomposition& parts, const TextStyle& style) {
  std::string out = fmt::format("\n  Of {:.1f} ms a step:\n", parts.total_ms);
  Table table({{"MS", true}, {"WHAT", false, true}});
  for (const explain::Share& share : parts.shares) {
    table.Add({{fmt::format("{:+.1f}", share.ms), Tone::kBold}, {share.what}});
  }
  out += table.Render(style, 2);
  if (parts.interaction_ms) {
    out +=
        fmt::format("  The two together: {:+.1f} ms ({}).\n", *parts.interaction_ms,
                    *parts.interaction_ms < 0 ? "they hide each other" : "they add to each other");
  }
  return out + "  " + Toned("Cannot tell: " + parts.cannot_tell, Tone::kDim, style) + "\n";
}

}  // namespace

std::string CompareText(const explain::Comparison& comparison, const explain::Decomposition* parts,
                        const TextStyle& style) {
  std::string out = SidesText(comparison.sides, style);
  for (const explain::Finding& finding : comparison.findings) {
    out += "\n" + FindingText(finding, style);
  }
  if (parts) out += ArmsText(*parts, style);
  return out;
}

}  // namespace stoker::report
