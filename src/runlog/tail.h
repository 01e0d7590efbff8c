// Reads what was appended to a text file since a mark, whole lines only. The mark (device, inode,
// offset) is text that the caller stores with what it read, so that a crash repeats or loses
// nothing. A file that was replaced or shrank is read again from its start.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace stoker::runlog {

struct TailBatch {
  std::vector<std::string> lines;  // without newlines and empty lines; over 1 MiB: cut, see `cut`
  std::string mark;                // where the next call starts
  bool more = false;               // the byte budget ended the batch before the file did
  bool restarted = false;          // the file was replaced or shrank
  int cut = 0;
};

// An absent file is an empty batch. `final` also returns a last line that has no newline yet.
Result<TailBatch> ReadNew(const std::string& path, const std::string& mark, bool final,
                          size_t max_bytes = 4 << 20);

}  // namespace stoker::runlog
