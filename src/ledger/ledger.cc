#include "ledger/ledger.h"

#include <utility>

#include "base/file.h"
#include "base/mutex.h"
#include "ledger/db.h"
#include "ledger/open.h"
#include "ledger/record_sql.h"
#include "ledger/sample_store.h"
#include "ledger/schema.h"

namespace stoker::ledger {
namespace {

class WriterImpl final : public Writer {
 public:
  WriterImpl(Db& db, SampleStore& samples) : db_(db), samples_(samples) {}
  // Records must survive a power cut; samples alone need not.
  bool wrote_records() const { return wrote_records_; }

  Result<int64_t> PutBox(const Box& box) override { return sql::PutBox(Records(), box); }
  Result<int64_t> PutCard(const Card& card) override { return sql::PutCard(Records(), card); }
  Status PutJob(const Job& job) override { return sql::PutJob(Records(), job); }
  Status PutAttempt(const Attempt& a) override { return sql::PutAttempt(Records(), a); }
  Status AddMetrics(int64_t job, const std::vector<MetricPoint>& points) override {
    return sql::AddMetrics(Records(), job, points);
  }
  Status PutPhase(const Phase& phase) override { return sql::PutPhase(Records(), phase); }
  Result<int64_t> PutCheckpoint(const Checkpoint& c) override {
    return sql::PutCheckpoint(Records(), c);
  }
  Status PutCopy(const Copy& copy) override { return sql::PutCopy(Records(), copy); }
  Result<int64_t> AddEvent(const Event& event) override { return sql::AddEvent(Records(), event); }
  Status SetMark(const std::string& name, const std::string& value) override {
    return sql::SetMark(Records(), name, value);
  }
  Result<SeriesId> SeriesFor(Metric metric, const Subject& subject) override {
    return samples_.SeriesFor(metric, subject);
  }
  Status AddTick(WallTime at, const std::vector<TickValue>& values) override {
    return samples_.AddTick(at, values);
  }
  Status AddSamples(SeriesId series, const std::vector<Sample>& samples) override {
    return samples_.AddSamples(series, samples);
  }

 private:
  Db& Records() {
    wrote_records_ = true;
    return db_;
  }

  Db& db_;
  SampleStore& samples_;
  bool wrote_records_ = false;
};

class LedgerImpl final : public Ledger {
 public:
  LedgerImpl(std::unique_ptr<Db> db, std::optional<FileLock> lock, const Clock& clock,
             Tuning tuning)
      : lock_(std::move(lock)),
        clock_(clock),
        steps_(tuning.steps),
        db_(std::move(db)),
        samples_(*db_, tuning) {}

  Status Write(const std::function<Status(Writer&)>& change) override {
    MutexLock lock(mutex_);
    return InWrite([&](Db& db, SampleStore& samples) -> Result<bool> {
      WriterImpl writer(db, samples);
      STOKER_TRY(change(writer));
      return writer.wrote_records();
    });
  }

  Status Maintain() override {
    for (int step = 0; step < steps_; ++step) {
      MutexLock lock(mutex_);
      bool due = false;
      STOKER_TRY(InWrite([&](Db&, SampleStore& samples) -> Result<bool> {
        STOKER_ASSIGN(due, samples.SealDue(clock_.Now()));
        if (due) STOKER_TRY(samples.SealStep());
        return false;
      }));
      if (!due) break;
    }
    return Ok();
  }

  Result<std::vector<Box>> Boxes() override {
    MutexLock lock(mutex_);
    return sql::Boxes(*db_);
  }
  Result<std::vector<Card>> Cards() override {
    MutexLock lock(mutex_);
    return sql::Cards(*db_);
  }
  Result<std::vector<Job>> Jobs(const JobFilter& filter) override {
    MutexLock lock(mutex_);
    return sql::Jobs(*db_, filter);
  }
  Result<Job> JobById(int64_t id) override {
    MutexLock lock(mutex_);
    JobFilter filter;
    filter.ids = {id};
    STOKER_ASSIGN(std::vector<Job> jobs, sql::Jobs(*db_, filter));
    if (jobs.empty()) return NotFound("there is no job " + std::to_string(id), "ledger");
    return std::move(jobs[0]);
  }
  Result<std::vector<Attempt>> Attempts(int64_t job) override {
    MutexLock lock(mutex_);
    return sql::Attempts(*db_, job);
  }
  Result<std::vector<std::string>> MetricNames(int64_t job) override {
    MutexLock lock(mutex_);
    return sql::MetricNames(*db_, job);
  }
  Result<std::vector<MetricPoint>> Metrics(int64_t job, const std::string& name) override {
    MutexLock lock(mutex_);
    return sql::Metrics(*db_, job, name);
  }
  Result<std::vector<Phase>> Phases(int64_t job) override {
    MutexLock lock(mutex_);
    return sql::Phases(*db_, job);
  }
  Result<std::vector<Checkpoint>> Checkpoints(std::optional<int64_t> job) override {
    MutexLock lock(mutex_);
    return sql::Checkpoints(*db_, job, std::nullopt);
  }
  Result<Checkpoint> CheckpointById(int64_t id) override {
    MutexLock lock(mutex_);
    STOKER_ASSIGN(std::vector<Checkpoint> found, sql::Checkpoints(*db_, std::nullopt, id));
    if (found.empty()) return NotFound("there is no checkpoint " + std::to_string(id), "ledger");
    return std::move(found[0]);
  }
  Result<std::vector<Copy>> Copies(int64_t checkpoint) override {
    MutexLock lock(mutex_);
    return sql::Copies(*db_, checkpoint);
  }
  Result<std::vector<Event>> Events(const EventFilter& filter) override {
    MutexLock lock(mutex_);
    return sql::Events(*db_, filter);
  }
  Result<std::optional<std::string>> Mark(const std::string& name) override {
    MutexLock lock(mutex_);
    return sql::Mark(*db_, name);
  }

  Result<std::vector<Series>> AllSeries() override {
    MutexLock lock(mutex_);
    return samples_.AllSeries();
  }
  Result<std::optional<SeriesId>> FindSeries(Metric metric, const Subject& subject) override {
    MutexLock lock(mutex_);
    return samples_.FindSeries(metric, subject);
  }
  Result<std::vector<Sample>> Scan(SeriesId series, WallTime from, WallTime to) override {
    MutexLock lock(mutex_);
    STOKER_ASSIGN(Transaction view, Transaction::Begin(*db_, Transaction::Kind::kRead));
    return samples_.Scan(series, from, to);
  }
  Result<std::vector<Bucket>> ScanBuckets(SeriesId series, WallTime from, WallTime to,
                                          int points) override {
    MutexLock lock(mutex_);
    STOKER_ASSIGN(Transaction view, Transaction::Begin(*db_, Transaction::Kind::kRead));
    return samples_.ScanBuckets(series, from, to, points);
  }
  Result<std::optional<Sample>> Latest(SeriesId series) override {
    MutexLock lock(mutex_);
    STOKER_ASSIGN(Transaction view, Transaction::Begin(*db_, Transaction::Kind::kRead));
    return samples_.Latest(series);
  }

 private:
  // Runs `change`, which says whether it wrote records, as one transaction.
  template <typename Change>
  Status InWrite(Change&& change) REQUIRES(mutex_) {
    if (!lock_) return Denied("this ledger is open for reading", db_->path());
    // After damage was met, another write could make it worse.
    if (db_->damage()) return *db_->damage();
    STOKER_ASSIGN(Transaction transaction, Transaction::Begin(*db_, Transaction::Kind::kWrite));
    Result<bool> records = change(*db_, samples_);
    Status committed = records ? transaction.Commit() : Status(records.error());
    if (!committed) {
      samples_.Forget();
      return committed;
    }
    return *records ? db_->SyncLog() : Ok();
  }

  // Destroyed last: nobody else may write before the connection is closed.
  const std::optional<FileLock> lock_;
  const Clock& clock_;
  const int steps_;
  Mutex mutex_;
  const std::unique_ptr<Db> db_ GUARDED_BY(mutex_);
  SampleStore samples_ GUARDED_BY(mutex_);
};

// A page holds several chunks with little waste, and a tick writes one page to the log.
Status BeginWriting(Db& db) {
  STOKER_ASSIGN(const int version, ReadVersion(db, SchemaSteps().back().to));
  if (version == 0) STOKER_TRY(db.Script("PRAGMA page_size = 16384"));
  STOKER_ASSIGN(const auto journal, db.AskTextOnce("PRAGMA journal_mode = WAL"));
  if (journal != "wal") {
    return Unsupported("this file system cannot hold a ledger that is read while it is written",
                       db.path(), "put the home on a local disk");
  }
  STOKER_TRY(
      db.Script("PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 16777216; "
                "PRAGMA cache_size = -4096"));
  if (version > 0) STOKER_TRY(CheckTables(db));
  return Migrate(db, SchemaSteps());
}

Result<std::unique_ptr<Ledger>> OpenWriter(const std::string& path, const Clock& clock,
                                           const Tuning& tuning) {
  STOKER_TRY(MakeDirs(DirName(path)));
  Result<FileLock> lock = FileLock::Take(path + ".lock");
  if (!lock && lock.error().code == Code::kUnavailable) {
    return Unavailable("another Stoker writes this ledger", path, "stop it, or read only");
  }
  if (!lock) return std::move(lock).error();
  STOKER_ASSIGN(std::unique_ptr<Db> db, Db::Open(path, Db::Access::kWrite));
  STOKER_TRY(BeginWriting(*db));
  return std::unique_ptr<Ledger>(
      std::make_unique<LedgerImpl>(std::move(db), std::move(*lock), clock, tuning));
}

// Reading needs the log's index beside the file, or the right to make it. Where neither is there
// and no log holds newer changes, the file alone is the whole ledger.
Result<std::unique_ptr<Db>> OpenToRead(const std::string& path) {
  STOKER_ASSIGN(std::unique_ptr<Db> db, Db::Open(path, Db::Access::kRead));
  const auto probe = db->AskInt("PRAGMA user_version");
  if (probe || probe.error().code == Code::kCorrupt) return db;
  if (const auto log = StatFile(path + "-wal"); log && log->size_bytes > 0) return probe.error();
  return Db::Open(path, Db::Access::kImmutable);
}

Result<std::unique_ptr<Ledger>> OpenReader(const std::string& path, const Clock& clock,
                                           const Tuning& tuning) {
  if (!FileExists(path)) {
    return NotFound("there is no ledger yet", path, "`stoker serve` or `stoker run` begins one");
  }
  STOKER_ASSIGN(std::unique_ptr<Db> db, OpenToRead(path));
  STOKER_TRY(db->Script("PRAGMA cache_size = -4096"));
  const int newest = SchemaSteps().back().to;
  STOKER_ASSIGN(const int version, ReadVersion(*db, newest));
  if (version == 0) {
    return NotFound("there is no ledger yet", path, "`stoker serve` or `stoker run` begins one");
  }
  if (version < newest) {
    return Unsupported("the ledger is of an older Stoker (format " + std::to_string(version) + ")",
                       path, "start `stoker serve` once: it brings the ledger up to date");
  }
  return std::unique_ptr<Ledger>(
      std::make_unique<LedgerImpl>(std::move(db), std::nullopt, clock, tuning));
}

}  // namespace

Result<std::unique_ptr<Ledger>> OpenTuned(const std::string& path, Ledger::Mode mode,
                                          const Clock& clock, const Tuning& tuning) {
  return mode == Ledger::Mode::kWriter ? OpenWriter(path, clock, tuning)
                                       : OpenReader(path, clock, tuning);
}

Result<std::unique_ptr<Ledger>> Ledger::Open(const std::string& path, Mode mode,
                                             const Clock& clock) {
  return OpenTuned(path, mode, clock, Tuning{});
}

}  // namespace stoker::ledger
