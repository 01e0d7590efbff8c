// stoker events: the activity log.
#include <nlohmann/json.hpp>

#include "cli/books.h"
#include "cli/command.h"
#include "cli/options.h"
#include "report/json.h"

namespace stoker::cli {

Result<int> EventsCommand(Context& context, const std::vector<std::string>& args) {
  std::string since, kind, job;
  int64_t limit = 200;
  Options options("events", "[--since T] [--job ID] [--kind PREFIX] [--limit N]",
                  "The activity log: jobs, checkpoints, faults, limits, alerts.");
  options.Text("--since", since, "only after T: 2026-10-18T06:00:00Z, or 12h")
      .Text("--job", job, "only of this job")
      .Text("--kind", kind, "only kinds that begin so: checkpoint.")
      .Number("-n,--limit", limit, "the newest so many (200)");
  STOKER_PARSE(options, args, context);
  if (limit <= 0 || limit > 1'000'000)
    return Invalid("out of range 1 to 1000000", "stoker events: --limit");
  ledger::EventFilter filter{.kind_prefix = kind, .limit = static_cast<int>(limit)};
  if (!since.empty()) {
    STOKER_ASSIGN(filter.since, ParseSince(since, context.clock));
  }
  if (!job.empty()) {
    STOKER_ASSIGN(filter.job, ParseJobId(job));
  }
  STOKER_ASSIGN(const auto books, OpenBooks(context));
  STOKER_ASSIGN(const auto events, books->Events(filter));
  if (context.json) {
    context.PrintJson(report::EventsJson(events));
  } else {
    context.out(report::EventsText(events, context.style));
  }
  return 0;
}

}  // namespace stoker::cli
