// The table of commands: one row and one file each.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/context.h"

namespace stoker::cli {

struct Command {
  std::string name;
  std::string help;  // one line
  // The exit code, or an error to print. An error of code kInvalid whose `where` begins with
  // "stoker" is wrong usage.
  std::function<Result<int>(Context&, const std::vector<std::string>& args)> run;
};

Result<int> CheckpointsCommand(Context& context, const std::vector<std::string>& args);
Result<int> CompareCommand(Context& context, const std::vector<std::string>& args);
Result<int> DoctorCommand(Context& context, const std::vector<std::string>& args);
Result<int> EventsCommand(Context& context, const std::vector<std::string>& args);
Result<int> ExplainCommand(Context& context, const std::vector<std::string>& args);
Result<int> ImportCommand(Context& context, const std::vector<std::string>& args);
Result<int> JobCommand(Context& context, const std::vector<std::string>& args);
Result<int> JobsCommand(Context& context, const std::vector<std::string>& args);
Result<int> LogCommand(Context& context, const std::vector<std::string>& args);
Result<int> LogsCommand(Context& context, const std::vector<std::string>& args);
Result<int> PhotosCommand(Context& context, const std::vector<std::string>& args);
Result<int> PlanCommand(Context& context, const std::vector<std::string>& args);
Result<int> ReportCommand(Context& context, const std::vector<std::string>& args);
Result<int> RestoreCommand(Context& context, const std::vector<std::string>& args);
Result<int> RunCommand(Context& context, const std::vector<std::string>& args);
Result<int> StopCommand(Context& context, const std::vector<std::string>& args);
Result<int> TopCommand(Context& context, const std::vector<std::string>& args);
Result<int> VaultCommand(Context& context, const std::vector<std::string>& args);

std::vector<Command> Commands();

// "usage" text of the whole program.
std::string HelpText(const std::vector<Command>& commands);
// Runs one command and prints its error; the exit code of the process: 0 done, 1 failed, 2 wrong
// usage, 3 not found.
int Dispatch(Context& context, const std::vector<Command>& commands, const std::string& name,
             const std::vector<std::string>& args);

// "17" or "#17" as a job's id.
Result<int64_t> ParseJobId(const std::string& text);
// A time as people give it to --since: RFC 3339, or a duration back from now ("90m").
Result<WallTime> ParseSince(const std::string& text, const Clock& clock);

}  // namespace stoker::cli
