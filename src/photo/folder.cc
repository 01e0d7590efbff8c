#include "photo/folder.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/file.h"
#include "base/text.h"

namespace stoker::photo {
namespace {

constexpr size_t kOneInVal = 5;

struct ClassPhotos {
  std::vector<std::string> paths;
  int other_files = 0;
};
using Split = std::map<std::string, ClassPhotos>;

// A link counts as what it points to.
bool IsDirectory(const DirEntry& entry, const std::string& path) {
  if (entry.is_directory || entry.is_regular) return entry.is_directory;
  const auto stat = StatFile(path);
  return stat && stat->is_directory();
}

Result<ClassPhotos> ReadClass(const std::string& dir) {
  STOKER_ASSIGN(const auto entries, ListDir(dir));
  ClassPhotos found;
  for (const DirEntry& entry : entries) {
    const std::string path = JoinPath(dir, entry.name);
    if (entry.name.starts_with(".") || IsDirectory(entry, path)) continue;
    if (HasJpegName(entry.name)) {
      found.paths.push_back(path);
    } else {
      ++found.other_files;
    }
  }
  return found;
}

Result<Split> ReadSplit(const std::string& dir) {
  STOKER_ASSIGN(const auto entries, ListDir(dir));
  Split split;
  for (const DirEntry& entry : entries) {
    const std::string path = JoinPath(dir, entry.name);
    if (entry.name.starts_with(".") || !IsDirectory(entry, path)) continue;
    STOKER_ASSIGN(split[entry.name], ReadClass(path));
  }
  return split;
}

void AddPhotos(const Split& split, const std::string& split_name, Folder& folder,
               std::vector<PhotoFile>& out) {
  for (const auto& [name, found] : split) {
    if (found.other_files > 0) {
      folder.notes.push_back(name + ": " + std::to_string(found.other_files) +
                             " files that are not named .jpg were left out");
    }
    const auto at = std::lower_bound(folder.classes.begin(), folder.classes.end(), name);
    if (at == folder.classes.end() || *at != name) {
      if (!found.paths.empty()) {
        folder.notes.push_back(split_name + "/" + name + " has no training photos: left out");
      }
      continue;
    }
    const int label = static_cast<int>(at - folder.classes.begin());
    for (const std::string& path : found.paths) out.push_back({path, label});
  }
}

// Moves about one photo in five of every class that has two or more, chosen by the hash of its
// name.
void CutVal(Folder& folder) {
  std::map<int, std::vector<PhotoFile>> by_class;
  for (PhotoFile& photo : folder.train) by_class[photo.label].push_back(std::move(photo));
  folder.train.clear();
  for (auto& [label, photos] : by_class) {
    const size_t cut = photos.size() < 2 ? 0 : std::max<size_t>(1, photos.size() / kOneInVal);
    std::sort(photos.begin(), photos.end(), [](const PhotoFile& a, const PhotoFile& b) {
      const uint64_t left = StableHash(BaseName(a.path));
      const uint64_t right = StableHash(BaseName(b.path));
      return left != right ? left < right : a.path < b.path;
    });
    folder.val.insert(folder.val.end(), photos.begin(), photos.begin() + cut);
    folder.train.insert(folder.train.end(), photos.begin() + cut, photos.end());
  }
  const auto by_path = [](const PhotoFile& a, const PhotoFile& b) { return a.path < b.path; };
  std::sort(folder.val.begin(), folder.val.end(), by_path);
  std::sort(folder.train.begin(), folder.train.end(), by_path);
  folder.val_was_cut = true;
}

void NoteEmptyClasses(const Split& train, Folder& folder) {
  for (const auto& [name, found] : train) {
    if (found.paths.empty()) folder.notes.push_back("class " + name + " has no photos: left out");
  }
}

}  // namespace

bool HasJpegName(std::string_view name) {
  const std::string lower = ToLower(name);
  return lower.ends_with(".jpg") || lower.ends_with(".jpeg") || lower.ends_with(".jpe");
}

std::string_view SplitName(std::string_view folder_name) {
  const std::string lower = ToLower(folder_name);
  if (lower == "train" || lower == "training") return "train";
  if (lower == "val" || lower == "valid" || lower == "validation") return "val";
  if (lower == "test") return "test";
  return {};
}

uint64_t StableHash(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, then a finish that spreads the low bits
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccd;
  return hash ^ (hash >> 33);
}

Result<Folder> OpenFolder(const std::string& root) {
  STOKER_ASSIGN(const FileStat stat, StatFile(root));
  if (!stat.is_directory()) return Invalid("not a folder", root);
  STOKER_ASSIGN(const std::string here, CurrentDir());
  Folder folder;
  folder.root = root;
  folder.name = BaseName(CleanPath(root, here));
  std::map<std::string_view, Split> splits;
  STOKER_ASSIGN(const auto entries, ListDir(root));
  for (const DirEntry& entry : entries) {
    const std::string path = JoinPath(root, entry.name);
    const std::string_view split = SplitName(entry.name);
    if (split.empty() || !IsDirectory(entry, path)) continue;
    STOKER_ASSIGN(splits[split], ReadSplit(path));
  }
  if (!splits.contains("train")) {
    splits.clear();
    STOKER_ASSIGN(splits["train"], ReadSplit(root));
  }
  for (const auto& [name, found] : splits["train"]) {
    if (!found.paths.empty()) folder.classes.push_back(name);
  }
  NoteEmptyClasses(splits["train"], folder);
  for (auto& [name, split] : splits) {
    AddPhotos(split, std::string(name), folder,
              name == "train" ? folder.train
              : name == "val" ? folder.val
                              : folder.test);
  }
  if (folder.train.empty()) {
    return Invalid("no photos", root, "expected DIR/CLASS/*.jpg or DIR/train/CLASS/*.jpg");
  }
  if (folder.classes.size() < 2) {
    return Invalid("one class only (" + folder.classes.front() + ")", root,
                   "a classifier needs at least two class folders");
  }
  if (folder.val.empty()) CutVal(folder);
  return folder;
}

}  // namespace stoker::photo
