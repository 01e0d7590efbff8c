// The box's book: $STOKER_HOME/ledger.db. One Ledger object is one connection; all methods are
// thread-safe (one mutex). One process at a time opens kWriter (a lock file proves it); any number
// open kReader. A committed transaction survives SIGKILL; a torn one leaves no trace.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/reading.h"
#include "base/result.h"
#include "ledger/metrics.h"
#include "ledger/records.h"

namespace stoker::ledger {

// What a series belongs to. `id` is Card::id for cards, Job::id for jobs, the core's number for
// cores, and 0 with a `name` for disks, nets and meters; host has neither.
struct Subject {
  Scope scope = Scope::kHost;
  int64_t id = 0;
  std::string name;
  friend auto operator<=>(const Subject&, const Subject&) = default;
};

using SeriesId = int64_t;
struct Series {
  SeriesId id = 0;
  Metric metric;
  Subject subject;
};

// One value at one instant; `absence` other than kNone makes `value` meaningless.
struct Sample {
  WallTime at;
  double value = 0;
  Absence absence = Absence::kNone;
};
struct TickValue {
  SeriesId series = 0;
  double value = 0;
  Absence absence = Absence::kNone;
};

// A bucket of a tier: extremes survive any zoom. Without a value (count 0) the numbers are NaN.
struct Bucket {
  WallTime from;
  double min = 0, mean = 0, max = 0, last = 0;
  int64_t count = 0;   // samples with a value
  int64_t absent = 0;  // samples without
};

struct JobFilter {
  std::vector<int64_t> ids;       // empty: all
  std::vector<JobState> states;   // empty: all
  std::optional<WallTime> since;  // ended after, or still running
  int limit = 0;                  // newest first; 0: all
  bool brief = false;  // leaves plan, git and environment empty: for lists, not to PutJob
};
struct EventFilter {
  std::optional<WallTime> since;
  std::optional<int64_t> after_id;
  std::optional<int64_t> job;
  std::string kind_prefix;  // "checkpoint."; empty: all
  int limit = 0;            // the newest N, returned oldest first; 0: all
};

// All changes of one transaction; handed to the function given to Ledger::Write().
class Writer {
 public:
  virtual ~Writer() = default;
  virtual Result<int64_t> PutBox(const Box& box) = 0;     // by hostname; returns its id
  virtual Result<int64_t> PutCard(const Card& card) = 0;  // by (box, uuid); returns its id
  virtual Status PutJob(const Job& job) = 0;              // by id; inserts or replaces
  virtual Status PutAttempt(const Attempt& attempt) = 0;  // by (job, number)
  virtual Status AddMetrics(int64_t job, const std::vector<MetricPoint>& points) = 0;
  virtual Status PutPhase(const Phase& phase) = 0;                 // by (job, name, began_at)
  virtual Result<int64_t> PutCheckpoint(const Checkpoint& c) = 0;  // id 0 inserts; returns the id
  virtual Status PutCopy(const Copy& copy) = 0;                    // by (checkpoint, store)
  virtual Result<int64_t> AddEvent(const Event& event) = 0;
  virtual Result<SeriesId> SeriesFor(Metric metric, const Subject& subject) = 0;  // creates it
  // All series of one instant. A value that is no number or too large for its scale is kept as
  // kError.
  virtual Status AddTick(WallTime at, const std::vector<TickValue>& values) = 0;
  // Bulk, in time order, at any time of the past; at an instant that the series has already, the
  // new sample replaces the old.
  virtual Status AddSamples(SeriesId series, const std::vector<Sample>& samples) = 0;
  // Small named values, for "read up to here" marks that commit with what was read.
  virtual Status SetMark(const std::string& name, const std::string& value) = 0;
};

class Ledger {
 public:
  enum class Mode { kWriter, kReader };
  // kNotFound (reader, no file yet), kUnavailable (another writer), kUnsupported (written by a
  // newer Stoker), kCorrupt (with what to do). A writer creates the file and migrates older
  // schemas.
  static Result<std::unique_ptr<Ledger>> Open(const std::string& path, Mode mode,
                                              const Clock& clock);
  virtual ~Ledger() = default;

  // Runs `change` in one transaction: all of it is kept, or none where it returns an error.
  // `change` must not call this Ledger (its mutex is held) and must be ready to run again after a
  // failure: ids and series that it was given do not exist then. Records survive a power cut once
  // this returns; samples survive SIGKILL at once and a power cut after some seconds.
  virtual Status Write(const std::function<Status(Writer&)>& change) = 0;

  virtual Result<std::vector<Box>> Boxes() = 0;
  virtual Result<std::vector<Card>> Cards() = 0;
  virtual Result<std::vector<Job>> Jobs(const JobFilter& filter) = 0;  // newest first
  virtual Result<Job> JobById(int64_t id) = 0;                         // kNotFound
  virtual Result<std::vector<Attempt>> Attempts(int64_t job) = 0;
  virtual Result<std::vector<std::string>> MetricNames(int64_t job) = 0;
  virtual Result<std::vector<MetricPoint>> Metrics(
      int64_t job, const std::string& name) = 0;  // "" = all; in time order
  virtual Result<std::vector<Phase>> Phases(int64_t job) = 0;
  virtual Result<std::vector<Checkpoint>> Checkpoints(std::optional<int64_t> job) = 0;
  virtual Result<Checkpoint> CheckpointById(int64_t id) = 0;
  virtual Result<std::vector<Copy>> Copies(int64_t checkpoint) = 0;
  virtual Result<std::vector<Event>> Events(const EventFilter& filter) = 0;
  virtual Result<std::vector<Series>> AllSeries() = 0;
  virtual Result<std::optional<SeriesId>> FindSeries(Metric metric, const Subject& subject) = 0;
  // Every sample in [from, to], in time order, full resolution.
  virtual Result<std::vector<Sample>> Scan(SeriesId series, WallTime from, WallTime to) = 0;
  // At most `points` + 1 buckets over [from, to) from the coarsest tier that is fine enough (raw, 1
  // min, 15 min); buckets without a sample are left out. Every sample of the range counts, and no
  // other.
  virtual Result<std::vector<Bucket>> ScanBuckets(SeriesId series, WallTime from, WallTime to,
                                                  int points) = 0;
  virtual Result<std::optional<Sample>> Latest(SeriesId series) = 0;
  virtual Result<std::optional<std::string>> Mark(const std::string& name) = 0;

  // Seals old samples into chunks and tiers; call every minute or so from the writer. Small,
  // bounded steps: a call takes well under a second.
  virtual Status Maintain() = 0;
};

}  // namespace stoker::ledger
