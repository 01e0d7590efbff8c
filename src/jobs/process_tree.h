// Signals to processes that are not our own children, safe from pid reuse: everything goes through
// a pidfd that was opened first and checked after.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/fd.h"
#include "base/proc_info.h"
#include "base/result.h"

namespace stoker::jobs {

// A descriptor that polls readable once the process has ended. kNotFound where it has already.
Result<Fd> OpenProcess(const ProcessIdentity& identity);

// Signals a process behind a descriptor; one that has ended is fine.
Status SignalProcess(const Fd& pidfd, int signal);

// Signals every living descendant of `root`, not root itself; those in process group `except_group`
// are left out (0: none are). Returns how many were signalled.
int SignalDescendants(pid_t root, int signal, pid_t except_group = 0);

// Living descendants as "123 (python3)", for people.
std::vector<std::string> DescribeDescendants(pid_t root);

}  // namespace stoker::jobs
