// One version of a file, told from another without reading it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/result.h"

namespace stoker::vault {

struct Version {
  int64_t bytes = 0;
  int64_t mtime_ns = 0;
  uint64_t inode = 0;  // 0: unknown, as after a restart of the daemon

  bool Same(const Version& other) const {
    return bytes == other.bytes && mtime_ns == other.mtime_ns &&
           (inode == other.inode || inode == 0 || other.inode == 0);
  }
};

inline Version VersionOf(const FileStat& stat) {
  return {stat.size_bytes, stat.mtime_ns, stat.inode};
}
// Does not follow a link; nullopt where there is no regular file.
Result<std::optional<Version>> VersionAt(const std::string& path);

}  // namespace stoker::vault
