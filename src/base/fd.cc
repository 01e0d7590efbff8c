#include "base/fd.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace stoker {

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    Close();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void Fd::Close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Result<Fd> OpenFile(const std::string& path, int flags, mode_t mode) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return FromErrno(errno, (flags & O_CREAT) != 0 ? "create" : "open", path);
  return Fd(fd);
}

Result<Pipe> MakePipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return FromErrno(errno, "make a pipe", "");
  return Pipe{Fd(fds[0]), Fd(fds[1])};
}

Status WriteAll(const Fd& fd, std::string_view bytes, const std::string& where) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd.get(), bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return FromErrno(errno, "write", where);
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return Ok();
}

Result<size_t> ReadSome(const Fd& fd, char* out, size_t size, const std::string& where) {
  while (true) {
    const ssize_t got = ::read(fd.get(), out, size);
    if (got >= 0) return static_cast<size_t>(got);
    if (errno != EINTR) return FromErrno(errno, "read", where);
  }
}

Status SetNonBlocking(const Fd& fd) {
  const int flags = ::fcntl(fd.get(), F_GETFL);
  if (flags < 0 || ::fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK) != 0) {
    return FromErrno(errno, "set a descriptor to non-blocking", "");
  }
  return Ok();
}

}  // namespace stoker
