#include "jobs/shim.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "base/proc_info.h"
#include "jobs/job_folder.h"
#include "jobs/output_log.h"
#include "jobs/supervisor.h"

namespace stoker::jobs {
namespace {

// SIGTERM and SIGINT ask for a stop. The rest that a terminal or a shell may send must not end the
// one process that knows how the job ends.
Result<Fd> TakeSignals() {
  sigset_t all;
  ::sigemptyset(&all);
  for (const int signal :
       {SIGTERM, SIGINT, SIGCHLD, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2, SIGTSTP})
    ::sigaddset(&all, signal);
  if (::sigprocmask(SIG_BLOCK, &all, nullptr) != 0) return FromErrno(errno, "block signals", "");
  sigset_t heard;
  ::sigemptyset(&heard);
  for (const int signal : {SIGTERM, SIGINT, SIGCHLD}) ::sigaddset(&heard, signal);
  Fd fd(::signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.valid()) return FromErrno(errno, "listen for signals", "");
  return fd;
}

struct Ready {
  JobSpec spec;
  ProcessIdentity self;
  Fd signals;
};

Result<Ready> Prepare(const std::string& folder) {
  Ready ready;
  STOKER_ASSIGN(ready.signals, TakeSignals());
  // Grandchildren whose parents end become ours, and so can be found when the job is stopped.
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
    return FromErrno(errno, "become a subreaper", "");
  STOKER_ASSIGN(ready.spec, ReadSpec(folder));
  if (FileExists(JoinPath(folder, "end.json")) || FileExists(JoinPath(folder, "shim.json")))
    return Invalid("this job has a supervisor already, or had one", folder);
  STOKER_ASSIGN(ready.self, IdentifyProcess(::getpid()));
  return ready;
}

}  // namespace

Status RunShim(const std::string& folder, const Clock& clock, const std::function<void()>& begun) {
  STOKER_ASSIGN(Ready ready, Prepare(folder));
  STOKER_ASSIGN(OutputLog output, OutputLog::Open(folder, clock));
  STOKER_TRY(WriteShim(folder, ready.self));
  Supervisor supervisor(folder, std::move(ready.spec), std::move(ready.self),
                        std::move(ready.signals), std::move(output), clock, begun);
  const JobEnd end = supervisor.Run();
  STOKER_TRY(supervisor.RecordEnd(end));
  supervisor.ServeLeftovers();
  return Ok();
}

}  // namespace stoker::jobs
