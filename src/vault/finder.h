// Finds checkpoint files below folders: told by the kernel (inotify) at once, and by looking again
// for what the kernel cannot tell (network drives, queue overflow, no watches left). Never follows
// links, never enters hidden folders or those that hold no results (node_modules, site-packages,
// …).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "base/units.h"

namespace stoker::vault {

class Finder {
 public:
  Finder();  // without inotify it works on, by Rescan alone

  // Watches `root` and at most `max_folders` folders below it, shallow ones first. Adding twice is
  // one. A root that does not exist yet is found by a later Rescan.
  void AddRoot(const std::string& root, int max_folders);
  void RemoveRoot(const std::string& root);
  bool HasRoot(const std::string& root) const { return roots_.count(root) != 0; }
  // True where `folder` is watched or looked through already.
  bool Covers(const std::string& folder) const;
  // True where the last look left folders out because of the limit.
  bool Limited(const std::string& root) const;

  // Checkpoint files closed after writing, or moved here, since the last call; waits up to `wait`.
  Result<std::vector<std::string>> Poll(Millis wait);
  // Every checkpoint file below `root`. Folders whose time has not changed are not listed again.
  std::vector<std::string> Rescan(const std::string& root);
  // True once after the kernel dropped events: time for a Rescan of everything.
  bool TakeOverflow();
  // Why some folders are not watched; empty where all are.
  const std::string& watch_problem() const { return watch_problem_; }

 private:
  struct Folder {
    int64_t mtime_ns = -1;
    bool settled = false;  // listed at least once since its time changed last
    std::vector<std::string> files, folders;
  };
  struct Root {
    int max_folders = 0;
    bool limited = false;
    std::map<std::string, Folder> folders;
  };
  using Paths = std::vector<std::string>;

  void Walk(const std::string& root_path, Root& root, const std::string& from, Paths& out);
  bool List(const std::string& path, Folder& folder);
  void Watch(const std::string& path, bool is_root);
  void Forget(const std::string& path);
  void Handle(int wd, uint32_t mask, const std::string& name, Paths& out);

  Fd inotify_;
  std::map<std::string, Root> roots_;
  std::map<int, std::string> path_of_;
  std::map<std::string, int> watch_of_;
  bool overflow_ = false;
  std::string watch_problem_;
};

}  // namespace stoker::vault
