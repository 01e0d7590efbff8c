#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include "base/text.h"

namespace stoker {
namespace {

FileStat Convert(const struct stat& s) {
  FileStat out;
  out.device = s.st_dev;
  out.inode = s.st_ino;
  out.size_bytes = s.st_size;
  out.mtime_ns = static_cast<int64_t>(s.st_mtim.tv_sec) * 1'000'000'000 + s.st_mtim.tv_nsec;
  out.mode = s.st_mode;
  return out;
}

// What somebody else removed during the walk is gone as wanted.
int RemoveOne(const char* path, const struct stat*, int, FTW*) {
  return ::remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

}  // namespace

Result<FileStat> StatFile(const std::string& path) {
  struct stat s {};
  if (::stat(path.c_str(), &s) != 0) return FromErrno(errno, "look at the file", path);
  return Convert(s);
}

Result<FileStat> StatFd(const Fd& fd, const std::string& where) {
  struct stat s {};
  if (::fstat(fd.get(), &s) != 0) return FromErrno(errno, "look at the file", where);
  return Convert(s);
}

bool FileExists(const std::string& path) {
  struct stat s {};
  return ::stat(path.c_str(), &s) == 0;
}

Result<std::string> ReadFile(const std::string& path, size_t max_bytes) {
  STOKER_ASSIGN(const Fd fd, OpenFile(path, O_RDONLY));
  std::string out;
  char buffer[64 * 1024];
  while (true) {
    STOKER_ASSIGN(const size_t got, ReadSome(fd, buffer, sizeof buffer, path));
    if (got == 0) return out;
    if (out.size() + got > max_bytes) {
      return Invalid(
          "larger than the " + FormatBytes(static_cast<double>(max_bytes)) + " allowed here", path);
    }
    out.append(buffer, got);
  }
}

Result<std::vector<DirEntry>> ListDir(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(path.c_str()), ::closedir);
  if (!dir) return FromErrno(errno, "list the folder", path);
  std::vector<DirEntry> out;
  while (const dirent* entry = ::readdir(dir.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    unsigned char type = entry->d_type;
    if (type == DT_UNKNOWN) {
      struct stat s {};
      if (::fstatat(::dirfd(dir.get()), entry->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0) continue;
      type = S_ISDIR(s.st_mode) ? DT_DIR : S_ISREG(s.st_mode) ? DT_REG : DT_LNK;
    }
    out.push_back({name, type == DT_DIR, type == DT_REG});
  }
  std::sort(out.begin(), out.end(),
            [](const DirEntry& a, const DirEntry& b) { return a.name < b.name; });
  return out;
}

Status MakeDirs(const std::string& path, mode_t mode) {
  if (path.empty() || path == "/") return Ok();
  if (::mkdir(path.c_str(), mode) == 0) return Ok();
  const int error_number = errno;
  if (error_number == EEXIST) {
    STOKER_ASSIGN(const FileStat stat, StatFile(path));
    if (stat.is_directory()) return Ok();
    return Invalid("a file stands where a folder is needed", path);
  }
  if (error_number != ENOENT) return FromErrno(error_number, "create the folder", path);
  STOKER_TRY(MakeDirs(DirName(path), mode));
  if (::mkdir(path.c_str(), mode) != 0 && errno != EEXIST) {
    return FromErrno(errno, "create the folder", path);
  }
  return Ok();
}

Status RemoveFile(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT)
    return FromErrno(errno, "remove the file", path);
  return Ok();
}

Status RemoveTree(const std::string& path) {
  if (::nftw(path.c_str(), RemoveOne, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) != 0 &&
      errno != ENOENT) {
    return FromErrno(errno, "remove the folder", path);
  }
  return Ok();
}

Status RenameFile(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return FromErrno(errno, "rename to " + to, from);
  return Ok();
}

Result<std::string> CurrentDir() {
  const std::unique_ptr<char, void (*)(void*)> cwd(::getcwd(nullptr, 0), std::free);
  if (!cwd) return FromErrno(errno, "find the current folder", "");
  return std::string(cwd.get());
}

std::string JoinPath(std::string_view a, std::string_view b) {
  if (!b.empty() && b.front() == '/') return std::string(b);
  std::string out(a);
  if (!out.empty() && out.back() != '/' && !b.empty()) out += '/';
  return out.append(b);
}

std::string CleanPath(std::string_view path, std::string_view base) {
  const std::string full = JoinPath(base, path);
  std::vector<std::string_view> kept;
  for (const std::string_view part : Split(full, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (!kept.empty()) kept.pop_back();
      continue;
    }
    kept.push_back(part);
  }
  std::string out;
  for (const std::string_view part : kept) out.append("/").append(part);
  return out.empty() ? "/" : out;
}

std::string DirName(std::string_view path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(slash == 0 ? "/" : path.substr(0, slash));
}

std::string BaseName(std::string_view path) {
  const size_t slash = path.find_last_of('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

Result<int64_t> FreeBytes(const std::string& path) {
  struct statvfs s {};
  if (::statvfs(path.c_str(), &s) != 0) return FromErrno(errno, "measure the free space", path);
  return static_cast<int64_t>(s.f_bavail) * static_cast<int64_t>(s.f_frsize);
}

Result<FileLock> FileLock::Take(const std::string& path) {
  STOKER_ASSIGN(Fd fd, OpenFile(path, O_RDWR | O_CREAT, 0644));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return Unavailable("another process holds the lock", path);
    return FromErrno(errno, "lock", path);
  }
  return FileLock(std::move(fd));
}

Result<TempDir> TempDir::Make(std::string_view prefix) {
  const char* base = std::getenv("TMPDIR");
  std::string path = JoinPath(base != nullptr && *base != 0 ? base : "/tmp", prefix) + "-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return FromErrno(errno, "create a temporary folder", path);
  return TempDir(std::move(path));
}
TempDir::TempDir(TempDir&& other) noexcept : path_(std::exchange(other.path_, {})) {}
TempDir& TempDir::operator=(TempDir&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}
TempDir::~TempDir() {
  if (!path_.empty()) Ignore(RemoveTree(path_));
}

Result<MappedFile> MappedFile::Open(const std::string& path) {
  STOKER_ASSIGN(const Fd fd, OpenFile(path, O_RDONLY));
  STOKER_ASSIGN(const FileStat stat, StatFd(fd, path));
  if (!stat.is_regular()) return Invalid("not a regular file", path);
  const size_t size = static_cast<size_t>(stat.size_bytes);
  if (size == 0) return MappedFile(nullptr, 0);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (data == MAP_FAILED) return FromErrno(errno, "map the file", path);
  return MappedFile(static_cast<const char*>(data), size);
}
MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}
MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
}

}  // namespace stoker
