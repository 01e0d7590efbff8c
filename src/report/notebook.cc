#include "report/notebook.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "explain/words.h"
#include "report/notebook_figures.h"
#include "report/notebook_style.h"
#include "report/notebook_tables.h"
#include "report/text_parts.h"

namespace stoker::report {
namespace {

const ledger::Job& JobOf(const NotebookJob& page) { return page.explanation.detail.view.job; }

const char* StateKind(ledger::JobState state) {
  switch (StateTone(state)) {
    case Tone::kGood:
      return "good";
    case Tone::kBad:
      return "bad";
    case Tone::kNotice:
      return "notice";
    default:
      return "plain";
  }
}

// "18 October 2026"
std::string DateOf(WallTime time) {
  static constexpr const char* kMonths[] = {"January",   "February", "March",    "April",
                                            "May",       "June",     "July",     "August",
                                            "September", "October",  "November", "December"};
  const std::string text = FormatTime(time);
  if (text.size() < 10) return text;
  const auto month = ParseInt(text.substr(5, 2));
  const auto day = ParseInt(text.substr(8, 2));
  if (!month || *month < 1 || *month > 12 || !day) return text.substr(0, 10);
  return fmt::format("{} {} {}", *day, kMonths[*month - 1], text.substr(0, 4));
}

std::string TitleOf(const Notebook& notebook) {
  if (notebook.jobs.size() == 1) return Name(JobOf(notebook.jobs[0]));
  std::optional<WallTime> first;
  for (const NotebookJob& page : notebook.jobs) {
    const auto& started = JobOf(page).started_at;
    if (started) first = std::min(first.value_or(*started), *started);
  }
  const std::string jobs = explain::Count(static_cast<double>(notebook.jobs.size()), "job", "jobs");
  return first ? jobs + " of " + DateOf(*first) : jobs;
}

std::string Key(const char* name, const std::string& value, const std::string& note) {
  if (value.empty()) return "";
  const std::string small = note.empty() ? "" : "<small>" + Html(note) + "</small>";
  return fmt::format("<div><dt>{}</dt><dd>{}{}</dd></div>\n", name, Html(value), small);
}

// The six figures a person asks for first.
std::string KeysHtml(const NotebookJob& page) {
  const ledger::Job& job = JobOf(page);
  const query::UseTotal& total = page.explanation.use.total;
  const auto& energy = total.gpu_energy_j ? total.gpu_energy_j : job.gpu_energy_j;
  std::string out = "<dl class=\"keys\">\n";
  if (job.started_at) {
    const bool running = !ledger::IsFinal(job.state);
    out += Key("Time", DurationText(page.explanation.detail.view.wall_s),
               running                   ? "so far"
               : EpochsText(job).empty() ? ""
                                         : EpochsText(job) + " epochs");
  }
  if (job.best) {
    std::string note = job.best->metric;
    if (job.best->epoch) note += ", epoch " + explain::EpochName(*job.best->epoch);
    out += Key("Best", explain::MetricValue(job.best->value), note);
  }
  out += Key("GPU energy", EnergyText(energy),
             energy && total.power_mean_w ? explain::Watt(*total.power_mean_w) + " a card" : "");
  if (total.busy_mean_ratio) {
    out += Key(
        "Busy", explain::Percent(*total.busy_mean_ratio),
        explain::Count(static_cast<double>(page.explanation.use.cards.size()), "card", "cards"));
  }
  if (page.explanation.use.host.cpu_mean_ratio) {
    out += Key("Host's cores", explain::Percent(*page.explanation.use.host.cpu_mean_ratio), "busy");
  }
  const auto& checkpoints = page.explanation.detail.checkpoints;
  const auto safe = std::count_if(checkpoints.begin(), checkpoints.end(), [](const auto& view) {
    return view.checkpoint.state == ledger::CheckpointState::kSafe;
  });
  if (!checkpoints.empty()) {
    out += Key("Checkpoints kept", fmt::format("{} of {}", safe, checkpoints.size()),
               "verified off the job's folder");
  }
  return out + "</dl>\n";
}

std::string FiguresHtml(const std::vector<Figure>& figures, int& number) {
  std::string out;
  for (const Figure& figure : figures) {
    out += fmt::format("<figure>\n{}{}{}<figcaption><b>Fig. {}</b> {}</figcaption>\n</figure>\n",
                       figure.grid ? "<div class=\"grid\">\n" : "", figure.svg,
                       figure.grid ? "</div>\n" : "", number++, Html(figure.caption));
  }
  return out;
}

std::string JobHtml(const NotebookJob& page, bool titled, int& figure) {
  const ledger::Job& job = JobOf(page);
  std::string out =
      fmt::format("<section class=\"job\" id=\"job-{}\">\n<div class=\"jobhead\">", job.id);
  if (titled) out += fmt::format("<h2>{}</h2>", Html(Name(job)));
  out += fmt::format("<span class=\"id\">job {}</span><span class=\"state {}\">{}</span>", job.id,
                     StateKind(job.state), ledger::JobStateName(job.state));
  if (job.started_at) {
    out += fmt::format("<span class=\"where\">{} UTC{}</span>", MinuteOf(job.started_at),
                       job.ended_at ? " to " + MinuteOf(job.ended_at) + " UTC" : "");
  }
  out += "</div>\n" + KeysHtml(page);
  out += "<h3>What happened</h3>\n" + FindingsHtml(page);
  const std::string learning = FiguresHtml(LearningFigures(page), figure);
  if (!learning.empty()) out += "<h3>What the model learned</h3>\n" + learning;
  const std::string machine = FiguresHtml(MachineFigures(page), figure);
  if (!machine.empty()) out += "<h3>What the machine did</h3>\n" + machine;
  out += "<h3>Cards</h3>\n" + UseHtml(page);
  out += "<h3>Checkpoints</h3>\n" + CheckpointsHtml(page);
  return out + "<h3>The job</h3>\n" + FactsHtml(page) + "</section>\n";
}

std::string ContentsHtml(const Notebook& notebook) {
  if (notebook.jobs.size() < 2) return "";
  std::string out = "<ol class=\"contents\">\n";
  for (const NotebookJob& page : notebook.jobs) {
    const ledger::Job& job = JobOf(page);
    std::vector<std::string> facts = {std::string(ledger::JobStateName(job.state))};
    if (job.started_at) facts.push_back(DurationText(page.explanation.detail.view.wall_s));
    if (job.best) facts.push_back(BestText(job.best, true));
    out += fmt::format("<li><a href=\"#job-{}\">{}</a> <span>{}</span></li>\n", job.id,
                       Html(Name(job)), Html(Join(facts, ", ")));
  }
  return out + "</ol>\n";
}

std::string HeadHtml(const Notebook& notebook) {
  std::string where;
  if (notebook.box && !notebook.box->hostname.empty()) where = notebook.box->hostname + ", ";
  where += "written " + SecondOf(notebook.written_at) + " UTC";
  std::string out = fmt::format("<header>\n<h1>{}</h1>\n<p class=\"where\">{}</p>\n",
                                Html(TitleOf(notebook)), Html(where));
  if (notebook.simulated) {
    out += "<p class=\"simulated\">Simulated cards: the figures are a simulation's</p>\n";
  }
  return out + ContentsHtml(notebook) + "</header>\n";
}

// Nothing may be loaded or run from this file, whatever a name in it says.
constexpr const char* kPolicy = "default-src 'none'; style-src 'unsafe-inline'";

constexpr const char* kFooter =
    "<footer><p>Busy is the share of time with one or more kernels running on a card: time, not "
    "effort. "
    "Energy is the card's own counter where it has one, else power times the time each read stands "
    "for. "
    "Throttling counts only reasons that cost speed. A dash is a value nobody read. All times are "
    "UTC.</p><p>Written by Stoker from its own ledger.</p></footer>\n";

}  // namespace

std::string NotebookHtml(const Notebook& notebook) {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n<title>{} · Stoker</title>\n"
      "<style>{}</style>\n</head>\n<body>\n",
      kPolicy, Html(TitleOf(notebook)), kNotebookStyle);
  out += HeadHtml(notebook);
  int figure = 1;
  for (const NotebookJob& page : notebook.jobs) {
    out += JobHtml(page, notebook.jobs.size() > 1, figure);
  }
  return out + kFooter + "</body>\n</html>\n";
}

}  // namespace stoker::report
