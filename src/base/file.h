// Files and folders. Every function takes paths as UTF-8 bytes, follows no shell rules, and says
// the path in its error.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"

namespace stoker {

struct FileStat {
  uint64_t device = 0;
  uint64_t inode = 0;
  int64_t size_bytes = 0;
  int64_t mtime_ns = 0;  // since 1970
  mode_t mode = 0;
  bool is_directory() const { return S_ISDIR(mode); }
  bool is_regular() const { return S_ISREG(mode); }
  friend bool operator==(const FileStat&, const FileStat&) = default;
};

struct DirEntry {
  std::string name;
  bool is_directory = false;  // a link to a folder counts as neither
  bool is_regular = false;
};

Result<FileStat> StatFile(const std::string& path);  // follows links
Result<FileStat> StatFd(const Fd& fd, const std::string& where);
bool FileExists(const std::string& path);
// The whole file; kInvalid where it is larger than `max_bytes`.
Result<std::string> ReadFile(const std::string& path, size_t max_bytes = 64 << 20);
Result<std::vector<DirEntry>> ListDir(const std::string& path);  // sorted by name, no "." and ".."
Status MakeDirs(const std::string& path, mode_t mode = 0755);
Status RemoveFile(const std::string& path);  // absent is fine
Status RemoveTree(const std::string& path);  // absent is fine; does not follow links
Status RenameFile(const std::string& from, const std::string& to);
Result<std::string> CurrentDir();
// Absolute and free of "." and ".." without asking the disk.
std::string CleanPath(std::string_view path, std::string_view base);
std::string JoinPath(std::string_view a, std::string_view b);
std::string DirName(std::string_view path);
std::string BaseName(std::string_view path);
Result<int64_t> FreeBytes(const std::string& path);  // for an ordinary user

// An advisory whole-file lock (flock), released with the object or the process.
class FileLock {
 public:
  // kUnavailable at once where another process holds it.
  static Result<FileLock> Take(const std::string& path);

 private:
  explicit FileLock(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

// A folder of its own under $TMPDIR, removed with the object.
class TempDir {
 public:
  static Result<TempDir> Make(std::string_view prefix = "stoker");
  TempDir(TempDir&&) noexcept;
  TempDir& operator=(TempDir&&) noexcept;
  ~TempDir();
  const std::string& path() const { return path_; }

 private:
  explicit TempDir(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// A whole file mapped for reading; empty files give an empty view.
class MappedFile {
 public:
  static Result<MappedFile> Open(const std::string& path);
  MappedFile(MappedFile&&) noexcept;
  MappedFile& operator=(MappedFile&&) noexcept;
  ~MappedFile();
  std::string_view bytes() const { return {data_, size_}; }

 private:
  MappedFile(const char* data, size_t size) : data_(data), size_(size) {}
  const char* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace stoker
