// output.log, written: what a job prints, one record a line, framed so that nothing a job prints
// can break the frame. Progress bars (\r) leave only their last state; the unfinished line stands
// in the file `progress`, at most once a second. Bounded: beyond the limit the middle is dropped
// and the file says so. Never fails: a full disk loses output, which is counted and said later,
// never a job. One thread. docs/formats/job-folder.md has the bytes.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "base/units.h"

namespace stoker::jobs {

enum class Stream { kOut = 0, kErr = 1 };

inline constexpr int64_t kOutputLimit = 64 << 20;
inline constexpr size_t kMaxRecordText = 64 << 10;

// Turns a stream of bytes into lines: resolves \r, cuts what is too long for one record.
class LineAssembler {
 public:
  // Calls take(text, ends_line) for every finished line, or piece of a very long one.
  template <typename Take>
  void Add(std::string_view bytes, Take&& take) {
    while (!bytes.empty()) {
      const size_t length = std::min(bytes.find_first_of("\r\n"), bytes.size());
      AddText(bytes.substr(0, length), take);
      bytes.remove_prefix(length);
      if (bytes.empty()) return;
      if (bytes.front() == '\r') {
        returned_ = true;
      } else {
        take(std::string_view(text_), true);
        Clear();
      }
      bytes.remove_prefix(1);
    }
  }
  const std::string& text() const { return text_; }  // of the unfinished line
  void Clear() {
    text_.clear();
    returned_ = false;
  }

 private:
  template <typename Take>
  void AddText(std::string_view bytes, Take&& take) {
    if (!bytes.empty() && returned_) Clear();
    while (text_.size() + bytes.size() > kMaxRecordText) {
      const size_t room = kMaxRecordText - text_.size();
      text_.append(bytes.substr(0, room));
      bytes.remove_prefix(room);
      take(std::string_view(text_), false);
      text_.clear();
    }
    text_.append(bytes);
  }

  std::string text_;
  bool returned_ = false;  // a \r came: the next text starts the line again
};

class OutputLog {
 public:
  static Result<OutputLog> Open(const std::string& folder, const Clock& clock,
                                int64_t limit = kOutputLimit);

  void Take(Stream stream, std::string_view bytes);
  // The stream has ended: its unfinished line is all there will be.
  void EndOfStream(Stream stream);
  // A line of the supervisor itself.
  void Say(std::string_view text);
  // Brings `progress` up to date where that is due; returns how long until it is due again.
  std::optional<Millis> Tick();
  // Tries to write how much was lost to a full disk, where that is still to be told.
  void TellLoss();
  // The job has ended: `progress` goes.
  void Finish();

 private:
  OutputLog(std::string folder, Fd fd, int64_t size, const Clock& clock, int64_t limit);
  void Stamp();
  void AddRecord(char code, std::string_view text);
  void Flush();
  Status Append(std::string_view bytes);
  Status CutMiddle();
  Result<int64_t> CopyRange(const Fd& to, int64_t from, int64_t end);
  Result<int64_t> LineStart(int64_t near);
  void WriteProgress();

  std::string folder_;
  std::string path_;
  Fd fd_;
  const Clock* clock_;
  int64_t limit_;
  int64_t size_;         // bytes in the file
  int64_t logical_ = 0;  // bytes of records ever written, the dropped ones included
  int64_t head_ = 0;     // where the cut is, once there is one
  int64_t dropped_ = 0;  // bytes of records dropped at the cut
  int64_t lost_ = 0;     // bytes that could not be written and were not yet spoken of
  MonoTime next_cut_{};  // after a failed cut
  std::string frame_;    // records that are not written yet
  WallTime stamped_{-1};
  std::string stamp_;  // stamped_ as text: a flood has many records a millisecond
  std::array<LineAssembler, 2> lines_;
  Fd progress_;
  bool progress_shown_ = false;
  bool progress_stale_ = false;
  MonoTime next_progress_{};
};

}  // namespace stoker::jobs
