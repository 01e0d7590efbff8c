// stoker import nvidia-smi FILE and stoker import run DIR: other people's logs in.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"
#include "cli/books.h"
#include "cli/command.h"
#include "cli/daemon.h"
#include "cli/options.h"
#include "jobs/import.h"

namespace stoker::cli {
namespace {

constexpr const char* kUsage =
    "usage: stoker import nvidia-smi FILE [--name N] [--columns A,B,…] [--utc-offset +HH:MM]\n"
    "       stoker import run DIR [--sidecar FILE] [--name N] [--columns A,B,…] [--utc-offset "
    "+HH:MM]\n";

// "+02:00": what has to be taken from the log's local times to get UTC.
Result<double> ParseOffset(const std::string& text) {
  if (text.empty()) return 0.0;
  const auto then = ParseTime("2026-01-01T12:00:00" + text);
  if (!then) return Invalid("not an offset such as +02:00", "stoker import: --utc-offset " + text);
  return static_cast<double>((*then - *ParseTime("2026-01-01T12:00:00Z")).count()) / 1000;
}

// The keeper takes the folder up within a second; a command that follows must find the job.
Status WaitUntilTaken(Context& context, int64_t id) {
  constexpr Millis kLook{50};
  for (Millis waited{0}; waited < Millis{60'000}; waited += kLook) {
    STOKER_ASSIGN(const auto books, OpenBooks(context));
    const auto job = books->JobById(id);
    if (job && ledger::IsFinal(job->state)) {
      const auto mark = books->Mark(fmt::format("import/{}/sidecar", id));
      if (!FileExists(context.home.job(id) + "/sidecar.csv") || (mark && *mark)) return Ok();
    }
    if (context.interrupted.WaitFor(kLook)) break;
  }
  return Timeout("the daemon has not taken the import up yet", "job " + std::to_string(id),
                 "see serve.log");
}

}  // namespace

Result<int> ImportCommand(Context& context, const std::vector<std::string>& args) {
  const std::string verb = args.empty() ? "" : args.front();
  if (verb == "--help" || verb == "-h") {
    context.out(kUsage);
    return 0;
  }
  if (verb != "run" && verb != "nvidia-smi") {
    return Invalid(verb.empty() ? "say what to import" : "cannot import " + verb, "stoker import",
                   "run or nvidia-smi");
  }
  jobs::ImportRequest request{.user = context.user};
  std::string path, offset;
  Options options(
      "import " + verb, verb == "run" ? "DIR [--sidecar FILE] [--name N]" : "FILE [--name N]",
      verb == "run" ? "Takes another trainer's run, with the cards' log beside it, in as a job."
                    : "Takes a log of nvidia-smi --query-gpu=… --format=csv in as a job.");
  options.Required(verb == "run" ? "DIR" : "FILE", path,
                   verb == "run" ? "the run's folder" : "the log");
  if (verb == "run")
    options.Text("--sidecar", request.sidecar, "a log of nvidia-smi of the same time");
  options.Text("--name", request.name, "name of the job")
      .Text("--columns", request.sidecar_columns, "the log's columns, where it has no header line")
      .Text("--utc-offset", offset, "time zone of the log's times, such as +02:00 (UTC)");
  STOKER_PARSE(options, std::vector<std::string>(args.begin() + 1, args.end()), context);
  STOKER_ASSIGN(request.utc_offset_s, ParseOffset(offset));
  (verb == "run" ? request.run_dir : request.sidecar) = CleanPath(path, context.cwd);
  if (!request.sidecar.empty()) request.sidecar = CleanPath(request.sidecar, context.cwd);
  STOKER_ASSIGN(const auto imported, jobs::Import(context.home, request, context.clock));
  STOKER_TRY(WaitUntilTaken(context, imported.job.id));
  if (context.json) {
    Json json;
    json["schema_version"] = 1;
    json["id"] = imported.job.id;
    json["samples"] = imported.samples;
    json["dropped"] = imported.dropped;
    json["guessed_cards"] = imported.guessed_cards;
    context.PrintJson(json);
    return 0;
  }
  context.out(fmt::format("job {}: {} samples; stoker explain {} says what they show\n",
                          imported.job.id, FormatCount(static_cast<double>(imported.samples)),
                          imported.job.id));
  if (imported.dropped > 0)
    context.err(
        fmt::format("stoker: {} lines could not be read and were left out\n", imported.dropped));
  if (imported.guessed_cards)
    context.err("stoker: the log names no cards: its rows were dealt round to them in order\n");
  return 0;
}

}  // namespace stoker::cli
