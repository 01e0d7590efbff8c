// Starts programs without a shell and owns them until they are reaped. Passive: the owner polls
// pidfd() and calls Finish(). The destructor kills the whole process group of a child that still
// runs.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "base/units.h"

namespace stoker {

struct ExitStatus {
  std::optional<int> exit_code;  // one of the two is set
  std::optional<int> signal;
  bool ok() const { return exit_code == 0; }
};

struct Command {
  std::vector<std::string> argv;  // argv[0] is searched in PATH if it has no '/'
  std::optional<std::vector<std::string>> environment;  // "K=V"; absent: inherit
  std::string cwd;                                      // empty: inherit
  int stdin_fd = -1;                                    // -1: /dev/null
  int stdout_fd = -1;                                   // -1: inherit
  int stderr_fd = -1;                                   // -1: inherit
  bool new_session = false;                             // setsid(): survives the caller's terminal
  bool new_group = true;  // own process group, so that a tree can be signalled
  int nice = 0;
};

class Process {
 public:
  // kNotFound where the program does not exist, kDenied where it may not be executed.
  static Result<Process> Start(const Command& command);
  Process(Process&&) noexcept;
  Process& operator=(Process&&) noexcept;
  ~Process();

  pid_t pid() const { return pid_; }
  const Fd& pidfd() const { return pidfd_; }
  // Waits up to `limit`; nullopt where it still runs. The status stays available afterwards.
  Result<std::optional<ExitStatus>> Wait(Millis limit);
  Status SignalGroup(int signal);
  // Gives the child up: it runs on when this object goes.
  pid_t Detach();

 private:
  Process(pid_t pid, Fd pidfd, bool own_group);
  pid_t pid_ = -1;
  Fd pidfd_;
  bool own_group_ = false;
  std::optional<ExitStatus> status_;
};

// The file that would be executed: as named if it has a '/', else the first in PATH. kNotFound, or
// kDenied where there is only a file without permission.
Result<std::string> FindProgram(const std::string& name,
                                const std::optional<std::vector<std::string>>& environment,
                                const std::string& cwd);

struct Captured {
  ExitStatus status;
  std::string out;  // bounded by max_bytes each
  std::string err;
};
// Runs to the end or to the limit (then the group is killed and the error is kTimeout).
Result<Captured> RunProgram(Command command, Millis limit, size_t max_bytes = 16 << 20);

}  // namespace stoker
