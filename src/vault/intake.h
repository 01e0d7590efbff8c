// The way in: which jobs to follow, which folders to watch, and a row for every new version of a
// file.
#pragma once

#include <set>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "ledger/ledger.h"
#include "vault/book.h"
#include "vault/finder.h"
#include "vault/following.h"
#include "vault/vault.h"

namespace stoker::vault {

class Intake {
 public:
  Intake(const Config& config, ledger::Ledger& ledger, Book& book, Logger& log, const Clock& clock)
      : config_(config), ledger_(ledger), book_(book), log_(log), clock_(clock) {}

  Status Start();
  // What the kernel tells, waiting up to `wait`.
  Status Poll(Millis wait);
  // Whatever is due: jobs and their words once a second, all folders every ten or after trouble.
  Status Refresh();
  // Marks jobs that have ended and have nothing left to examine.
  Status Finish();
  // Makes the ledger say what stands at `path` now.
  Status Observe(const std::string& path);
  // The next Refresh looks at everything again.
  void LookAgain();
  // Nothing more will be written by this job.
  bool IsOver(int64_t job);
  // The job as it was last read; nullptr where it is not followed.
  const ledger::Job* JobOf(int64_t job);
  MonoTime next_due() const { return std::min(next_jobs_, next_rescan_); }

 private:
  Status RefreshJobs();
  Status ReadWords();
  Status TakeUp(const ledger::Job& job);
  Status Begin(Followed& followed);
  Status Update(Followed& followed, const ledger::Job& job);
  Status RescanAll();
  Status RescanRoots(Followed& followed);
  Status AddRoot(Followed& followed, const std::string& root, int max_folders);
  // What the run said of a file: kept for its next version, and put on the one that is there.
  Status Hear(Followed& followed, const ledger::Event& event, bool only_gaps);
  Status Apply(Followed& followed, const std::string& path, Told& told, bool only_gaps);
  Status Vanish(OpenRow& row, const Version& last, const std::string& why);
  ledger::Checkpoint Describe(Followed& followed, const std::string& path, bool& epoch_told) const;
  Status TellLimit(Followed& followed);

  const Config& config_;
  ledger::Ledger& ledger_;
  Book& book_;
  Logger& log_;
  const Clock& clock_;
  Finder finder_;
  Following following_;
  std::set<int64_t> done_;  // jobs known to be finished
  int64_t last_event_ = 0;
  WallTime since_;
  MonoTime next_jobs_, next_rescan_, next_mark_;
};

}  // namespace stoker::vault
