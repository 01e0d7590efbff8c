#include "jobs/output_log.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "jobs/output_frame.h"

namespace stoker::jobs {
namespace {

constexpr size_t kChunk = 256 << 10;
constexpr size_t kMaxProgressText = 4 << 10;
constexpr int64_t kLineSearch = 2 * (kMaxRecordText + kFrameBytes);
constexpr Millis kProgressInterval{1000};
constexpr std::chrono::seconds kCutRetry{5};

char Code(Stream stream, bool ends_line) {
  if (stream == Stream::kOut) return ends_line ? 'o' : 'O';
  return ends_line ? 'e' : 'E';
}

}  // namespace

Result<OutputLog> OutputLog::Open(const std::string& folder, const Clock& clock, int64_t limit) {
  const std::string path = OutputPath(folder);
  STOKER_ASSIGN(Fd fd, OpenFile(path, O_RDWR | O_APPEND | O_CREAT, 0644));
  STOKER_ASSIGN(const FileStat stat, StatFd(fd, path));
  return OutputLog(folder, std::move(fd), stat.size_bytes, clock, limit);
}

OutputLog::OutputLog(std::string folder, Fd fd, int64_t size, const Clock& clock, int64_t limit)
    : folder_(std::move(folder)),
      path_(OutputPath(folder_)),
      fd_(std::move(fd)),
      clock_(&clock),
      limit_(limit),
      size_(size),
      logical_(size) {}

void OutputLog::Stamp() {
  const WallTime now = clock_->Now();
  if (now == stamped_) return;
  stamped_ = now;
  stamp_ = FormatTime(now);
}

void OutputLog::AddRecord(char code, std::string_view text) {
  frame_ += stamp_;
  frame_.push_back(' ');
  frame_.push_back(code);
  frame_.push_back(' ');
  frame_ += text;
  frame_.push_back('\n');
}

void OutputLog::Take(Stream stream, std::string_view bytes) {
  LineAssembler& line = lines_[static_cast<size_t>(stream)];
  Stamp();
  line.Add(bytes, [&](std::string_view text, bool ends) { AddRecord(Code(stream, ends), text); });
  progress_stale_ = true;
  Flush();
}

void OutputLog::EndOfStream(Stream stream) {
  LineAssembler& line = lines_[static_cast<size_t>(stream)];
  Stamp();
  if (!line.text().empty()) AddRecord(Code(stream, false), line.text());
  line.Clear();
  progress_stale_ = true;
  Flush();
}

void OutputLog::Say(std::string_view text) {
  Stamp();
  AddRecord(kSaidCode, Printable(text));
  Flush();
}

// Writes what is framed, in one write for all of it.
void OutputLog::Flush() {
  if (frame_.empty()) return;
  const std::string frame = std::exchange(frame_, {});
  TellLoss();
  if (lost_ > 0 || !Append(frame)) lost_ += static_cast<int64_t>(frame.size());
}

// Where output could not be written, the place says so before anything else stands there.
void OutputLog::TellLoss() {
  if (lost_ == 0) return;
  Stamp();
  AddRecord(kSaidCode,
            fmt::format("{} bytes of this log were lost here: they could not be written", lost_));
  if (Append(std::exchange(frame_, {}))) lost_ = 0;
}

Status OutputLog::Append(std::string_view bytes) {
  const auto length = static_cast<int64_t>(bytes.size());
  if (size_ + length > limit_) {
    if (clock_->Mono() < next_cut_) return Unavailable("no room", path_);
    const Status cut = CutMiddle();
    if (!cut) {
      next_cut_ = clock_->Mono() + kCutRetry;
      return cut;
    }
  }
  const Status written = WriteAll(fd_, bytes, path_);
  if (!written) {
    // Half a record would join the next one: back to the last whole one. A file that somebody
    // emptied meanwhile is shorter already.
    const auto stat = StatFd(fd_, path_);
    if (stat && stat->size_bytes > size_ && ::ftruncate(fd_.get(), size_) != 0)
      return FromErrno(errno, "shorten", path_);
    return written;
  }
  size_ += length;
  logical_ += length;
  return Ok();
}

// The start of the first line at or after `near`, or `near` where there is no line end close by.
Result<int64_t> OutputLog::LineStart(int64_t near) {
  std::string window(kLineSearch, '\0');
  const ssize_t got = ::pread(fd_.get(), window.data(), window.size(), near);
  if (got < 0) return FromErrno(errno, "read", path_);
  const size_t newline = window.substr(0, static_cast<size_t>(got)).find('\n');
  return newline == std::string::npos ? near : near + static_cast<int64_t>(newline) + 1;
}

Result<int64_t> OutputLog::CopyRange(const Fd& to, int64_t from, int64_t end) {
  std::string chunk(kChunk, '\0');
  int64_t copied = 0;
  while (from < end) {
    const auto want = static_cast<size_t>(std::min<int64_t>(end - from, kChunk));
    const ssize_t got = ::pread(fd_.get(), chunk.data(), want, from);
    if (got < 0) return FromErrno(errno, "read", path_);
    if (got == 0) break;
    STOKER_TRY(WriteAll(to, {chunk.data(), static_cast<size_t>(got)}, path_));
    from += got;
    copied += got;
  }
  return copied;
}

// A new file takes the place of the old one: the first quarter of the limit, a line about the gap,
// and the newest quarter. Followers find their place by the line's number.
Status OutputLog::CutMiddle() {
  const int64_t quarter = limit_ / 4;
  const bool cut_before = dropped_ > 0;
  int64_t head = head_;
  if (!cut_before) {
    STOKER_ASSIGN(head, LineStart(std::max<int64_t>(0, std::min(quarter, size_) - kLineSearch)));
  }
  STOKER_ASSIGN(int64_t tail, LineStart(std::max(size_ - quarter, head)));
  const int64_t old_gap = cut_before ? static_cast<int64_t>(CutRecord({}, 0).size()) : 0;
  tail = std::max(tail, head + old_gap);
  const int64_t dropped = dropped_ + tail - head - old_gap;

  const std::string partial = JoinPath(folder_, ".output.log.cut.partial");
  STOKER_ASSIGN(Fd fresh, OpenFile(partial, O_RDWR | O_APPEND | O_CREAT | O_TRUNC, 0644));
  const Status copied = [&]() -> Status {
    STOKER_TRY(CopyRange(fresh, 0, head));
    STOKER_TRY(WriteAll(fresh, CutRecord(clock_->Now(), dropped), partial));
    STOKER_TRY(CopyRange(fresh, tail, size_));
    return RenameFile(partial, path_);
  }();
  if (!copied) {
    Ignore(RemoveFile(partial));
    return copied;
  }
  STOKER_ASSIGN(const FileStat stat, StatFd(fresh, path_));
  fd_ = std::move(fresh);
  size_ = stat.size_bytes;
  head_ = head;
  dropped_ = dropped;
  return Ok();
}

std::optional<Millis> OutputLog::Tick() {
  if (!progress_stale_) return std::nullopt;
  const MonoTime now = clock_->Mono();
  if (now < next_progress_) {
    return std::chrono::duration_cast<Millis>(next_progress_ - now) + Millis(1);
  }
  WriteProgress();
  return std::nullopt;
}

void OutputLog::WriteProgress() {
  progress_stale_ = false;
  std::string text;
  Stamp();
  for (const Stream stream : {Stream::kOut, Stream::kErr}) {
    const std::string& line = lines_[static_cast<size_t>(stream)].text();
    if (line.empty()) continue;
    AddRecord(Code(stream, false), std::string_view(line).substr(0, kMaxProgressText));
  }
  if (!frame_.empty()) text = std::to_string(logical_) + "\n" + frame_;
  frame_.clear();
  if (text.empty() && !progress_shown_) return;
  next_progress_ = clock_->Mono() + kProgressInterval;
  if (!progress_.valid()) {
    auto fd = OpenFile(ProgressPath(folder_), O_WRONLY | O_CREAT, 0644);
    if (!fd) return;  // shown again with the next bytes
    progress_ = std::move(*fd);
  }
  const ssize_t wrote = ::pwrite(progress_.get(), text.data(), text.size(), 0);
  if (wrote >= 0 && ::ftruncate(progress_.get(), wrote) == 0) progress_shown_ = !text.empty();
}

void OutputLog::Finish() {
  Flush();
  progress_.Close();
  progress_shown_ = false;
  Ignore(RemoveFile(ProgressPath(folder_)));
}

}  // namespace stoker::jobs
