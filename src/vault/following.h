// The jobs whose files the vault takes, and which job a file belongs to.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "ledger/ledger.h"
#include "vault/version.h"

namespace stoker::vault {

// What a run said of one of its checkpoint files.
struct Told {
  std::optional<ledger::CheckpointRole> role;
  std::optional<double> epoch;
  WallTime at;         // when it said so: later than the write it speaks of
  bool fresh = false;  // the epoch is of a version not met yet

  // False for a version written after the word.
  bool SpeaksOf(int64_t mtime_ns) const { return mtime_ns / 1'000'000 <= at.ms; }
};

struct Followed {
  ledger::Job job;
  bool ended = false;
  bool scanned = false;  // once since the end
  bool limit_told = false;
  std::set<std::string> roots;
  std::map<std::string, Told> told;  // by absolute path
};

class Following {
 public:
  std::map<int64_t, Followed>& jobs() { return jobs_; }
  Followed* Find(int64_t job);
  bool Uses(const std::string& root) const;

  // The job that most likely wrote this version: one that named the file or its folder; then the
  // one with the deepest folder; then whoever wrote there before; then the newest. nullptr where
  // none can have written it, being older or ended before.
  Followed* OwnerOf(const std::string& path, const Version& version, int64_t last_owner);

 private:
  std::map<int64_t, Followed> jobs_;
};

// Fills in epoch and metric as the run stood when the file was written. `keep_epoch`: the epoch is
// already certain.
Status JoinMetrics(ledger::Ledger& ledger, const ledger::Job& job, bool keep_epoch,
                   ledger::Checkpoint& checkpoint);

}  // namespace stoker::vault
