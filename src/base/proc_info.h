// Who a process is, from /proc. A pid alone is not an identity: (boot id, pid, start time) is.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace stoker {

struct ProcessIdentity {
  std::string boot_id;
  pid_t pid = -1;
  int64_t start_ticks = 0;  // clock ticks after boot, field 22 of /proc/PID/stat
  friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

Result<std::string> BootId();
Result<ProcessIdentity> IdentifyProcess(pid_t pid);  // kNotFound where it is gone or a zombie
bool IsAlive(const ProcessIdentity& identity);       // false after pid reuse or a reboot
Result<std::vector<std::string>> ProcessArguments(pid_t pid);
// Parent of every process, for walking trees; a snapshot, best effort.
std::vector<std::pair<pid_t, pid_t>> ProcessParents();
std::vector<pid_t> Descendants(pid_t root);
std::string UserName(uid_t uid);  // "1000" where the name is unknown
std::string HostName();

}  // namespace stoker
