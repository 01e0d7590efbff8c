// Sleeps until something in a job's folder changes or its supervisor ends: inotify and a pidfd
// where the kernel gives them, else short waits. One thread.
#pragma once

#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "base/units.h"

namespace stoker::jobs {

class FolderWatch {
 public:
  explicit FolderWatch(std::string folder);
  // Returns after a change, the end of the supervisor, a signal to this thread, or `limit`.
  Status Wait(Millis limit);

 private:
  const std::string folder_;
  Fd inotify_;  // invalid where the user has no watches left
  Fd shim_;     // invalid until shim.json is there
  bool shim_ended_ = false;
};

}  // namespace stoker::jobs
