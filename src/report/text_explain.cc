// The findings of a job as text.
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

std::string HeldBack(const query::CardUse& card) {
  std::vector<std::string> parts;
  for (const query::ThrottleUse& use : card.throttle) {
    parts.push_back(use.seconds ? fmt::format("{} {}", use.reason, DurationText(*use.seconds))
                                : fmt::format("{} {}×", use.reason, use.samples));
  }
  return Join(parts, ", ");
}

std::string CardsText(const query::JobUse& use, const TextStyle& style) {
  if (use.cards.empty()) return "";
  Table table({{"GPU", true},
               {"BUSY", true},
               {"POWER", true},
               {"PEAK", true},
               {"ENERGY", true},
               {"HOTTEST", true},
               {"MARGIN", true},
               {"MEMORY", true},
               {"READS", true},
               {"HELD BACK BY", false, true}});
  const auto watts = [](double w) { return explain::Watt(w); };
  const auto degrees = [](double c) { return fmt::format("{:.0f} °C", c); };
  for (const query::CardUse& card : use.cards) {
    std::string reads = FormatCount(static_cast<double>(card.samples));
    if (card.unread > 0) reads += fmt::format(" (+{} lost)", card.unread);
    table.Add({{std::to_string(card.gpu), Tone::kBold},
               {Maybe(card.busy_mean_ratio, explain::Percent)},
               {Maybe(card.power_mean_w, watts)},
               {Maybe(card.power_peak_w, watts)},
               {EnergyText(card.energy_j)},
               {Maybe(card.temperature_max_c, degrees)},
               {Maybe(card.margin_min_c, degrees)},
               {Maybe(card.memory_peak_bytes, FormatBytes)},
               {reads, card.unread > 0 ? Tone::kNotice : Tone::kDim},
               {HeldBack(card), Tone::kNotice}});
  }
  return table.Render(style, 2);
}

}  // namespace

std::string ExplainText(const explain::Explanation& explanation, const TextStyle& style) {
  const ledger::Job& job = explanation.detail.view.job;
  std::string out = Toned(fmt::format("#{}  {}", job.id, Name(job)), Tone::kBold, style) + "  " +
                    Toned(ledger::JobStateName(job.state), StateTone(job.state), style);
  if (job.started_at) {
    out += Toned(fmt::format("  {} UTC, {}", MinuteOf(job.started_at),
                             DurationText(explanation.detail.view.wall_s)),
                 Tone::kDim, style);
  }
  out += "\n\n" + CardsText(explanation.use, style);
  if (!explanation.use.cards.empty()) out += "\n";
  if (explanation.findings.empty()) return out + "  Nothing to say yet.\n";
  for (size_t i = 0; i < explanation.findings.size(); ++i) {
    if (i > 0) out += "\n";
    out += FindingText(explanation.findings[i], style);
  }
  return out;
}

}  // namespace stoker::report
