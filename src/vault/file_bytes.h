// Reads an open file at offsets, never past the size that was seen at the start: a file that
// shrinks meanwhile gives an error, not a short answer and not SIGBUS.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace stoker::vault {

class FileBytes {
 public:
  // `fd` and `cancel` (may be null) must outlive this. Once *cancel is true every read fails.
  FileBytes(const Fd& fd, int64_t size, std::string path, const std::atomic<bool>* cancel)
      : fd_(fd), size_(size), path_(std::move(path)), cancel_(cancel) {}

  int64_t size() const { return size_; }
  const std::string& path() const { return path_; }
  // Exactly `count` bytes from `offset`. kCorrupt where the file no longer has them.
  Status ReadAt(int64_t offset, char* out, size_t count) const;
  Result<std::string> ReadAt(int64_t offset, size_t count) const;

 private:
  const Fd& fd_;
  const int64_t size_;
  const std::string path_;
  const std::atomic<bool>* const cancel_;
};

// A window that moves forward over [from, to) of a file; small reads cost no system call.
class Cursor {
 public:
  Cursor(const FileBytes& file, int64_t from, int64_t to)
      : file_(file), offset_(from), end_(to), buffer_at_(from) {}
  int64_t offset() const { return offset_; }
  int64_t left() const { return end_ - offset_; }
  // The next bytes, at most `most` and at least one; empty at the end. Valid until the next call.
  Result<std::string_view> Some(size_t most);
  // Exactly `count` bytes, at most kWindow; kCorrupt where the range ends before.
  Result<std::string_view> Exactly(size_t count);
  Status Skip(int64_t count);  // kCorrupt where the range ends before

  static constexpr size_t kWindow = 256 * 1024;

 private:
  Status Fill(size_t need);
  const FileBytes& file_;
  int64_t offset_;
  const int64_t end_;
  std::string buffer_;
  int64_t buffer_at_;
};

// Little-endian numbers at `at`; the caller has checked the length.
uint64_t Little(std::string_view bytes, size_t at, size_t count);

}  // namespace stoker::vault
