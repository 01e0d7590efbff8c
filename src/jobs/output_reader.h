// output.log, read on from where the last call ended, also while it grows and after its middle was
// dropped. One thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "jobs/output_frame.h"

namespace stoker::jobs {

class OutputReader {
 public:
  // `position` is what position() gave before; 0 is the start.
  explicit OutputReader(std::string folder, int64_t position = 0);

  // Calls `take` for every whole record that is new. An absent file has none.
  Status Read(const std::function<void(const OutputRecord&)>& take);
  int64_t position() const { return position_; }

  // The unfinished lines that follow what Read() has given so far; empty where they are older.
  struct Unfinished {
    bool is_stderr = false;
    std::string text;
  };
  std::vector<Unfinished> Progress() const;

 private:
  using Take = std::function<void(const OutputRecord&)>;
  Status Open();
  Status FindPlace();
  Status ReadToEnd(const Take& take);
  Status StepBack();
  void TakeLines(const Take& take);
  void TakeLine(std::string_view line, const Take& take);
  bool Replaced() const;

  const std::string folder_;
  const std::string path_;
  Fd fd_;
  int64_t position_;  // bytes of records read, the dropped ones included
  std::string torn_;  // bytes of a record whose end has not come
  uint64_t device_ = 0, inode_ = 0;
};

}  // namespace stoker::jobs
