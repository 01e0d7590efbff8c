#include "base/durable_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "base/text.h"

namespace stoker {
namespace {

constexpr std::string_view kPartial = ".partial";

std::string PartialPath(const std::string& path) {
  char random[8] = {};
  if (::getrandom(random, sizeof random, 0) != sizeof random)
    random[0] = static_cast<char>(::getpid());
  return JoinPath(DirName(path), "." + BaseName(path) + "." + HexEncode({random, sizeof random}) +
                                     std::string(kPartial));
}

// Writes and syncs a temporary file, then `publish` moves it to its place.
Status WritePartial(const std::string& path, const std::function<Status(const Fd&)>& fill,
                    mode_t mode, const std::function<Status(const std::string& partial)>& publish) {
  const std::string partial = PartialPath(path);
  const Status written = [&]() -> Status {
    STOKER_ASSIGN(const Fd fd, OpenFile(partial, O_WRONLY | O_CREAT | O_EXCL, mode));
    STOKER_TRY(fill(fd));
    if (::fsync(fd.get()) != 0) return FromErrno(errno, "sync the file", path);
    return publish(partial);
  }();
  if (!written) {
    Ignore(RemoveFile(partial));
    return written.error();
  }
  return SyncDir(DirName(path));
}

}  // namespace

Status WriteDurably(const std::string& path, const std::function<Status(const Fd&)>& fill,
                    mode_t mode) {
  return WritePartial(path, fill, mode,
                      [&](const std::string& partial) { return RenameFile(partial, path); });
}

Status WriteDurably(const std::string& path, std::string_view bytes, mode_t mode) {
  return WriteDurably(
      path, [&](const Fd& fd) { return WriteAll(fd, bytes, path); }, mode);
}

Status CreateDurably(const std::string& path, std::string_view bytes, mode_t mode) {
  return WritePartial(
      path, [&](const Fd& fd) { return WriteAll(fd, bytes, path); }, mode,
      [&](const std::string& partial) -> Status {
        if (::link(partial.c_str(), path.c_str()) != 0) {
          if (errno == EEXIST) return Unavailable("exists already", path);
          return FromErrno(errno, "create", path);
        }
        return RemoveFile(partial);
      });
}

Status SyncDir(const std::string& path) {
  STOKER_ASSIGN(const Fd fd, OpenFile(path, O_RDONLY | O_DIRECTORY));
  // Some file systems cannot sync a folder (EINVAL); there the rename is as durable as it gets.
  if (::fsync(fd.get()) != 0 && errno != EINVAL) return FromErrno(errno, "sync the folder", path);
  return Ok();
}

bool IsPartialName(std::string_view name) {
  return name.size() > kPartial.size() && name.front() == '.' && name.ends_with(kPartial);
}

}  // namespace stoker
