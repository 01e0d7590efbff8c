#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/text.h"

extern char** environ;

namespace stoker {
namespace {

Fd OpenPidFd(pid_t pid) { return Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

std::string SearchPath(const std::optional<std::vector<std::string>>& environment) {
  if (!environment) {
    const char* path = ::getenv("PATH");
    return path != nullptr ? path : "/usr/bin:/bin";
  }
  for (const std::string& entry : *environment) {
    if (entry.starts_with("PATH=")) return entry.substr(5);
  }
  return "/usr/bin:/bin";
}

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (const std::string& s : strings) out.push_back(const_cast<char*>(s.c_str()));
  out.push_back(nullptr);
  return out;
}

// Everything the child needs, made before fork: after it only async-signal-safe calls are allowed.
struct ChildPlan {
  std::string program;
  std::vector<char*> argv;
  std::vector<char*> environment;
  const Command* command = nullptr;
  int null_fd = -1;
  int report_fd = -1;
};

void MoveTo(int from, int to) {
  if (from < 0) return;
  if (from == to) {
    ::fcntl(to, F_SETFD, 0);
  } else {
    ::dup2(from, to);
  }
}

// A child's stdio target that already sits on 0..2 could be overwritten by an earlier dup2.
int AwayFromStdio(int fd) { return fd >= 0 && fd <= 2 ? ::fcntl(fd, F_DUPFD_CLOEXEC, 3) : fd; }

[[noreturn]] void RunChild(const ChildPlan& plan) {
  const Command& command = *plan.command;
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD})
    ::signal(signal, SIG_DFL);
  if (command.new_session) {
    ::setsid();
  } else if (command.new_group) {
    ::setpgid(0, 0);
  }
  const int in = AwayFromStdio(command.stdin_fd >= 0 ? command.stdin_fd : plan.null_fd);
  const int out = AwayFromStdio(command.stdout_fd);
  const int err = AwayFromStdio(command.stderr_fd);
  MoveTo(in, 0);
  MoveTo(out, 1);
  MoveTo(err, 2);
  if (command.nice != 0) [[maybe_unused]]
    const int niceness = ::nice(command.nice);
  if (command.cwd.empty() || ::chdir(command.cwd.c_str()) == 0) {
    ::execve(plan.program.c_str(), plan.argv.data(), plan.environment.data());
  }
  const int error_number = errno;
  // The parent waits for these bytes or for close-on-exec.
  [[maybe_unused]] const ssize_t n = ::write(plan.report_fd, &error_number, sizeof error_number);
  ::_exit(127);
}

// The error that exec met in the child, or 0 once exec has closed the pipe.
int ReadExecError(const Fd& report) {
  int error_number = 0;
  ssize_t got = 0;
  do {
    got = ::read(report.get(), &error_number, sizeof error_number);
  } while (got < 0 && errno == EINTR);
  return got == sizeof error_number ? error_number : 0;
}

ExitStatus Decode(const siginfo_t& info) {
  ExitStatus status;
  if (info.si_code == CLD_EXITED) {
    status.exit_code = info.si_status;
  } else {
    status.signal = info.si_status;
  }
  return status;
}

}  // namespace

Result<std::string> FindProgram(const std::string& name,
                                const std::optional<std::vector<std::string>>& environment,
                                const std::string& cwd) {
  if (name.empty()) return Invalid("no program was named");
  std::vector<std::string> candidates;
  if (name.find('/') != std::string::npos) {
    candidates.push_back(cwd.empty() ? name : JoinPath(cwd, name));
  } else {
    const std::string path = SearchPath(environment);
    for (const std::string_view dir : Split(path, ':')) {
      candidates.push_back(JoinPath(dir.empty() ? "." : dir, name));
    }
  }
  bool denied = false;
  for (const std::string& candidate : candidates) {
    const auto stat = StatFile(candidate);
    if (!stat || !stat->is_regular()) continue;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    denied = true;
  }
  if (denied)
    return Denied("the program may not be executed", name, "chmod +x it, or name its interpreter");
  return NotFound("no such program", name);
}

Process::Process(pid_t pid, Fd pidfd, bool own_group)
    : pid_(pid), pidfd_(std::move(pidfd)), own_group_(own_group) {}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      own_group_(other.own_group_),
      status_(other.status_) {}

Process& Process::operator=(Process&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(pidfd_, other.pidfd_);
  std::swap(own_group_, other.own_group_);
  std::swap(status_, other.status_);
  return *this;
}

Process::~Process() {
  if (pid_ < 0 || status_) return;
  Ignore(SignalGroup(SIGKILL));
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED) != 0 && errno == EINTR) {
  }
}

Result<Process> Process::Start(const Command& command) {
  if (command.argv.empty()) return Invalid("no command was given");
  ChildPlan plan;
  STOKER_ASSIGN(plan.program, FindProgram(command.argv[0], command.environment, command.cwd));
  plan.argv = Pointers(command.argv);
  if (command.environment) plan.environment = Pointers(*command.environment);
  if (!command.environment) {
    for (char** entry = environ; *entry != nullptr; ++entry) plan.environment.push_back(*entry);
    plan.environment.push_back(nullptr);
  }
  plan.command = &command;
  STOKER_ASSIGN(const Fd null, OpenFile("/dev/null", O_RDONLY));
  STOKER_ASSIGN(Pipe report, MakePipe());
  plan.null_fd = null.get();
  plan.report_fd = report.write.get();

  const pid_t pid = ::fork();
  if (pid < 0) return FromErrno(errno, "start a process", command.argv[0]);
  if (pid == 0) RunChild(plan);
  report.write.Close();
  const bool own_group = command.new_session || command.new_group;
  // Set on both sides, so that a signal to the group cannot come before the group exists.
  if (own_group && !command.new_session) ::setpgid(pid, pid);
  Process process(pid, OpenPidFd(pid), own_group);
  if (const int error_number = ReadExecError(report.read); error_number != 0) {
    STOKER_TRY(process.Wait(Millis(-1)));
    return FromErrno(error_number, "start", command.argv[0]);
  }
  return process;
}

Result<std::optional<ExitStatus>> Process::Wait(Millis limit) {
  if (status_) return status_;
  pollfd poll_fd{pidfd_.get(), POLLIN, 0};
  const int timeout =
      limit.count() < 0 ? -1 : static_cast<int>(std::min<int64_t>(limit.count(), 1 << 30));
  int ready = ::poll(&poll_fd, 1, timeout);
  while (ready < 0 && errno == EINTR) ready = ::poll(&poll_fd, 1, timeout);
  if (ready == 0) return std::optional<ExitStatus>();
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED) != 0) {
    if (errno != EINTR) return FromErrno(errno, "wait for a process", std::to_string(pid_));
  }
  status_ = Decode(info);
  return status_;
}

Status Process::SignalGroup(int signal) {
  if (pid_ <= 0) return Ok();
  if (::kill(own_group_ ? -pid_ : pid_, signal) != 0 && errno != ESRCH) {
    return FromErrno(errno, "signal a process", std::to_string(pid_));
  }
  return Ok();
}

pid_t Process::Detach() { return std::exchange(pid_, -1); }

namespace {

// Reads what is there into a bounded text; false at the end of the stream.
bool Drain(const Fd& fd, std::string& text, size_t max_bytes) {
  char buffer[64 * 1024];
  const ssize_t got = ::read(fd.get(), buffer, sizeof buffer);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  text.append(buffer,
              std::min(static_cast<size_t>(got), max_bytes - std::min(max_bytes, text.size())));
  return true;
}

}  // namespace

Result<Captured> RunProgram(Command command, Millis limit, size_t max_bytes) {
  STOKER_ASSIGN(Pipe out, MakePipe());
  STOKER_ASSIGN(Pipe err, MakePipe());
  command.stdout_fd = out.write.get();
  command.stderr_fd = err.write.get();
  const auto end = std::chrono::steady_clock::now() + limit;
  STOKER_ASSIGN(Process process, Process::Start(command));
  out.write.Close();
  err.write.Close();
  Captured captured;
  bool out_open = true, err_open = true;
  while (true) {
    const auto left = std::chrono::duration_cast<Millis>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0)
      return Timeout("did not end within " + FormatDuration(limit), command.argv[0]);
    pollfd fds[3] = {{out_open ? out.read.get() : -1, POLLIN, 0},
                     {err_open ? err.read.get() : -1, POLLIN, 0},
                     {process.pidfd().get(), POLLIN, 0}};
    if (::poll(fds, 3, static_cast<int>(left.count())) < 0 && errno != EINTR) {
      return FromErrno(errno, "wait for", command.argv[0]);
    }
    if (out_open && fds[0].revents != 0) out_open = Drain(out.read, captured.out, max_bytes);
    if (err_open && fds[1].revents != 0) err_open = Drain(err.read, captured.err, max_bytes);
    // Ended, and no bytes were left in this round: grandchildren may hold the pipes open.
    if (fds[2].revents != 0 && fds[0].revents == 0 && fds[1].revents == 0) break;
  }
  STOKER_ASSIGN(const auto status, process.Wait(Millis(-1)));
  captured.status = *status;
  return captured;
}

}  // namespace stoker
