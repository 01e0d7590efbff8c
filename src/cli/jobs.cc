// stoker jobs and stoker job ID.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/books.h"
#include "cli/command.h"
#include "cli/options.h"
#include "query/query.h"
#include "report/json.h"

namespace stoker::cli {

Result<int> JobsCommand(Context& context, const std::vector<std::string>& args) {
  bool all = false;
  int64_t limit = 200;
  std::vector<std::string> states;
  std::string since;
  Options options("jobs", "[--state S] [--since T] [--limit N] [--all]",
                  "What ran and what runs, newest first.");
  options
      .Texts("--state", states,
             "only jobs in this state: queued running succeeded failed stopped lost")
      .Text("--since", since, "only jobs that ran after T: 2026-10-18T06:00:00Z, or 12h")
      .Number("-n,--limit", limit, "at most so many (200)")
      .Flag("--all", all, "every job on record");
  STOKER_PARSE(options, args, context);
  if (limit <= 0) return Invalid("must be above 0", "stoker jobs: --limit");
  ledger::JobFilter filter{.limit =
                               all ? 0 : static_cast<int>(std::min<int64_t>(limit, 1'000'000))};
  for (const std::string& name : states) {
    const auto state = ledger::ParseJobState(name);
    if (!state) {
      return Invalid("no such state", "stoker jobs: --state " + name,
                     "queued, running, succeeded, failed, stopped or lost");
    }
    filter.states.push_back(*state);
  }
  if (!since.empty()) {
    STOKER_ASSIGN(filter.since, ParseSince(since, context.clock));
  }
  STOKER_ASSIGN(const auto books, OpenBooks(context));
  STOKER_ASSIGN(const auto jobs, query::GetJobs(*books, filter, context.clock));
  if (context.json) {
    context.PrintJson(report::JobsJson(jobs));
  } else if (jobs.empty()) {
    context.out("no jobs yet: stoker run -- CMD… starts one\n");
  } else {
    context.out(report::JobsText(jobs, context.style));
  }
  return 0;
}

Result<int> JobCommand(Context& context, const std::vector<std::string>& args) {
  std::string id_text;
  Options options("job", "ID", "Everything about one job.");
  options.Required("ID", id_text, "the job's number");
  STOKER_PARSE(options, args, context);
  STOKER_ASSIGN(const int64_t id, ParseJobId(id_text));
  STOKER_ASSIGN(const auto books, OpenBooks(context));
  STOKER_ASSIGN(const auto detail, query::GetJob(*books, id, context.clock));
  if (context.json) {
    context.PrintJson(report::JobJson(detail));
  } else {
    context.out(report::JobText(detail, context.style));
  }
  return 0;
}

}  // namespace stoker::cli
