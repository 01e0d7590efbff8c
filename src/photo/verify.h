// Looks at every photo under a folder before anybody trains on it: does it decode, is it there
// twice, does the same picture stand on both sides of a split.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace stoker::photo {

struct BadPhoto {
  std::string path;    // relative to the folder
  std::string reason;  // "truncated JPEG: the bytes end early"
};

struct VerifyReport {
  std::string root;
  int64_t photos = 0;   // files that should be photos: by name, or by their first bytes
  int64_t good = 0;     // JPEGs that decode whole
  int64_t ignored = 0;  // other files
  std::map<std::string, int64_t> good_by_folder;  // relative folder -> good photos
  std::vector<BadPhoto> damaged;                  // do not decode
  std::vector<BadPhoto> foreign;                  // PNG, GIF, WebP, ...: sound perhaps, but no JPEG
  std::vector<BadPhoto> odd;                      // good, but something beside the picture is not
  std::vector<std::vector<std::string>> duplicates;  // groups of equal files
  std::vector<std::vector<std::string>>
      leaks;  // the groups that touch more than one of train/val/test
  bool ok() const { return damaged.empty() && foreign.empty() && leaks.empty(); }
};

// Walks all of `root` with `threads` threads; the report does not depend on their number. kNotFound
// where the folder is absent; a damaged file is a line in the report, never an Error.
Result<VerifyReport> VerifyFolder(const std::string& root, int threads = 1);

// One object with schema_version, and the same for people (ends with a newline).
std::string VerifyJson(const VerifyReport& report);
std::string VerifyText(const VerifyReport& report);

}  // namespace stoker::photo
