#include "photo/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "photo/folder.h"
#include "photo/jpeg.h"

namespace stoker::photo {
namespace {

constexpr int kMaxDepth = 32;
constexpr size_t kMaxFileBytes = 256u << 20;
constexpr size_t kShownLines = 20;

enum class Kind { kIgnored, kGood, kDamaged, kForeign };
struct Verdict {
  Kind kind = Kind::kIgnored;
  std::string reason;
  std::string hash;
  std::string odd;  // of a good photo; mostly empty
};

Status ListTree(const std::string& root, const std::string& below, int depth,
                std::vector<std::string>& out) {
  if (depth > kMaxDepth) return Invalid("folders are nested too deeply", JoinPath(root, below));
  STOKER_ASSIGN(const auto entries, ListDir(below.empty() ? root : JoinPath(root, below)));
  for (const DirEntry& entry : entries) {
    const std::string path = below.empty() ? entry.name : JoinPath(below, entry.name);
    if (entry.is_directory) {
      STOKER_TRY(ListTree(root, path, depth + 1, out));
    } else {
      out.push_back(path);
    }
  }
  return Ok();
}

bool HasOtherImageName(std::string_view name) {
  const std::string lower = ToLower(name);
  for (const char* end : {".png", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".heic", ".avif"}) {
    if (lower.ends_with(end)) return true;
  }
  return false;
}

Verdict Judge(const std::string& root, const std::string& path) {
  const bool named_jpeg = HasJpegName(path);
  if (!named_jpeg && !HasOtherImageName(path)) return {};
  const auto bytes = ReadFile(JoinPath(root, path), kMaxFileBytes);
  if (!bytes) return {Kind::kDamaged, bytes.error().what, {}, {}};
  const std::string hash = Sha256Hex(*bytes);
  const auto image = DecodeJpeg(*bytes, path);
  if (image) {
    const auto info = ReadJpegInfo(*bytes, path);
    return {
        Kind::kGood, {}, hash, info && info->exif_cut_short ? "its EXIF data is cut short" : ""};
  }
  const bool foreign =
      !bytes->empty() && SniffFormat(*bytes) != "JPEG" && !SniffFormat(*bytes).empty();
  return {foreign ? Kind::kForeign : Kind::kDamaged, image.error().what, hash, {}};
}

std::vector<Verdict> JudgeAll(const std::string& root, const std::vector<std::string>& paths,
                              int threads) {
  std::vector<Verdict> verdicts(paths.size());
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < paths.size(); i = next++) verdicts[i] = Judge(root, paths[i]);
  };
  std::vector<std::jthread> helpers;
  for (int i = 1; i < threads; ++i) helpers.emplace_back(work);
  work();
  helpers.clear();
  return verdicts;
}

// The split that a relative path stands in: the first folder on its way that is named like one.
std::string_view SplitOf(std::string_view path) {
  const auto parts = Split(path, '/');
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    if (const auto split = SplitName(parts[i]); !split.empty()) return split;
  }
  return {};
}

// Stores of one tree may share photos; a leak is inside one data set, whose root is above the
// split.
std::string DataSetOf(std::string_view path) {
  std::string root;
  for (const auto part : Split(path, '/')) {
    if (!SplitName(part).empty()) break;
    root += std::string(part) + "/";
  }
  return root;
}

bool IsLeak(const std::vector<std::string>& group) {
  std::map<std::string, std::set<std::string_view>> splits;
  for (const std::string& path : group) {
    if (const auto split = SplitOf(path); !split.empty()) splits[DataSetOf(path)].insert(split);
  }
  return std::any_of(splits.begin(), splits.end(),
                     [](const auto& entry) { return entry.second.size() > 1; });
}

Json BadList(const std::vector<BadPhoto>& photos) {
  Json list = Json::array();
  for (const BadPhoto& photo : photos) {
    list.push_back({{"path", photo.path}, {"reason", photo.reason}});
  }
  return list;
}

void AppendBad(std::string_view title, const std::vector<BadPhoto>& photos, std::string& out) {
  if (photos.empty()) return;
  out += fmt::format("{}: {}\n", title, photos.size());
  for (size_t i = 0; i < photos.size() && i < kShownLines; ++i) {
    out += fmt::format("  {}: {}\n", Printable(photos[i].path), Printable(photos[i].reason));
  }
  if (photos.size() > kShownLines) {
    out += fmt::format("  and {} more\n", photos.size() - kShownLines);
  }
}

void AppendGroups(std::string_view title, const std::vector<std::vector<std::string>>& groups,
                  std::string& out) {
  if (groups.empty()) return;
  out += fmt::format("{}: {}\n", title, groups.size());
  for (size_t i = 0; i < groups.size() && i < kShownLines; ++i) {
    out += fmt::format("  {}\n", Printable(Join(groups[i], " = ")));
  }
  if (groups.size() > kShownLines) {
    out += fmt::format("  and {} more\n", groups.size() - kShownLines);
  }
}

}  // namespace

Result<VerifyReport> VerifyFolder(const std::string& root, int threads) {
  STOKER_ASSIGN(const FileStat stat, StatFile(root));
  if (!stat.is_directory()) return Invalid("not a folder", root);
  std::vector<std::string> paths;
  STOKER_TRY(ListTree(root, "", 0, paths));
  std::vector<Verdict> verdicts = JudgeAll(root, paths, threads);
  VerifyReport report{.root = root};
  std::map<std::string, std::vector<std::string>> by_hash;
  for (size_t i = 0; i < paths.size(); ++i) {
    Verdict& verdict = verdicts[i];
    if (verdict.kind == Kind::kIgnored) {
      ++report.ignored;
      continue;
    }
    ++report.photos;
    if (verdict.kind == Kind::kGood) {
      ++report.good;
      ++report.good_by_folder[DirName(paths[i])];
      by_hash[verdict.hash].push_back(paths[i]);
      if (!verdict.odd.empty()) report.odd.push_back({paths[i], std::move(verdict.odd)});
    } else {
      auto& list = verdict.kind == Kind::kForeign ? report.foreign : report.damaged;
      list.push_back({paths[i], std::move(verdict.reason)});
    }
  }
  for (auto& [hash, group] : by_hash) {
    if (group.size() < 2) continue;
    if (IsLeak(group)) report.leaks.push_back(group);
    report.duplicates.push_back(std::move(group));
  }
  std::sort(report.duplicates.begin(), report.duplicates.end());
  std::sort(report.leaks.begin(), report.leaks.end());
  return report;
}

std::string VerifyJson(const VerifyReport& report) {
  Json folders = Json::object();
  for (const auto& [folder, good] : report.good_by_folder) folders[folder] = good;
  const Json json = {{"schema_version", 1},
                     {"folder", report.root},
                     {"photos", report.photos},
                     {"good", report.good},
                     {"ignored", report.ignored},
                     {"good_by_folder", std::move(folders)},
                     {"damaged", BadList(report.damaged)},
                     {"foreign", BadList(report.foreign)},
                     {"odd", BadList(report.odd)},
                     {"duplicates", report.duplicates},
                     {"leaks", report.leaks},
                     {"ok", report.ok()}};
  return DumpJson(json);
}

std::string VerifyText(const VerifyReport& report) {
  std::string out =
      fmt::format("{}: {} photos, {} good", Printable(report.root), report.photos, report.good);
  out += report.ignored > 0 ? fmt::format(", {} other files\n", report.ignored) : "\n";
  AppendBad("do not decode", report.damaged, out);
  AppendBad("not a JPEG", report.foreign, out);
  AppendBad("decode, but are odd", report.odd, out);
  AppendGroups("the same file more than once", report.duplicates, out);
  AppendGroups("the same photo in training and judging", report.leaks, out);
  return out;
}

}  // namespace stoker::photo
