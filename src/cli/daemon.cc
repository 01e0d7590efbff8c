#include "cli/daemon.h"

#include <fcntl.h>

#include "base/process.h"
#include "base/text.h"

namespace stoker::cli {
namespace {

constexpr Millis kStartLimit{5000};
constexpr Millis kLook{20};

// The last line of the daemon's log: what it died of.
std::string LastLogLine(const Home& home) {
  const auto text = ReadFile(home.log_file());
  if (!text) return {};
  const auto lines = Split(Trim(*text), '\n');
  return std::string(lines.back());
}

}  // namespace

Result<FileLock> TakeServeLock(const Home& home) {
  STOKER_TRY(MakeDirs(home.root(), 0750));
  return FileLock::Take(home.root() + "/serve.lock");
}

bool DaemonRuns(const Home& home) {
  if (!FileExists(home.root() + "/serve.lock")) return false;
  const auto lock = TakeServeLock(home);
  return !lock && lock.error().code == Code::kUnavailable;
}

std::optional<std::string> DaemonAddress(const Home& home) {
  const auto text = ReadFile(home.address_file(), 256);
  if (!text || !DaemonRuns(home)) return std::nullopt;
  return std::string(Trim(*text));
}

Status EnsureDaemon(Context& context) {
  const Home& home = context.home;
  if (DaemonRuns(home)) return Ok();
  STOKER_TRY(MakeDirs(home.root(), 0750));
  STOKER_ASSIGN(const Fd log, OpenFile(home.log_file(), O_WRONLY | O_CREAT | O_APPEND, 0640));
  Command command;
  command.argv = {context.bin_dir + "/stoker", "--home", home.root(), "serve", "--any-port"};
  command.environment = context.environment;
  command.cwd = "/";
  command.stdout_fd = log.get();
  command.stderr_fd = log.get();
  command.new_session = true;
  STOKER_ASSIGN(Process process, Process::Start(command));
  for (Millis waited{0}; waited < kStartLimit; waited += kLook) {
    STOKER_ASSIGN(const auto ended, process.Wait(kLook));
    if (ended) return Unavailable("the daemon could not start: " + LastLogLine(home), home.root());
    if (DaemonAddress(home)) break;
  }
  process.Detach();
  return Ok();
}

}  // namespace stoker::cli
