#include "cli/command.h"

#include <fmt/core.h>

#include "base/text.h"

namespace stoker::cli {
namespace {

int ExitCode(const Error& error) {
  if (error.code == Code::kInvalid && error.where.starts_with("stoker")) return 2;
  return error.code == Code::kNotFound ? 3 : 1;
}

// Wrong usage says its own place: "stoker jobs: --limit: must be above 0".
void PrintError(const Context& context, const Error& error) {
  const std::string line = error.Line();
  context.err((line.starts_with("stoker") ? line : "stoker: " + line) + "\n");
}

Error UnknownCommand(const std::vector<Command>& commands, const std::string& name) {
  std::vector<std::string> names;
  for (const Command& command : commands) names.push_back(command.name);
  const auto meant = Suggest(name, names);
  return Invalid("no such command", "stoker " + name,
                 meant ? "did you mean 'stoker " + *meant + "'?" : "see stoker --help");
}

}  // namespace

std::vector<Command> Commands() {
  return {
      {"run", "run a command as a job; its exit code becomes ours", RunCommand},
      {"jobs", "what ran and what runs", JobsCommand},
      {"job", "everything about one job", JobCommand},
      {"logs", "what a job printed", LogsCommand},
      {"stop", "end a job", StopCommand},
      {"log", "from inside a job: one line into its run log", LogCommand},
      {"top", "the cards, the host and the jobs, live", TopCommand},
      {"events", "the activity log", EventsCommand},
      {"checkpoints", "checkpoints and where their copies are", CheckpointsCommand},
      {"restore", "bring a checkpoint back", RestoreCommand},
      {"vault", "the state of the copies; verify them", VaultCommand},
      {"explain", "where a job's time, power and accuracy went", ExplainCommand},
      {"compare", "jobs against each other: speed, watts, energy a unit", CompareCommand},
      {"report", "write the notebook of one or more jobs", ReportCommand},
      {"import", "take a log of nvidia-smi or another trainer's run in as a job", ImportCommand},
      {"plan", "capping and parking under a power budget: what if", PlanCommand},
      {"photos", "make demo photos, check a folder of photos", PhotosCommand},
      {"doctor", "what this machine can and cannot do for Stoker", DoctorCommand},
  };
}

std::string HelpText(const std::vector<Command>& commands) {
  std::string out =
      "Stoker: the night shift of a GPU training box.\n\n"
      "usage: stoker [--home DIR] [--json] COMMAND …\n\n";
  for (const Command& command : commands)
    out += fmt::format("  {:<12} {}\n", command.name, command.help);
  out +=
      "\n  --home DIR   where Stoker keeps its books (else $STOKER_HOME, else the user's data "
      "folder)\n"
      "  --json       one JSON object instead of text\n"
      "  --version    the version\n\n"
      "'stoker COMMAND --help' says more. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not "
      "found.\n";
  return out;
}

int Dispatch(Context& context, const std::vector<Command>& commands, const std::string& name,
             const std::vector<std::string>& args) {
  for (const Command& command : commands) {
    if (command.name != name) continue;
    const Result<int> code = command.run(context, args);
    if (code) return *code;
    PrintError(context, code.error());
    return ExitCode(code.error());
  }
  PrintError(context, UnknownCommand(commands, name));
  return 2;
}

Result<int64_t> ParseJobId(const std::string& text) {
  const auto id = ParseInt(text.starts_with("#") ? std::string_view(text).substr(1) : text);
  if (!id || *id <= 0)
    return Invalid("not a job's number", "stoker: " + text, "stoker jobs lists them");
  return *id;
}

Result<WallTime> ParseSince(const std::string& text, const Clock& clock) {
  if (const auto back = ParseDuration(text)) {
    return clock.Now() - Millis(static_cast<int64_t>(back->count() * 1000));
  }
  const auto time = ParseTime(text);
  if (!time) return Invalid("neither a time nor a duration such as 90m", "stoker: --since " + text);
  return *time;
}

}  // namespace stoker::cli
