#include "vault/whole.h"

#include <fcntl.h>

#include <algorithm>
#include <array>

#include "base/durable_file.h"
#include "base/file.h"
#include "base/text.h"
#include "vault/formats.h"

namespace stoker::vault {
namespace {

constexpr std::array<std::string_view, 10> kExtensions = {
    ".safetensors", ".pt", ".pth", ".th", ".ckpt", ".onnx", ".bin", ".gguf", ".distcp", ".h5"};
constexpr std::string_view kLegacyMagic =
    "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";

bool IsTorchName(std::string_view lower) {
  return lower.ends_with(".pt") || lower.ends_with(".pth") || lower.ends_with(".ckpt") ||
         lower.ends_with(".th");
}

// Formats without an end mark: the best that can be said is that nobody writes any more.
Verdict JudgeByStart(std::string_view head, std::string_view lower_name) {
  if (head.starts_with(kLegacyMagic)) {
    return QuietOnly("torch-legacy", "the old torch format has no end mark");
  }
  if (head.size() >= 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5) {
    return QuietOnly("pickle", "a pickle has no end mark that can be trusted");
  }
  if (head.starts_with("GGUF")) return QuietOnly("gguf", "not checked inside");
  if (head.starts_with("\x89HDF\r\n\x1a\n")) return QuietOnly("hdf5", "not checked inside");
  if (IsTorchName(lower_name) && std::all_of(head.begin(), head.end(), [](char c) { return !c; })) {
    return NotWhole("torch", "begins with zero bytes: space without content");
  }
  return QuietOnly("unknown", "an unknown format, not checked inside");
}

}  // namespace

bool LooksLikeCheckpoint(std::string_view path) {
  const std::string name = ToLower(BaseName(path));
  if (name.empty() || name.front() == '.' || IsPartialName(name)) return false;
  return std::any_of(kExtensions.begin(), kExtensions.end(), [&](std::string_view extension) {
    return name.size() > extension.size() && name.ends_with(extension);
  });
}

Result<Verdict> ExamineFd(const Fd& fd, const std::string& path, const std::atomic<bool>* cancel) {
  STOKER_ASSIGN(const FileStat stat, StatFd(fd, path));
  if (!stat.is_regular()) return Invalid("not a regular file", path);
  if (stat.size_bytes == 0) return NotWhole("empty", "empty");
  const FileBytes file(fd, stat.size_bytes, path, cancel);
  const std::string name = ToLower(BaseName(path));
  const auto check = [&]() -> Result<Verdict> {
    STOKER_ASSIGN(const std::string head,
                  file.ReadAt(0, static_cast<size_t>(std::min<int64_t>(file.size(), 32))));
    if (name.ends_with(".safetensors")) return CheckSafetensors(file);
    if (name.ends_with(".onnx")) return CheckOnnx(file);
    if (head.starts_with("PK\x03\x04")) return CheckZip(file);
    return JudgeByStart(head, name);
  };
  Result<Verdict> verdict = check();
  // A file that shrinks under the reader is being rewritten: that is a verdict, no trouble of ours.
  if (!verdict && verdict.error().code == Code::kCorrupt) {
    return NotWhole("", verdict.error().what);
  }
  return verdict;
}

Result<Verdict> Examine(const std::string& path) {
  // Not through a link, and never waiting for the other end of a pipe with such a name.
  STOKER_ASSIGN(const Fd fd, OpenFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  return ExamineFd(fd, path);
}

}  // namespace stoker::vault
