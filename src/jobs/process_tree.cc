#include "jobs/process_tree.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "base/text.h"

namespace stoker::jobs {
namespace {

Result<Fd> OpenPid(pid_t pid) {
  const auto fd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0 && errno == ESRCH) return NotFound("the process has ended", std::to_string(pid));
  if (fd < 0) return FromErrno(errno, "open a process", std::to_string(pid));
  return Fd(fd);
}

}  // namespace

Result<Fd> OpenProcess(const ProcessIdentity& identity) {
  STOKER_ASSIGN(Fd fd, OpenPid(identity.pid));
  if (!IsAlive(identity)) return NotFound("the process has ended", std::to_string(identity.pid));
  return fd;
}

Status SignalProcess(const Fd& pidfd, int signal) {
  if (::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0) != 0 && errno != ESRCH)
    return FromErrno(errno, "signal a process", "");
  return Ok();
}

int SignalDescendants(pid_t root, int signal, pid_t except_group) {
  int signalled = 0;
  for (const pid_t pid : Descendants(root)) {
    const auto fd = OpenPid(pid);
    if (!fd || !IdentifyProcess(pid)) continue;  // ended, or a zombie
    if (except_group != 0 && ::getpgid(pid) == except_group) continue;
    if (SignalProcess(*fd, signal)) ++signalled;
  }
  return signalled;
}

std::vector<std::string> DescribeDescendants(pid_t root) {
  std::vector<std::string> out;
  for (const pid_t pid : Descendants(root)) {
    if (!IdentifyProcess(pid)) continue;
    const std::string number = std::to_string(pid);
    const auto name = ReadFile("/proc/" + number + "/comm", 256);
    out.push_back(number + " (" + Printable(name ? Trim(*name) : "?") + ")");
  }
  return out;
}

}  // namespace stoker::jobs
