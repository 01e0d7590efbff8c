// Every question that a face may ask of the books, answered once. Reads only; works with the daemon
// down. Thread-safe where its Ledger is.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "ledger/ledger.h"
#include "query/views.h"

namespace stoker::query {

Result<Now> GetNow(ledger::Ledger& ledger, const Clock& clock);
Result<std::vector<JobView>> GetJobs(ledger::Ledger& ledger, const ledger::JobFilter& filter,
                                     const Clock& clock);
Result<JobDetail> GetJob(ledger::Ledger& ledger, int64_t id, const Clock& clock);
// The joins of samples to the job's cards and window.
Result<JobUse> GetJobUse(ledger::Ledger& ledger, const ledger::Job& job, const Clock& clock);
Result<std::vector<CheckpointView>> GetCheckpoints(ledger::Ledger& ledger,
                                                   std::optional<int64_t> job);
// Every series of one metric over [from, to), about `points` buckets each.
Result<std::vector<SeriesView>> GetSeries(ledger::Ledger& ledger, ledger::Metric metric,
                                          WallTime from, WallTime to, int points);
// The series of the job's cards for one metric over the job's window.
Result<std::vector<SeriesView>> GetJobSeries(ledger::Ledger& ledger, const ledger::Job& job,
                                             ledger::Metric metric, int points, const Clock& clock);

// Called by the writer often: computes and stores gpu_energy_j of jobs that have ended, once each,
// imported ones of long ago too. A call with nothing to do reads a few rows and writes nothing.
Status SettleEndedJobs(ledger::Ledger& ledger, const Clock& clock);

}  // namespace stoker::query
