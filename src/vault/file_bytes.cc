#include "vault/file_bytes.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace stoker::vault {

Status FileBytes::ReadAt(int64_t offset, char* out, size_t count) const {
  if (offset < 0 || offset > size_ || count > static_cast<uint64_t>(size_ - offset)) {
    return Corrupt("ends too early", path_);
  }
  while (count > 0) {
    if (cancel_ != nullptr && cancel_->load()) return Unavailable("stopped", path_);
    const ssize_t got = ::pread(fd_.get(), out, std::min<size_t>(count, 4 << 20), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FromErrno(errno, "read", path_);
    if (got == 0) return Corrupt("shrank while it was read", path_);
    out += got;
    offset += got;
    count -= static_cast<size_t>(got);
  }
  return Ok();
}

Result<std::string> FileBytes::ReadAt(int64_t offset, size_t count) const {
  if (count > static_cast<uint64_t>(size_)) return Corrupt("ends too early", path_);
  std::string out(count, '\0');
  STOKER_TRY(ReadAt(offset, out.data(), count));
  return out;
}

Status Cursor::Fill(size_t need) {
  const int64_t in_buffer = buffer_at_ + static_cast<int64_t>(buffer_.size()) - offset_;
  if (offset_ >= buffer_at_ && in_buffer >= static_cast<int64_t>(need)) return Ok();
  const size_t count = static_cast<size_t>(std::min<int64_t>(left(), kWindow));
  buffer_at_ = offset_;
  buffer_.resize(count);
  return file_.ReadAt(offset_, buffer_.data(), count);
}

Result<std::string_view> Cursor::Some(size_t most) {
  if (left() <= 0 || most == 0) return std::string_view();
  STOKER_TRY(Fill(1));
  std::string_view window(buffer_);
  window = window.substr(static_cast<size_t>(offset_ - buffer_at_), most);
  offset_ += static_cast<int64_t>(window.size());
  return window;
}

Result<std::string_view> Cursor::Exactly(size_t count) {
  if (left() < static_cast<int64_t>(count) || count > kWindow) {
    return Corrupt("ends too early", file_.path());
  }
  if (count == 0) return std::string_view();
  STOKER_TRY(Fill(count));
  const auto at = static_cast<size_t>(offset_ - buffer_at_);
  offset_ += static_cast<int64_t>(count);
  return std::string_view(buffer_).substr(at, count);
}

Status Cursor::Skip(int64_t count) {
  if (count < 0 || count > left()) return Corrupt("ends too early", file_.path());
  offset_ += count;
  return Ok();
}

uint64_t Little(std::string_view bytes, size_t at, size_t count) {
  uint64_t out = 0;
  for (size_t i = count; i > 0; --i) out = out << 8 | static_cast<unsigned char>(bytes[at + i - 1]);
  return out;
}

}  // namespace stoker::vault
