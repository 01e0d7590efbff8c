#include "vault/finder.h"

#include <poll.h>
#include <sys/inotify.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <string_view>

#include "base/file.h"
#include "vault/whole.h"

namespace stoker::vault {
namespace {

constexpr uint32_t kMask = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_ONLYDIR | IN_EXCL_UNLINK;
constexpr size_t kMaxDepth = 64;  // slashes below "/"
constexpr std::array<std::string_view, 6> kSkipped = {"node_modules",  "__pycache__", "venv",
                                                      "site-packages", "lost+found",  "CMakeFiles"};
constexpr std::array<std::string_view, 4> kNeverRoots = {"/", "/proc", "/sys", "/dev"};

bool IsSkipped(const std::string& name) {
  return name.empty() || name.front() == '.' ||
         std::find(kSkipped.begin(), kSkipped.end(), name) != kSkipped.end();
}

bool IsBelow(std::string_view path, std::string_view root) {
  return path == root ||
         (path.size() > root.size() && path.starts_with(root) && path[root.size()] == '/');
}

}  // namespace

Finder::Finder() {
  const int fd = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (fd < 0) {
    watch_problem_ = FromErrno(errno, "watch folders", "").Line();
    return;
  }
  inotify_ = Fd(fd);
}

void Finder::AddRoot(const std::string& root, int max_folders) {
  if (std::find(kNeverRoots.begin(), kNeverRoots.end(), root) != kNeverRoots.end()) return;
  roots_.try_emplace(root).first->second.max_folders = max_folders;
}

void Finder::RemoveRoot(const std::string& root) {
  const auto found = roots_.find(root);
  if (found == roots_.end()) return;
  const Root gone = std::move(found->second);
  roots_.erase(found);
  for (const auto& [path, folder] : gone.folders) Forget(path);
}

bool Finder::Covers(const std::string& folder) const {
  return std::any_of(roots_.begin(), roots_.end(), [&](const auto& root) {
    return root.first == folder || root.second.folders.count(folder) != 0;
  });
}

bool Finder::Limited(const std::string& root) const {
  const auto found = roots_.find(root);
  return found != roots_.end() && found->second.limited;
}

bool Finder::TakeOverflow() { return std::exchange(overflow_, false); }

Result<std::vector<std::string>> Finder::Poll(Millis wait) {
  Paths out;
  pollfd waiting{inotify_.get(), POLLIN, 0};  // poll() passes over a negative descriptor
  const int ready =
      ::poll(&waiting, 1, static_cast<int>(std::clamp<int64_t>(wait.count(), 0, 60'000)));
  if (ready < 0 && errno != EINTR) return FromErrno(errno, "wait for changes", "");
  if (ready <= 0) return out;
  alignas(inotify_event) char buffer[64 * 1024];
  while (true) {
    const Result<size_t> got = ReadSome(inotify_, buffer, sizeof buffer, "inotify");
    if (!got) {
      if (got.error().code != Code::kUnavailable) return got.error();
      break;
    }
    if (*got == 0) break;
    for (size_t at = 0; at + sizeof(inotify_event) <= *got;) {
      inotify_event event;
      std::memcpy(&event, buffer + at, sizeof event);
      const char* name = buffer + at + sizeof event;
      Handle(event.wd, event.mask, std::string(name, ::strnlen(name, event.len)), out);
      at += sizeof event + event.len;
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void Finder::Handle(int wd, uint32_t mask, const std::string& name, Paths& out) {
  if ((mask & IN_Q_OVERFLOW) != 0) {
    overflow_ = true;
    return;
  }
  const auto found = path_of_.find(wd);
  if (found == path_of_.end()) return;
  const std::string folder = found->second;
  if ((mask & IN_IGNORED) != 0) {
    path_of_.erase(found);
    const auto watch = watch_of_.find(folder);
    if (watch != watch_of_.end() && watch->second == wd) watch_of_.erase(watch);
    return;
  }
  const std::string path = JoinPath(folder, name);
  if ((mask & IN_ISDIR) == 0) {
    if ((mask & (IN_CLOSE_WRITE | IN_MOVED_TO)) != 0 && LooksLikeCheckpoint(name)) {
      out.push_back(path);
    }
    return;
  }
  // A new folder may be filled before it is watched: walking it reports what it holds by then.
  if (IsSkipped(name)) return;
  for (auto& [root_path, root] : roots_) {
    if (IsBelow(path, root_path)) Walk(root_path, root, path, out);
  }
}

std::vector<std::string> Finder::Rescan(const std::string& root_path) {
  Paths out;
  const auto found = roots_.find(root_path);
  if (found == roots_.end()) return out;
  Root& root = found->second;
  root.limited = false;
  Walk(root_path, root, root_path, out);
  // Keep only folders that a walk from the root still reaches.
  std::set<std::string> kept;
  std::deque<std::string> queue{root_path};
  while (!queue.empty()) {
    const std::string path = queue.front();
    queue.pop_front();
    const auto folder = root.folders.find(path);
    if (folder == root.folders.end()) continue;
    kept.insert(path);
    for (const std::string& name : folder->second.folders) queue.push_back(JoinPath(path, name));
  }
  Paths gone;
  for (const auto& [path, folder] : root.folders) {
    if (kept.count(path) == 0) gone.push_back(path);
  }
  for (const std::string& path : gone) {
    root.folders.erase(path);
    Forget(path);
  }
  return out;
}

// Shallow folders first, so that the limit cuts off the deepest.
void Finder::Walk(const std::string& root_path, Root& root, const std::string& from, Paths& out) {
  std::deque<std::string> queue{from};
  while (!queue.empty()) {
    const std::string path = queue.front();
    queue.pop_front();
    const bool is_new = root.folders.count(path) == 0;
    if (is_new && root.folders.size() >= static_cast<size_t>(root.max_folders)) {
      root.limited = true;
      continue;
    }
    if (std::count(path.begin(), path.end(), '/') > static_cast<int64_t>(kMaxDepth)) continue;
    Watch(path, path == root_path);  // before listing, or a file could slip between
    Folder& folder = root.folders[path];
    if (!List(path, folder)) {
      root.folders.erase(path);
      Forget(path);
      continue;
    }
    for (const std::string& name : folder.files) out.push_back(JoinPath(path, name));
    for (const std::string& name : folder.folders) queue.push_back(JoinPath(path, name));
  }
}

// Keeps only names that matter: a folder with a million photos costs its listing once.
bool Finder::List(const std::string& path, Folder& folder) {
  const Result<FileStat> stat = StatFile(path);
  if (!stat || !stat->is_directory()) return false;
  if (stat->mtime_ns == folder.mtime_ns && folder.settled) return true;
  const Result<std::vector<DirEntry>> entries = ListDir(path);
  if (!entries) return false;
  // Entries made in the same clock tick as this listing do not show in the folder's time, so a
  // changed folder is listed twice.
  folder.settled = stat->mtime_ns == folder.mtime_ns;
  folder.mtime_ns = stat->mtime_ns;
  folder.files.clear();
  folder.folders.clear();
  for (const DirEntry& entry : *entries) {
    if (entry.is_regular && LooksLikeCheckpoint(entry.name)) folder.files.push_back(entry.name);
    if (entry.is_directory && !IsSkipped(entry.name)) folder.folders.push_back(entry.name);
  }
  return true;
}

void Finder::Watch(const std::string& path, bool is_root) {
  if (!inotify_.valid()) return;
  const int wd =
      ::inotify_add_watch(inotify_.get(), path.c_str(), kMask | (is_root ? 0 : IN_DONT_FOLLOW));
  if (wd < 0) {
    if (errno != ENOENT && errno != ENOTDIR && watch_problem_.empty()) {
      // ENOSPC here means the kernel's limit on watches, not a full disk.
      watch_problem_ = errno == ENOSPC ? "the kernel allows no more watches "
                                         "(raise fs.inotify.max_user_watches)"
                                       : FromErrno(errno, "watch", path).Line();
    }
    return;
  }
  // A moved folder keeps its watch number under a new name.
  const auto known = path_of_.find(wd);
  if (known != path_of_.end() && known->second != path) watch_of_.erase(known->second);
  path_of_[wd] = path;
  watch_of_[path] = wd;
}

void Finder::Forget(const std::string& path) {
  const auto watch = watch_of_.find(path);
  if (watch == watch_of_.end() || Covers(path)) return;
  const int wd = watch->second;
  watch_of_.erase(watch);
  path_of_.erase(wd);
  ::inotify_rm_watch(inotify_.get(), wd);
}

}  // namespace stoker::vault
