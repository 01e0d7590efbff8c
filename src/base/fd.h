// Fd owns a file descriptor: move-only, closed in the destructor, close-on-exec at birth.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace stoker {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept;
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { Close(); }

  bool valid() const { return fd_ >= 0; }
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }
  void Close();

 private:
  int fd_ = -1;
};

// open(2) with O_CLOEXEC added and EINTR handled. `mode` is used with O_CREAT.
Result<Fd> OpenFile(const std::string& path, int flags, mode_t mode = 0644);

struct Pipe {
  Fd read;
  Fd write;
};
Result<Pipe> MakePipe();

// Writes all of `bytes`, resuming after short writes and EINTR.
Status WriteAll(const Fd& fd, std::string_view bytes, const std::string& where);
// Up to `size` bytes; 0 at the end; kUnavailable where a non-blocking fd has nothing.
Result<size_t> ReadSome(const Fd& fd, char* out, size_t size, const std::string& where);
Status SetNonBlocking(const Fd& fd);

}  // namespace stoker
