#include "blob/dir/dir_store.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "base/durable_file.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/text.h"

namespace stoker::blob {
namespace {

constexpr size_t kChunk = 256 * 1024;
constexpr int kMaxDepth = 64;  // more than a key of 512 characters that we made can have

Status CopyOut(const Source& source, const Fd& fd, const std::string& where) {
  while (true) {
    STOKER_ASSIGN(const std::string_view bytes, source());
    if (bytes.empty()) return Ok();
    STOKER_TRY(WriteAll(fd, bytes, where));
  }
}

class DirStore final : public ObjectStore {
 public:
  explicit DirStore(std::string root) : root_(std::move(root)) {}

  Status Put(const std::string& key, const Source& source) override {
    STOKER_TRY(CheckKey(key));
    STOKER_TRY(CheckRoot());
    const std::string path = JoinPath(root_, key);
    STOKER_TRY(MakeFolder(DirName(path)));
    return WriteDurably(path, [&](const Fd& fd) { return CopyOut(source, fd, path); });
  }

  Status Get(const std::string& key, const Sink& sink) override {
    STOKER_TRY(Head(key));
    const std::string path = JoinPath(root_, key);
    STOKER_ASSIGN(const Fd fd, OpenFile(path, O_RDONLY | O_NOFOLLOW));
    std::string buffer(kChunk, '\0');
    while (true) {
      STOKER_ASSIGN(const size_t got, ReadSome(fd, buffer.data(), buffer.size(), path));
      if (got == 0) return Ok();
      STOKER_TRY(sink(std::string_view(buffer).substr(0, got)));
    }
  }

  Result<ObjectInfo> Head(const std::string& key) override {
    STOKER_TRY(CheckKey(key));
    STOKER_TRY(CheckRoot());
    const std::string path = JoinPath(root_, key);
    STOKER_ASSIGN(const FileStat stat, StatFile(path));
    if (!stat.is_regular()) return NotFound("no such object", path);
    return ObjectInfo{key, stat.size_bytes};
  }

  Result<std::vector<ObjectInfo>> List(const std::string& prefix) override {
    STOKER_TRY(CheckRoot());
    std::vector<ObjectInfo> out;
    STOKER_TRY(Walk("", 0, [&](const std::string& key, bool is_folder) -> Result<bool> {
      // A folder is entered where its keys can still begin with the prefix.
      if (is_folder) return prefix.starts_with(key + "/") || (key + "/").starts_with(prefix);
      if (!key.starts_with(prefix) || !CheckKey(key)) return false;
      // It may be deleted between the listing and here.
      const Result<FileStat> stat = StatFile(JoinPath(root_, key));
      if (stat) out.push_back({key, stat->size_bytes});
      return false;
    }));
    // Folder order is not key order: "a.b" sorts before "a/b" as a name, after it as a key.
    std::sort(out.begin(), out.end(),
              [](const ObjectInfo& a, const ObjectInfo& b) { return a.key < b.key; });
    return out;
  }

  Status Delete(const std::string& key) override {
    STOKER_TRY(CheckKey(key));
    STOKER_TRY(CheckRoot());
    const std::string path = JoinPath(root_, key);
    const Status removed = RemoveFile(path);
    if (!removed) return removed.error().code == Code::kNotFound ? Ok() : removed;
    if (!FileExists(DirName(path))) return Ok();
    return SyncDir(DirName(path));
  }

  std::string Describe() const override { return "folder " + root_; }

  Status CleanLeftovers() override {
    STOKER_TRY(CheckRoot());
    return Walk("", 0, [&](const std::string& key, bool is_folder) -> Result<bool> {
      if (is_folder) return true;
      if (IsPartialName(BaseName(key))) STOKER_TRY(RemoveFile(JoinPath(root_, key)));
      return false;
    });
  }

 private:
  Status CheckRoot() const {
    const Result<FileStat> stat = StatFile(root_);
    if (stat && stat->is_directory()) return Ok();
    return Unavailable("the store's folder is gone", root_, "is its disk mounted?");
  }

  // New folders are synced into their parents, or a power cut could drop a synced file with them.
  Status MakeFolder(const std::string& path) const {
    if (path == root_ || FileExists(path)) return Ok();
    STOKER_TRY(MakeFolder(DirName(path)));
    STOKER_TRY(MakeDirs(path));
    return SyncDir(DirName(path));
  }

  // `visit` sees every file and folder by key and says whether to enter a folder.
  Status Walk(const std::string& below, int depth,
              const std::function<Result<bool>(const std::string&, bool)>& visit) const {
    if (depth > kMaxDepth) return Ok();
    const Result<std::vector<DirEntry>> entries = ListDir(JoinPath(root_, below));
    if (!entries) return entries.error().code == Code::kNotFound ? Ok() : Status(entries.error());
    for (const DirEntry& entry : *entries) {
      if (!entry.is_directory && !entry.is_regular) continue;
      const std::string key = JoinPath(below, entry.name);
      STOKER_ASSIGN(const bool enter, visit(key, entry.is_directory));
      if (entry.is_directory && enter) STOKER_TRY(Walk(key, depth + 1, visit));
    }
    return Ok();
  }

  const std::string root_;
};

}  // namespace

Result<std::unique_ptr<ObjectStore>> OpenDirStore(const std::string& root) {
  if (root.empty()) return Invalid("a store needs a folder", "store");
  STOKER_ASSIGN(const std::string cwd, CurrentDir());
  const std::string clean = CleanPath(root, cwd);
  STOKER_TRY(MakeDirs(clean));
  return std::unique_ptr<ObjectStore>(std::make_unique<DirStore>(clean));
}

}  // namespace stoker::blob
