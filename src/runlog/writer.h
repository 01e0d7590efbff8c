// Appends to a run log: one write(2) a line on an O_APPEND descriptor, so that many processes may
// share a file and a kill leaves at most one torn last line. Thread-safe.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mutex.h"
#include "base/result.h"
#include "runlog/run_event.h"

namespace stoker::runlog {

class Writer {
 public:
  static Result<std::unique_ptr<Writer>> Open(const std::string& path, const Clock& clock);
  Status Append(RunEvent event);  // stamps `at` where absent

 private:
  Writer(Fd fd, std::string path, const Clock& clock);
  Fd fd_;
  const std::string path_;
  const Clock& clock_;
};

}  // namespace stoker::runlog
