#include <poll.h>
#include <signal.h>

#include <algorithm>

#include "base/file.h"
#include "jobs/launch.h"
#include "jobs/process_tree.h"

namespace stoker::jobs {
namespace {

constexpr Millis kAfterKill{5000};

bool EndsWithin(const Fd& process, Millis limit) {
  pollfd fd{process.get(), POLLIN, 0};
  return ::poll(&fd, 1, static_cast<int>(limit.count())) > 0;
}

// The supervisor was killed and cannot do it: the main process and what descends from it.
Status StopUnwatched(const std::string& folder, Millis grace) {
  const auto gone = [&] {
    return Invalid("the job has ended already: its supervisor was killed and nothing of it runs",
                   folder);
  };
  STOKER_ASSIGN(const auto attempts, ReadAttempts(folder));
  if (attempts.empty()) return gone();
  const ledger::Attempt& last = attempts.back();
  const ProcessIdentity main{last.boot_id, last.pid, last.start_ticks};
  const auto process = OpenProcess(main);
  if (!process) return gone();
  for (const int signal : {SIGTERM, SIGKILL}) {
    SignalDescendants(main.pid, signal);
    STOKER_TRY(SignalProcess(*process, signal));
    if (EndsWithin(*process, signal == SIGTERM ? grace : kAfterKill)) return Ok();
  }
  return Timeout("the job did not end after SIGKILL", "process " + std::to_string(main.pid),
                 "a process in a driver call ends when the call returns");
}

}  // namespace

Status Stop(const std::string& folder, Millis grace, const std::string& who, const Clock& clock) {
  if (!FileExists(folder)) return NotFound("no such job", folder);
  const auto ended = [&] { return Invalid("the job has ended already", folder); };
  if (ReadEnd(folder)) return ended();
  grace = std::clamp(grace, Millis(0), Millis(86'400'000));
  STOKER_TRY(WriteStop(folder, {clock.Now(), who, grace}));
  const auto shim = ReadShim(folder);
  // Not begun yet: it will find the request when it begins.
  if (!shim && shim.error().code == Code::kNotFound) return Ok();
  if (!shim) return shim.error();
  const auto process = OpenProcess(*shim);
  if (process) return SignalProcess(*process, SIGTERM);
  if (ReadEnd(folder)) return ended();
  return StopUnwatched(folder, grace);
}

}  // namespace stoker::jobs
