// The vault's rows: every version of every checkpoint that is not settled yet, in memory as in the
// ledger. A change reaches memory only after the ledger has it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "ledger/ledger.h"
#include "vault/version.h"

namespace stoker::vault {

// A row in one of the states seen, whole and shipping.
struct OpenRow {
  ledger::Checkpoint checkpoint;
  uint64_t inode = 0;
  MonoTime changed_at;  // when this version was first met
  MonoTime look_at;     // when to examine it next
  MonoTime ship_at;     // when to send it at the earliest
  int looks = 0, failures = 0;
  bool epoch_told = false;  // by the run itself or by the file's name

  Version version() const { return {checkpoint.bytes, checkpoint.mtime_ns, inode}; }
};

class Book {
 public:
  Book(ledger::Ledger& ledger, const Clock& clock) : ledger_(ledger), clock_(clock) {}

  // Loads the open rows; those that were being sent when the last daemon ended wait again.
  Status Recover();
  // Makes the versions known that this job wrote already.
  Status LoadJob(int64_t job);
  // Forgets what is settled of this job.
  void DropJob(int64_t job);

  // The newest version of `path` on record; nullptr where there is none.
  struct Latest {
    int64_t id = 0, job = 0;
    Version version;
  };
  Latest* LatestOf(const std::string& path);
  // A path other than `path` whose newest version is this very file: it was renamed.
  bool IsElsewhere(const std::string& path, const Version& version) const;
  OpenRow* Find(int64_t id);
  OpenRow* OpenAt(const std::string& path);
  std::map<int64_t, OpenRow>& open() { return open_; }
  bool HasUnexamined(int64_t job) const;

  // Puts a version that is not on record. An open row of the same path is renewed where it was
  // never whole, and becomes `superseded` otherwise: its bytes are gone.
  Result<OpenRow*> Put(ledger::Checkpoint checkpoint, const Version& version);
  // Writes `changed` over its row, with `also` in the same transaction. Rows in a settled state
  // leave the open ones (then `row` is gone).
  Status Save(OpenRow& row, ledger::Checkpoint changed,
              const std::function<Status(ledger::Writer&)>& also = {});

  // Writes better words (job, role, epoch, metric) on a row, open or settled.
  Status Correct(const ledger::Checkpoint& changed, bool epoch_told);

 private:
  void Settle(int64_t id);
  ledger::Ledger& ledger_;
  const Clock& clock_;
  std::map<int64_t, OpenRow> open_;
  std::map<std::string, Latest> latest_;
};

bool IsOpen(ledger::CheckpointState state);

}  // namespace stoker::vault
