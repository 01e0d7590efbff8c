#include "report/notebook_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "explain/words.h"
#include "report/text_parts.h"

namespace stoker::report {
namespace {

constexpr size_t kMostCheckpoints = 60;

std::string TableCell(const std::string& text, const char* kind) {
  if (text.empty())
    return fmt::format("<td class=\"{}\"><span class=\"absent\">–</span></td>", kind);
  return fmt::format("<td class=\"{}\">{}</td>", kind, Html(text));
}

template <typename Format>
std::string Number(const std::optional<double>& value, const Format& format) {
  return TableCell(value ? format(*value) : std::string(), "n");
}

std::string Degrees(double c) { return fmt::format("{:.0f} °C", c); }

std::string Fact(const char* name, const std::string& value, bool code = false) {
  if (value.empty()) return "";
  const std::string text = code ? "<code>" + Html(value) + "</code>" : Html(value);
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, text);
}

std::string GitText(const std::string& git_json) {
  const Result<Json> git = ParseJson(git_json.empty() ? "{}" : git_json, "git");
  if (!git) return "";
  std::string text = JsonString(*git, "commit").value_or("");
  if (text.size() > 12) text.resize(12);
  const std::string branch = JsonString(*git, "branch").value_or("");
  if (!branch.empty()) text += (text.empty() ? "" : " on ") + branch;
  if (JsonBool(*git, "dirty").value_or(false)) text += ", with uncommitted changes";
  return text;
}

std::string EndText(const ledger::Job& job) {
  std::string text = std::string(ledger::JobStateName(job.state));
  if (job.signal) text += fmt::format(", signal {}", *job.signal);
  if (job.exit_code) text += fmt::format(", exit code {}", *job.exit_code);
  if (!job.reason.empty()) text += ": " + job.reason;
  return text;
}

// "power_cap 15×, hw_thermal 4× (2.5 s)"
std::string HeldBack(const query::CardUse& card) {
  std::vector<std::string> parts;
  for (const query::ThrottleUse& use : card.throttle) {
    std::string text =
        fmt::format("{} {}×", use.reason, FormatCount(static_cast<double>(use.samples)));
    if (use.seconds) text += fmt::format(" ({})", DurationText(*use.seconds));
    parts.push_back(std::move(text));
  }
  return Join(parts, ", ");
}

std::string CardRow(const query::CardUse& card) {
  std::string reads = FormatCount(static_cast<double>(card.samples));
  if (card.unread > 0) reads += fmt::format(" (+{} unread)", card.unread);
  return "<tr>" + TableCell(std::to_string(card.gpu), "n") +
         Number(card.busy_mean_ratio, explain::Percent) + Number(card.power_mean_w, explain::Watt) +
         Number(card.power_peak_w, explain::Watt) + TableCell(EnergyText(card.energy_j), "n") +
         Number(card.temperature_max_c, Degrees) + Number(card.margin_min_c, Degrees) +
         Number(card.memory_peak_bytes, FormatBytes) + TableCell(reads, "n") +
         TableCell(HeldBack(card), "") + "</tr>\n";
}

std::string TotalRow(const query::UseTotal& total) {
  const std::string reads = FormatCount(static_cast<double>(total.samples));
  return "<tr class=\"total\">" + TableCell("all", "n") +
         Number(total.busy_mean_ratio, explain::Percent) +
         Number(total.power_mean_w, explain::Watt) + Number(total.power_peak_w, explain::Watt) +
         TableCell(EnergyText(total.gpu_energy_j), "n") + "<td></td><td></td><td></td>" +
         TableCell(reads, "n") + "<td></td></tr>\n";
}

const char* StateKind(ledger::CheckpointState state) {
  using ledger::CheckpointState;
  if (state == CheckpointState::kSafe) return "good";
  if (state == CheckpointState::kDamaged) return "bad";
  return state == CheckpointState::kSuperseded || state == CheckpointState::kGone ? "" : "notice";
}

std::string Copies(const query::CheckpointView& view) {
  std::vector<std::string> copies;
  for (const ledger::Copy& copy : view.copies) {
    copies.push_back(copy.store + ":" + copy.key + (copy.verified_at ? "" : " (not verified)"));
  }
  if (!view.checkpoint.reason.empty()) copies.push_back(view.checkpoint.reason);
  return Join(copies, ", ");
}

std::optional<WallTime> VerifiedAt(const query::CheckpointView& view) {
  std::optional<WallTime> first;
  for (const ledger::Copy& copy : view.copies) {
    if (copy.verified_at) first = std::min(first.value_or(*copy.verified_at), *copy.verified_at);
  }
  return first;
}

std::string CheckpointRow(const query::CheckpointView& view) {
  const ledger::Checkpoint& c = view.checkpoint;
  const bool known = c.role != ledger::CheckpointRole::kUnknown;
  const std::string role = known ? std::string(ledger::CheckpointRoleName(c.role)) : "";
  return "<tr>" + TableCell(BaseName(c.path) + (c.pinned ? " (pinned)" : ""), "file") +
         TableCell(role, "") + TableCell(c.epoch ? explain::EpochName(*c.epoch) : "", "n") +
         TableCell(FormatBytes(static_cast<double>(c.bytes)), "n") +
         TableCell(DayAndMinute(c.seen_at), "n") +
         TableCell(std::string(ledger::CheckpointStateName(c.state)), StateKind(c.state)) +
         TableCell(Copies(view), "path") + TableCell(DayAndMinute(VerifiedAt(view)), "n") +
         TableCell(c.sha256.substr(0, 12), "hash") + "</tr>\n";
}

}  // namespace

std::string Html(const std::string& text) { return EscapeHtml(Printable(text)); }

std::string FactsHtml(const NotebookJob& page) {
  const query::JobDetail& detail = page.explanation.detail;
  const ledger::Job& job = detail.view.job;
  std::string out = "<dl class=\"facts\">\n";
  out += Fact("Command", Join(job.command, " "), true);
  out += Fact("Folder", job.cwd, true);
  out += Fact("User", job.user);
  out += Fact("Origin", std::string(ledger::JobOriginName(job.origin)));
  out += Fact("Code", GitText(job.git_json));
  out += Fact("Cards", job.gpus.empty() ? "none" : "GPU " + GpuRanges(job.gpus));
  if (!page.explanation.use.cards.empty()) out += Fact("Model", page.explanation.use.cards[0].name);
  if (job.started_at) out += Fact("Started", SecondOf(*job.started_at) + " UTC");
  if (job.ended_at) out += Fact("Ended", SecondOf(*job.ended_at) + " UTC");
  out += Fact("State", EndText(job));
  out += Fact("Epochs", EpochsText(job));
  if (detail.attempts.size() > 1) out += Fact("Attempts", std::to_string(detail.attempts.size()));
  out += Fact("Run log", job.run_log, true);
  return out + "</dl>\n";
}

std::string UseHtml(const NotebookJob& page) {
  const query::JobUse& use = page.explanation.use;
  if (use.cards.empty()) return "<p>This job used no card that Stoker reads.</p>\n";
  std::string out =
      "<div class=\"scroll\"><table>\n<tr><th class=\"n\">GPU</th><th class=\"n\">busy</th>"
      "<th class=\"n\">power</th><th class=\"n\">peak</th><th class=\"n\">energy</th>"
      "<th class=\"n\">hottest</th><th class=\"n\">least margin</th><th class=\"n\">most "
      "memory</th>"
      "<th class=\"n\">reads</th><th>held back by</th></tr>\n";
  for (const query::CardUse& card : use.cards) out += CardRow(card);
  if (use.cards.size() > 1) out += TotalRow(use.total);
  return out + "</table></div>\n";
}

std::string CheckpointsHtml(const NotebookJob& page) {
  const auto& all = page.explanation.detail.checkpoints;
  if (all.empty()) return "<p>No checkpoint was seen.</p>\n";
  std::string out =
      "<div class=\"scroll\"><table>\n<tr><th>file</th><th>role</th><th class=\"n\">epoch</th>"
      "<th class=\"n\">size</th><th class=\"n\">seen (UTC)</th><th>state</th><th>copy</th>"
      "<th class=\"n\">verified</th><th>sha256</th></tr>\n";
  const size_t from = all.size() > kMostCheckpoints ? all.size() - kMostCheckpoints : 0;
  for (size_t i = from; i < all.size(); ++i) out += CheckpointRow(all[i]);
  out += "</table></div>\n";
  if (from > 0) out += fmt::format("<p class=\"where\">{} earlier ones are on record.</p>\n", from);
  return out;
}

std::string FindingsHtml(const NotebookJob& page) {
  const auto& findings = page.explanation.findings;
  if (findings.empty()) return "<p>There is nothing to say yet.</p>\n";
  std::string out = "<ol class=\"findings\">\n";
  for (const explain::Finding& finding : findings) {
    const std::string kind = finding.severity == "warning" || finding.severity == "notice"
                                 ? finding.severity
                                 : std::string("info");
    out += fmt::format("<li><span class=\"sev {0}\">{0}</span><div><p>{1}</p>", kind,
                       Html(finding.text));
    if (!finding.cannot_tell.empty()) {
      out += fmt::format("<p class=\"cannot\">Not told by these numbers: {}</p>",
                         Html(finding.cannot_tell));
    }
    out += "</div></li>\n";
  }
  return out + "</ol>\n";
}

}  // namespace stoker::report
