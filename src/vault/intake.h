// The way in: which jobs to follow, which folders to watch, and a row for every new version of a
// file.
#pragma once

#include <optional>
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
  // In two steps, so that all new jobs are known before the first file is given to one of them.
  Status TakeUp(const ledger::Job& job);
  Status FirstLook(Followed& followed);
  Status Update(Followed& followed, const ledger::Job& job);
  Status RescanAll();
  Status RescanRoot(const std::string& root);
  Status RescanOf(Followed& followed);
  // Keeps what a run said of a file; gives its path, or nullopt where it makes no sense.
  std::optional<std::string> Learn(Followed& followed, const ledger::Event& event);
  bool AddRoot(Followed& followed, const std::string& root, int max_folders);
  // Puts what was said on the version that stands there.
  Status Apply(Followed& followed, const std::string& path, bool only_gaps);
  Status Vanish(OpenRow& row, const Version& last, const std::string& why);
  ledger::Checkpoint Describe(Followed& followed, const std::string& path, int64_t mtime_ns,
                              bool& epoch_told) const;
  Result<int64_t> RowOf(const Book::Latest& latest, int64_t job, const std::string& path,
                        const Told& told);
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
