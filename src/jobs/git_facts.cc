#include "jobs/git_facts.h"

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/process.h"
#include "base/text.h"

namespace stoker::jobs {
namespace {

constexpr Millis kLimit{2000};
constexpr std::string_view kCommit = "# branch.oid ";
constexpr std::string_view kBranch = "# branch.head ";

}  // namespace

std::string GitFacts(const std::string& cwd) {
  Command command;
  // A repository's own settings may name programs to run; this look must not run them.
  command.argv = {"git",
                  "-c",
                  "core.fsmonitor=false",
                  "-C",
                  cwd,
                  "status",
                  "--porcelain=v2",
                  "--branch",
                  "--untracked-files=no",
                  "--ignore-submodules=all"};
  command.environment = {{"PATH=/usr/local/bin:/usr/bin:/bin", "GIT_OPTIONAL_LOCKS=0",
                          "GIT_TERMINAL_PROMPT=0", "LC_ALL=C"}};
  const auto result = RunProgram(command, kLimit, 1 << 20);
  if (!result || !result->status.ok()) return "{}";
  Json json = Json::object();
  bool dirty = false;
  for (const std::string_view line : Split(result->out, '\n')) {
    if (line.starts_with(kCommit)) json["commit"] = line.substr(kCommit.size());
    if (line.starts_with(kBranch)) json["branch"] = line.substr(kBranch.size());
    dirty |= !line.empty() && line.front() != '#';
  }
  if (json.empty()) return "{}";
  json["dirty"] = dirty;
  return DumpJson(json);
}

}  // namespace stoker::jobs
