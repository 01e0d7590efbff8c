// Records as rows: one function for each question or change. Inside the Ledger's lock and, for
// changes, inside its transaction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ledger/db.h"
#include "ledger/ledger.h"
#include "ledger/records.h"

namespace stoker::ledger::sql {

Result<int64_t> PutBox(Db& db, const Box& box);
Result<int64_t> PutCard(Db& db, const Card& card);
Status PutJob(Db& db, const Job& job);
Status PutAttempt(Db& db, const Attempt& attempt);
Status AddMetrics(Db& db, int64_t job, const std::vector<MetricPoint>& points);
Status PutPhase(Db& db, const Phase& phase);
Result<int64_t> PutCheckpoint(Db& db, const Checkpoint& checkpoint);
Status PutCopy(Db& db, const Copy& copy);
Result<int64_t> AddEvent(Db& db, const Event& event);
Status SetMark(Db& db, const std::string& name, const std::string& value);

Result<std::vector<Box>> Boxes(Db& db);
Result<std::vector<Card>> Cards(Db& db);
Result<std::vector<Job>> Jobs(Db& db, const JobFilter& filter);
Result<std::vector<Attempt>> Attempts(Db& db, int64_t job);
Result<std::vector<std::string>> MetricNames(Db& db, int64_t job);
Result<std::vector<MetricPoint>> Metrics(Db& db, int64_t job, const std::string& name);
Result<std::vector<Phase>> Phases(Db& db, int64_t job);
Result<std::vector<Checkpoint>> Checkpoints(Db& db, std::optional<int64_t> job,
                                            std::optional<int64_t> id);
Result<std::vector<Copy>> Copies(Db& db, int64_t checkpoint);
Result<std::vector<Event>> Events(Db& db, const EventFilter& filter);
Result<std::optional<std::string>> Mark(Db& db, const std::string& name);

}  // namespace stoker::ledger::sql
