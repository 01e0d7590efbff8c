#include "jobs/launch.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/proc_info.h"
#include "base/text.h"
#include "jobs/git_facts.h"
#include "jobs/redact.h"

namespace stoker::jobs {
namespace {

constexpr Millis kStartLimit{30000};

std::optional<std::string> Variable(const std::vector<std::string>& environment,
                                    const std::string& name) {
  for (const std::string& entry : environment) {
    if (entry.starts_with(name + "=")) return entry.substr(name.size() + 1);
  }
  return std::nullopt;
}

void SetVariable(std::vector<std::string>& environment, const std::string& name,
                 const std::string& value) {
  std::erase_if(environment, [&](const std::string& e) { return e.starts_with(name + "="); });
  environment.push_back(name + "=" + value);
}

// Everything that can be known to fail, before anything is written.
Status CheckRequest(const LaunchRequest& request) {
  if (request.command.empty() || request.command[0].empty()) return Invalid("no command was given");
  for (const std::string& argument : request.command) {
    if (argument.find('\0') != std::string::npos) return Invalid("an argument with a zero byte");
  }
  if (request.restarts < 0) return Invalid("fewer than no restarts were asked for");
  const auto cwd = StatFile(request.cwd);
  if (!cwd) return cwd.error().In("working folder");
  if (!cwd->is_directory()) return Invalid("the working folder is not a folder", request.cwd);
  if (::access(request.cwd.c_str(), X_OK) != 0)
    return Denied("the working folder may not be entered", request.cwd);
  const auto program = FindProgram(request.command[0], request.environment, request.cwd);
  return program ? Ok() : Status(program.error());
}

// The run log of the caller's choice, unless it is an outer job's own.
std::string RunLogPath(const LaunchRequest& request, const std::string& folder) {
  const auto said = Variable(request.environment, "STOKER_RUN_LOG");
  const bool inherited = Variable(request.environment, "STOKER_JOB").has_value();
  if (said && !said->empty() && !inherited) return CleanPath(*said, request.cwd);
  return JoinPath(folder, "run.jsonl");
}

std::vector<std::string> JobEnvironment(const LaunchRequest& request, const JobSpec& spec,
                                        const std::string& home) {
  std::vector<std::string> environment;
  for (const std::string& entry : request.environment) {
    const size_t equals = entry.find('=');
    const bool whole = equals != 0 && equals != std::string::npos;
    if (whole && entry.find('\0') == std::string::npos) environment.push_back(entry);
  }
  SetVariable(environment, "STOKER_JOB", std::to_string(spec.id));
  SetVariable(environment, "STOKER_RUN_LOG", spec.run_log);
  SetVariable(environment, "STOKER_HOME", home);
  if (!Variable(environment, "PYTHONUNBUFFERED")) SetVariable(environment, "PYTHONUNBUFFERED", "1");
  if (spec.gpus.empty()) return environment;
  std::vector<std::string> gpus;
  for (const int gpu : spec.gpus) gpus.push_back(std::to_string(gpu));
  SetVariable(environment, "CUDA_VISIBLE_DEVICES", Join(gpus, ","));
  SetVariable(environment, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
  return environment;
}

JobSpec MakeSpec(const LaunchRequest& request, int64_t id, const std::string& folder,
                 const std::string& home, const Clock& clock) {
  JobSpec spec;
  spec.id = id;
  spec.name = request.name.empty() ? BaseName(request.command[0]) : request.name;
  spec.name = Printable(spec.name).substr(0, 200);
  spec.command = request.command;
  spec.cwd = request.cwd;
  spec.user = UserName(::geteuid());
  spec.gpus = request.gpus;
  spec.restarts = request.restarts;
  spec.run_log = RunLogPath(request, folder);
  spec.environment = JobEnvironment(request, spec, home);
  spec.environment_json = RedactedEnvironment(spec.environment);
  spec.git_json = GitFacts(request.cwd);
  spec.created_at = clock.Now();
  return spec;
}

// What the supervisor said before it gave up.
std::string LastWords(const std::string& folder) {
  const auto text = ReadFile(JoinPath(folder, "shim.log"), 64 << 10);
  if (!text) return "";
  const auto lines = Split(Trim(*text), '\n');
  return lines.empty() ? "" : Printable(lines.back());
}

// The program's first process leaves once the supervisor has begun, which lives on in a session of
// its own and is nobody's child.
Status StartShim(const std::string& folder, const std::string& shim_program) {
  const std::string log_path = JoinPath(folder, "shim.log");
  STOKER_ASSIGN(const Fd log, OpenFile(log_path, O_WRONLY | O_APPEND | O_CREAT, 0644));
  Command command;
  command.argv = {shim_program, folder};
  command.environment = {{"PATH=/usr/local/bin:/usr/bin:/bin"}};
  command.cwd = "/";
  command.stdout_fd = log.get();
  command.stderr_fd = log.get();
  command.new_session = true;
  STOKER_ASSIGN(Process process, Process::Start(command));
  STOKER_ASSIGN(const auto status, process.Wait(kStartLimit));
  if (!status) {
    process.Detach();
    return Timeout("the supervisor has not begun within 30 s", folder, "is the disk very busy?");
  }
  // Killed, but only after the job had begun: its folder tells how it ended.
  if (status->ok() || ReadShim(folder)) return Ok();
  const std::string words = LastWords(folder);
  return Internal(words.empty() ? "the supervisor ended before it began" : words, folder);
}

}  // namespace

Result<Launched> Launch(const Home& home, const LaunchRequest& given,
                        const std::string& shim_program, const Clock& clock) {
  STOKER_ASSIGN(const std::string here, CurrentDir());
  const Home where(CleanPath(home.root(), here));
  LaunchRequest request = given;
  request.cwd = CleanPath(request.cwd, here);
  STOKER_TRY(CheckRequest(request));
  const auto shim = FindProgram(shim_program, std::nullopt, "");
  if (!shim) return shim.error().In("supervisor");

  STOKER_ASSIGN(const auto created, NewJobFolder(where.jobs()));
  const auto& [id, folder] = created;
  const Status written = WriteSpec(folder, MakeSpec(request, id, folder, where.root(), clock));
  if (!written) {
    Ignore(RemoveTree(folder));
    return written.error();
  }
  const Status started = StartShim(folder, CleanPath(*shim, here));
  if (!started && started.error().code != Code::kTimeout) {
    JobEnd end;
    end.ended_at = clock.Now();
    end.reason = "its supervisor could not begin: " + started.error().what;
    Ignore(WriteEnd(folder, end));
    return started.error();
  }
  if (!started) return started.error();
  return Launched{id, folder};
}

}  // namespace stoker::jobs
