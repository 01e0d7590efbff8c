#include "jobs/folder_watch.h"

#include <poll.h>
#include <sys/inotify.h>

#include <algorithm>
#include <cerrno>

#include "jobs/job_folder.h"
#include "jobs/process_tree.h"

namespace stoker::jobs {
namespace {
constexpr Millis kWithoutInotify{100};
}

FolderWatch::FolderWatch(std::string folder) : folder_(std::move(folder)) {
  Fd fd(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!fd.valid()) return;
  constexpr uint32_t kChanges = IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF;
  if (::inotify_add_watch(fd.get(), folder_.c_str(), kChanges) >= 0) inotify_ = std::move(fd);
}

Status FolderWatch::Wait(Millis limit) {
  if (!shim_.valid()) {
    const auto identity = ReadShim(folder_);
    auto shim = identity ? OpenProcess(*identity) : Result<Fd>(NotFound("not started"));
    if (shim) shim_ = std::move(*shim);
  }
  if (!inotify_.valid()) limit = std::min(limit, kWithoutInotify);
  pollfd fds[2] = {{inotify_.get(), POLLIN, 0}, {shim_ended_ ? -1 : shim_.get(), POLLIN, 0}};
  const auto timeout = static_cast<int>(std::clamp<int64_t>(limit.count(), 0, 1 << 30));
  if (::poll(fds, 2, timeout) < 0 && errno != EINTR)
    return FromErrno(errno, "wait for changes", folder_);
  if (fds[0].revents != 0) {
    char events[16 << 10];
    while (ReadSome(inotify_, events, sizeof events, folder_).value_or(0) > 0) {
    }
  }
  // One wake-up for the supervisor's end is enough: it stays readable.
  if (fds[1].revents != 0) shim_ended_ = true;
  return Ok();
}

}  // namespace stoker::jobs
