#include "runlog/writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace stoker::runlog {

Writer::Writer(Fd fd, std::string path, const Clock& clock)
    : fd_(std::move(fd)), path_(std::move(path)), clock_(clock) {}

Result<std::unique_ptr<Writer>> Writer::Open(const std::string& path, const Clock& clock) {
  STOKER_ASSIGN(Fd fd, OpenFile(path, O_WRONLY | O_APPEND | O_CREAT));
  return std::unique_ptr<Writer>(new Writer(std::move(fd), path, clock));
}

Status Writer::Append(RunEvent event) {
  if (!event.at) event.at = clock_.Now();
  const std::string line = FormatLine(event);
  ssize_t written = -1;
  do {
    written = ::write(fd_.get(), line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  if (written < 0) return FromErrno(errno, "append to the run log", path_);
  if (static_cast<size_t>(written) == line.size()) return Ok();
  // A full disk took a part. Ending the torn line here costs one line, not the next one too.
  [[maybe_unused]] const ssize_t ended = ::write(fd_.get(), "\n", 1);
  return Unavailable("the disk is full", path_, "free some space");
}

}  // namespace stoker::runlog
