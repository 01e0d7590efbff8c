// The one durable write: temporary file beside the target, write, fsync, rename, fsync the folder.
// After SIGKILL or power loss at any instant the target is the old file or the new one, whole.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace stoker {

Status WriteDurably(const std::string& path, std::string_view bytes, mode_t mode = 0644);

// The same for content that does not fit in memory: `fill` writes it to the descriptor. If `fill`
// fails, the target is untouched and the temporary file is gone.
Status WriteDurably(const std::string& path, const std::function<Status(const Fd&)>& fill,
                    mode_t mode = 0644);

// Creates `path` durably, or kUnavailable where it exists already (link, not rename).
Status CreateDurably(const std::string& path, std::string_view bytes, mode_t mode = 0644);

Status SyncDir(const std::string& path);

// Temporary files that a killed write left beside targets are named ".<name>.<random>.partial".
bool IsPartialName(std::string_view name);

}  // namespace stoker
