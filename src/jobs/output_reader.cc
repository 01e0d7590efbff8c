#include "jobs/output_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/file.h"
#include "base/text.h"
#include "jobs/output_log.h"

namespace stoker::jobs {
namespace {

constexpr size_t kChunk = 64 << 10;
constexpr size_t kMaxTorn = 1 << 20;  // no writer of ours makes longer records

// Where the middle was dropped in a file, if it was.
struct Gap {
  int64_t at = 0;
  int64_t length = 0;
  int64_t dropped = 0;
};

Result<std::optional<Gap>> FindGap(const Fd& fd, const std::string& path) {
  std::string text;
  std::string chunk(kChunk, '\0');
  int64_t at = 0;  // of the first byte of `text`
  while (true) {
    STOKER_ASSIGN(const size_t got, ReadSome(fd, chunk.data(), chunk.size(), path));
    if (got == 0) return std::optional<Gap>();
    text.append(chunk, 0, got);
    size_t begin = 0;
    for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
      const auto record = ParseRecord(std::string_view(text).substr(begin, end - begin));
      const auto dropped = record ? DroppedBytes(*record) : std::nullopt;
      if (dropped) {
        return std::optional(
            Gap{at + static_cast<int64_t>(begin), static_cast<int64_t>(end + 1 - begin), *dropped});
      }
      begin = end + 1;
    }
    text.erase(0, begin);
    at += static_cast<int64_t>(begin);
    if (text.size() > kMaxTorn) return std::optional<Gap>();  // not a file of ours
  }
}

}  // namespace

OutputReader::OutputReader(std::string folder, int64_t position)
    : folder_(std::move(folder)), path_(OutputPath(folder_)), position_(position) {}

Status OutputReader::Open() {
  STOKER_ASSIGN(fd_, OpenFile(path_, O_RDONLY | O_NONBLOCK));
  STOKER_ASSIGN(const FileStat stat, StatFd(fd_, path_));
  device_ = stat.device;
  inode_ = stat.inode;
  torn_.clear();
  return position_ == 0 ? Ok() : FindPlace();
}

// The position in a file that another reader, or this one in an older file, has come to.
Status OutputReader::FindPlace() {
  STOKER_ASSIGN(const auto gap, FindGap(fd_, path_));
  int64_t offset = position_;
  if (gap && position_ > gap->at) {
    const int64_t after_gap = gap->at + gap->dropped;
    // Between the two, what comes next is gone: the gap's own line says so.
    offset = position_ >= after_gap ? position_ - gap->dropped + gap->length : gap->at;
    if (position_ < after_gap) position_ = gap->at;
  }
  STOKER_ASSIGN(const FileStat stat, StatFd(fd_, path_));
  if (::lseek(fd_.get(), std::min(offset, stat.size_bytes), SEEK_SET) < 0)
    return FromErrno(errno, "seek in", path_);
  return Ok();
}

void OutputReader::TakeLine(std::string_view line, const Take& take) {
  const auto record = ParseRecord(line);
  const auto dropped = record ? DroppedBytes(*record) : std::nullopt;
  position_ += dropped ? *dropped : static_cast<int64_t>(line.size()) + 1;
  take(record ? *record : OutputRecord{{}, 'o', line});
}

void OutputReader::TakeLines(const Take& take) {
  size_t begin = 0;
  for (size_t end = torn_.find('\n'); end != std::string::npos; end = torn_.find('\n', begin)) {
    TakeLine(std::string_view(torn_).substr(begin, end - begin), take);
    begin = end + 1;
  }
  torn_.erase(0, begin);
  if (torn_.size() <= kMaxTorn) return;
  position_ += static_cast<int64_t>(torn_.size());
  take(OutputRecord{{}, 'O', torn_});
  torn_.clear();
}

Status OutputReader::ReadToEnd(const Take& take) {
  std::string chunk(kChunk, '\0');
  while (true) {
    STOKER_ASSIGN(const size_t got, ReadSome(fd_, chunk.data(), chunk.size(), path_));
    if (got == 0) return StepBack();
    torn_.append(chunk, 0, got);
    TakeLines(take);
  }
}

// A writer whose disk is full takes half a record back: so must we, or the next one starts within.
Status OutputReader::StepBack() {
  STOKER_ASSIGN(const FileStat stat, StatFd(fd_, path_));
  const off_t offset = ::lseek(fd_.get(), 0, SEEK_CUR);
  if (offset <= stat.size_bytes) return Ok();
  const off_t back = std::min<off_t>(offset - static_cast<off_t>(torn_.size()), stat.size_bytes);
  torn_.clear();
  if (::lseek(fd_.get(), back, SEEK_SET) < 0) return FromErrno(errno, "seek in", path_);
  return Ok();
}

bool OutputReader::Replaced() const {
  const auto stat = StatFile(path_);
  return stat && (stat->device != device_ || stat->inode != inode_);
}

Status OutputReader::Read(const Take& take) {
  if (!fd_.valid()) {
    if (!FileExists(path_)) return Ok();
    STOKER_TRY(Open());
  }
  STOKER_TRY(ReadToEnd(take));
  while (Replaced()) {
    // The old file gets no more bytes once it has a successor: one more look, then over.
    STOKER_TRY(ReadToEnd(take));
    STOKER_TRY(Open());
    STOKER_TRY(ReadToEnd(take));
  }
  return Ok();
}

std::vector<OutputReader::Unfinished> OutputReader::Progress() const {
  std::vector<Unfinished> out;
  const auto text = ReadFile(ProgressPath(folder_), kMaxTorn);
  if (!text) return out;
  const auto lines = Split(*text, '\n');
  if (lines.empty() || ParseInt(lines[0]) != position_) return out;
  for (size_t i = 1; i < lines.size(); ++i) {
    const auto record = ParseRecord(lines[i]);
    if (record) out.push_back({record->is_stderr(), std::string(record->text)});
  }
  return out;
}

}  // namespace stoker::jobs
