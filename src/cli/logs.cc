// stoker logs ID and stoker stop ID.
#include <fmt/core.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/books.h"
#include "cli/command.h"
#include "cli/options.h"
#include "jobs/launch.h"

namespace stoker::cli {
namespace {

// The folder of a launched job; imported and adopted jobs have none.
Result<std::string> FolderOf(Context& context, int64_t id) {
  const std::string folder = context.home.job(id);
  if (FileExists(folder + "/job.json")) return folder;
  STOKER_ASSIGN(const auto books, OpenBooks(context));
  STOKER_TRY(books->JobById(id));
  return NotFound("this job was not started by stoker run: its output is not kept here",
                  "job " + std::to_string(id));
}

}  // namespace

Result<int> LogsCommand(Context& context, const std::vector<std::string>& args) {
  std::string id_text;
  bool follow = false;
  Options options("logs", "ID [-f]", "What a job printed.");
  options.Required("ID", id_text, "the job's number")
      .Flag("-f,--follow", follow, "go on until the job ends");
  STOKER_PARSE(options, args, context);
  STOKER_ASSIGN(const int64_t id, ParseJobId(id_text));
  STOKER_ASSIGN(const std::string folder, FolderOf(context, id));
  const auto print = [&](std::string_view text, bool is_stderr) {
    is_stderr ? context.err(text) : context.out(text);
  };
  if (!follow) {
    STOKER_TRY(jobs::PrintOutput(folder, print));
    return 0;
  }
  const auto end = jobs::Follow(folder, print, [&] { return context.interrupted.stopped(); });
  if (!end && !context.interrupted.stopped()) return end.error();
  return 0;
}

Result<int> StopCommand(Context& context, const std::vector<std::string>& args) {
  std::string id_text;
  int64_t grace_s = context.settings.jobs_grace_s;
  Options options("stop", "ID [--grace S]",
                  "Ends a job: SIGTERM to its whole tree, SIGKILL after the grace.");
  options.Required("ID", id_text, "the job's number")
      .Number("--grace", grace_s, "seconds the job has to end by itself");
  STOKER_PARSE(options, args, context);
  if (grace_s < 0 || grace_s > 86400)
    return Invalid("out of range 0 to 86400", "stoker stop: --grace");
  STOKER_ASSIGN(const int64_t id, ParseJobId(id_text));
  STOKER_ASSIGN(const std::string folder, FolderOf(context, id));
  STOKER_TRY(jobs::Stop(folder, Millis(grace_s * 1000), context.user, context.clock));
  const auto end = jobs::Follow(
      folder, [](std::string_view, bool) {}, [&] { return context.interrupted.stopped(); });
  if (!end) return end.error();
  WaitUntilRecorded(context, id);
  if (context.json) {
    context.out(fmt::format("{{\"schema_version\": 1, \"id\": {}, \"state\": \"{}\"}}\n", id,
                            ledger::JobStateName(end->state)));
  } else {
    context.out(fmt::format("job {} {}\n", id, ledger::JobStateName(end->state)));
  }
  return 0;
}

}  // namespace stoker::cli
