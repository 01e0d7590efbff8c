#include "runlog/tail.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/file.h"
#include "base/text.h"

namespace stoker::runlog {
namespace {

constexpr size_t kMaxLine = 1 << 20;
constexpr size_t kMaxLines = 1 << 16;  // a batch of empty lines must not eat the memory
constexpr size_t kChunk = 64 << 10;
constexpr int64_t kFingerprint = 64;

// A mark as text: "device:inode:offset:print:skip". `print` is a hash of the bytes just before the
// offset: file systems hand a removed file's inode number to its successor.
struct Mark {
  uint64_t device = 0;
  uint64_t inode = 0;
  int64_t offset = 0;
  uint64_t print = 0;
  bool skip = false;  // inside a line whose cut head was returned: skip to its end
};

std::optional<Mark> ParseMark(const std::string& text) {
  const auto parts = Split(text, ':');
  if (parts.size() != 5) return std::nullopt;
  std::optional<int64_t> numbers[5];
  for (size_t i = 0; i < 5; ++i) {
    numbers[i] = ParseInt(parts[i]);
    if (!numbers[i]) return std::nullopt;
  }
  if (*numbers[2] < 0) return std::nullopt;
  return Mark{static_cast<uint64_t>(*numbers[0]), static_cast<uint64_t>(*numbers[1]), *numbers[2],
              static_cast<uint64_t>(*numbers[3]), *numbers[4] != 0};
}

std::string FormatMark(const Mark& mark) {
  std::string out;
  for (const int64_t number :
       {static_cast<int64_t>(mark.device), static_cast<int64_t>(mark.inode), mark.offset,
        static_cast<int64_t>(mark.print), static_cast<int64_t>(mark.skip)}) {
    if (!out.empty()) out.push_back(':');
    out += std::to_string(number);
  }
  return out;
}

Status SeekTo(const Fd& fd, int64_t offset, const std::string& path) {
  if (::lseek(fd.get(), offset, SEEK_SET) < 0) return FromErrno(errno, "seek in", path);
  return Ok();
}

Result<uint64_t> PrintBefore(const Fd& fd, int64_t offset, const std::string& path) {
  const int64_t from = std::max<int64_t>(0, offset - kFingerprint);
  STOKER_TRY(SeekTo(fd, from, path));
  char bytes[kFingerprint];
  size_t have = 0;
  while (have < static_cast<size_t>(offset - from)) {
    STOKER_ASSIGN(const size_t got,
                  ReadSome(fd, bytes + have, static_cast<size_t>(offset - from) - have, path));
    if (got == 0) break;
    have += got;
  }
  uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (size_t i = 0; i < have; ++i)
    hash = (hash ^ static_cast<unsigned char>(bytes[i])) * 1099511628211u;
  return hash >> 1;  // fits a signed number, which is what ParseInt reads
}

// Where to read on: the mark, or the start of a file that is not the one the mark was made in.
Result<Mark> Resume(const Fd& fd, const FileStat& stat, const std::string& text,
                    const std::string& path, bool& restarted) {
  const Mark fresh{stat.device, stat.inode, 0, 0, false};
  const auto mark = ParseMark(text);
  if (!mark) {
    restarted = !text.empty();
    return fresh;
  }
  restarted = true;
  if (mark->device != stat.device || mark->inode != stat.inode || mark->offset > stat.size_bytes)
    return fresh;
  STOKER_ASSIGN(const uint64_t print, PrintBefore(fd, mark->offset, path));
  if (mark->offset > 0 && print != mark->print) return fresh;
  restarted = false;
  return *mark;
}

// Cuts bytes into lines; `offset_` is always just after the last byte that needs no second reading.
class LineCutter {
 public:
  LineCutter(Mark& mark, TailBatch& batch, size_t max_bytes)
      : mark_(mark), batch_(batch), max_bytes_(max_bytes) {}

  // False once the budget is spent; the mark then stands at the next byte to read.
  bool Take(std::string_view bytes) {
    while (!bytes.empty()) {
      const char* newline = static_cast<const char*>(std::memchr(bytes.data(), '\n', bytes.size()));
      const size_t length =
          newline == nullptr ? bytes.size() : static_cast<size_t>(newline - bytes.data());
      if (mark_.skip) {
        Advance(length);
      } else {
        line_.append(bytes.substr(0, std::min(length, kMaxLine + 1 - line_.size())));
        pending_ += length;
        if (line_.size() > kMaxLine) CutLine();
      }
      bytes.remove_prefix(length);
      if (newline != nullptr) {
        EndLine();
        bytes.remove_prefix(1);
      }
      if (Spent()) return false;
    }
    return true;
  }

  void Finish() {
    if (pending_ > 0 && !mark_.skip) Emit();
  }

 private:
  bool Spent() const {
    if (pending_ > 0 && !mark_.skip) return false;  // a line once begun is read to its end
    return taken_ >= max_bytes_ || batch_.lines.size() >= kMaxLines;
  }
  void Advance(size_t bytes) {
    mark_.offset += static_cast<int64_t>(bytes);
    taken_ += bytes;
  }
  void Emit() {
    if (!line_.empty() && line_.back() == '\r') line_.pop_back();
    if (!line_.empty()) batch_.lines.push_back(std::move(line_));
    line_.clear();
    Advance(pending_);
    pending_ = 0;
  }
  void CutLine() {
    line_.resize(kMaxLine);
    Emit();
    ++batch_.cut;
    mark_.skip = true;
  }
  void EndLine() {
    if (!mark_.skip) Emit();
    Advance(1);
    mark_.skip = false;
  }

  Mark& mark_;
  TailBatch& batch_;
  const size_t max_bytes_;
  std::string line_;
  size_t pending_ = 0;  // bytes of the file in line_
  size_t taken_ = 0;
};

}  // namespace

Result<TailBatch> ReadNew(const std::string& path, const std::string& mark_text, bool final,
                          size_t max_bytes) {
  TailBatch batch;
  batch.mark = mark_text;
  // Without O_NONBLOCK the open of a named pipe would wait for a writer.
  auto fd = OpenFile(path, O_RDONLY | O_NONBLOCK);
  if (!fd && fd.error().code == Code::kNotFound) return batch;
  if (!fd) return fd.error();
  STOKER_ASSIGN(const FileStat stat, StatFd(*fd, path));
  if (!stat.is_regular()) return Invalid("not a regular file", path);
  STOKER_ASSIGN(Mark mark, Resume(*fd, stat, mark_text, path, batch.restarted));
  STOKER_TRY(SeekTo(*fd, mark.offset, path));

  LineCutter cutter(mark, batch, std::max<size_t>(1, max_bytes));
  std::string chunk(kChunk, '\0');
  while (true) {
    STOKER_ASSIGN(const size_t got, ReadSome(*fd, chunk.data(), chunk.size(), path));
    if (got == 0) {
      if (final) cutter.Finish();
      break;
    }
    if (!cutter.Take({chunk.data(), got})) {
      batch.more = true;
      break;
    }
  }
  if (batch.more) {  // the budget may have ended exactly with the file
    STOKER_ASSIGN(const FileStat now, StatFd(*fd, path));
    batch.more = mark.offset < now.size_bytes;
  }
  STOKER_ASSIGN(mark.print, PrintBefore(*fd, mark.offset, path));
  batch.mark = FormatMark(mark);
  return batch;
}

}  // namespace stoker::runlog
