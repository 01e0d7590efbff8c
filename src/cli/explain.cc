// stoker explain ID and stoker report ID…
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/durable_file.h"
#include "base/file.h"
#include "cli/books.h"
#include "cli/command.h"
#include "cli/explain_job.h"
#include "cli/options.h"
#include "explain/explain.h"
#include "query/query.h"
#include "report/json.h"
#include "report/notebook.h"

namespace stoker::cli {

Result<explain::Explanation> ExplainJob(Context& context, ledger::Ledger& books, int64_t id) {
  STOKER_ASSIGN(auto detail, query::GetJob(books, id, context.clock));
  STOKER_ASSIGN(auto use, query::GetJobUse(books, detail.view.job, context.clock));
  return explain::Explain(std::move(detail), std::move(use));
}

namespace {

constexpr int kNotebookPoints = 600;

Result<report::NotebookJob> NotebookPage(Context& context, ledger::Ledger& books, int64_t id) {
  using ledger::Metric;
  report::NotebookJob page;
  STOKER_ASSIGN(page.explanation, ExplainJob(context, books, id));
  const ledger::Job& job = page.explanation.detail.view.job;
  const auto series = [&](Metric metric) {
    return query::GetJobSeries(books, job, metric, kNotebookPoints, context.clock);
  };
  STOKER_ASSIGN(page.busy, series(Metric::kBusyRatio));
  STOKER_ASSIGN(page.power, series(Metric::kPowerW));
  STOKER_ASSIGN(page.temperature, series(Metric::kTemperatureC));
  STOKER_ASSIGN(page.cpu, series(Metric::kCpuBusyRatio));
  return page;
}

}  // namespace

Result<int> ExplainCommand(Context& context, const std::vector<std::string>& args) {
  std::string id_text;
  Options options("explain", "ID", "Where a job's time, power and accuracy went.");
  options.Required("ID", id_text, "the job's number");
  STOKER_PARSE(options, args, context);
  STOKER_ASSIGN(const int64_t id, ParseJobId(id_text));
  STOKER_ASSIGN(const auto books, OpenBooks(context));
  STOKER_ASSIGN(const auto explanation, ExplainJob(context, *books, id));
  if (context.json) {
    context.PrintJson(report::ExplainJson(explanation));
  } else {
    context.out(report::ExplainText(explanation, context.style));
  }
  return 0;
}

Result<int> ReportCommand(Context& context, const std::vector<std::string>& args) {
  std::vector<std::string> ids;
  std::string path;
  Options options(
      "report", "ID… [-o FILE.html]",
      "Writes the notebook of one or more jobs: one HTML file that opens without a network.");
  options.Rest("ID", ids, "the jobs' numbers", true)
      .Text("-o,--output", path, "the file to write (stoker-report-ID.html)");
  STOKER_PARSE(options, args, context);
  STOKER_ASSIGN(const auto books, OpenBooks(context));
  report::Notebook notebook{.written_at = context.clock.Now()};
  STOKER_ASSIGN(const auto now, query::GetNow(*books, context.clock));
  notebook.box = now.box;
  notebook.simulated = now.simulated;
  for (const std::string& text : ids) {
    STOKER_ASSIGN(const int64_t id, ParseJobId(text));
    STOKER_ASSIGN(auto page, NotebookPage(context, *books, id));
    notebook.jobs.push_back(std::move(page));
  }
  if (path.empty()) path = "stoker-report-" + ids.front() + ".html";
  path = CleanPath(path, context.cwd);
  STOKER_TRY(WriteDurably(path, report::NotebookHtml(notebook)));
  if (context.json) {
    Json json;
    json["schema_version"] = 1;
    json["path"] = path;
    context.PrintJson(json);
  } else {
    context.out(path + "\n");
  }
  return 0;
}

}  // namespace stoker::cli
