#include "ledger/schema.h"

#include <string>

namespace stoker::ledger {
namespace {

// Times are milliseconds since 1970, durations say their unit, lists are JSON, absence is NULL.
constexpr char kFirst[] = R"sql(
CREATE TABLE boxes (
  id INTEGER PRIMARY KEY, hostname TEXT NOT NULL UNIQUE, boot_id TEXT NOT NULL,
  facts_json TEXT NOT NULL, seen_ms INTEGER NOT NULL);
CREATE TABLE cards (
  id INTEGER PRIMARY KEY, box INTEGER NOT NULL, gpu INTEGER NOT NULL, uuid TEXT NOT NULL,
  name TEXT NOT NULL, memory_bytes REAL, limit_default_w REAL, simulated INTEGER NOT NULL,
  present INTEGER NOT NULL, seen_ms INTEGER NOT NULL, UNIQUE (box, uuid));

CREATE TABLE jobs (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, state INTEGER NOT NULL, origin INTEGER NOT NULL,
  command_json TEXT NOT NULL, cwd TEXT NOT NULL, user TEXT NOT NULL, gpus_json TEXT NOT NULL,
  cards_json TEXT NOT NULL, created_ms INTEGER NOT NULL, started_ms INTEGER, ended_ms INTEGER,
  exit_code INTEGER, signal INTEGER, reason TEXT NOT NULL, run_log TEXT NOT NULL,
  folder TEXT NOT NULL, best_metric TEXT, best_value REAL, best_higher INTEGER, best_epoch REAL,
  best_ms INTEGER, gpu_energy_j REAL, last_epoch REAL, epochs_planned REAL,
  -- The long ones last: a list that leaves them out never reads their pages.
  plan_json TEXT NOT NULL, git_json TEXT NOT NULL, environment_json TEXT NOT NULL);
CREATE INDEX jobs_state ON jobs (state);
CREATE INDEX jobs_ended ON jobs (ended_ms);

CREATE TABLE attempts (
  job INTEGER NOT NULL, number INTEGER NOT NULL, pid INTEGER NOT NULL, start_ticks INTEGER NOT NULL,
  boot_id TEXT NOT NULL, started_ms INTEGER NOT NULL, ended_ms INTEGER, exit_code INTEGER,
  signal INTEGER, PRIMARY KEY (job, number)) WITHOUT ROWID;
CREATE TABLE metric_names (
  id INTEGER PRIMARY KEY, job INTEGER NOT NULL, name TEXT NOT NULL, points INTEGER NOT NULL,
  UNIQUE (job, name));
CREATE TABLE metric_points (
  metric INTEGER NOT NULL, seq INTEGER NOT NULL, at_ms INTEGER NOT NULL, value REAL, epoch REAL,
  step INTEGER, PRIMARY KEY (metric, seq)) WITHOUT ROWID;
CREATE TABLE phases (
  job INTEGER NOT NULL, name TEXT NOT NULL, began_ms INTEGER NOT NULL, ended_ms INTEGER,
  PRIMARY KEY (job, began_ms, name)) WITHOUT ROWID;
CREATE TABLE checkpoints (
  id INTEGER PRIMARY KEY AUTOINCREMENT, job INTEGER NOT NULL, path TEXT NOT NULL,
  role INTEGER NOT NULL, epoch REAL, best_metric TEXT, best_value REAL, best_higher INTEGER,
  best_epoch REAL, best_ms INTEGER, bytes INTEGER NOT NULL, sha256 TEXT NOT NULL,
  state INTEGER NOT NULL, reason TEXT NOT NULL, pinned INTEGER NOT NULL, seen_ms INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL);
CREATE INDEX checkpoints_job ON checkpoints (job, state);
CREATE TABLE copies (
  checkpoint INTEGER NOT NULL, store TEXT NOT NULL, key TEXT NOT NULL, verified_ms INTEGER,
  PRIMARY KEY (checkpoint, store)) WITHOUT ROWID;
CREATE TABLE events (
  id INTEGER PRIMARY KEY AUTOINCREMENT, at_ms INTEGER NOT NULL, kind TEXT NOT NULL,
  severity INTEGER NOT NULL, job INTEGER, card INTEGER, text TEXT NOT NULL,
  data_json TEXT NOT NULL);
CREATE INDEX events_at ON events (at_ms, id);
CREATE INDEX events_job ON events (job, at_ms) WHERE job IS NOT NULL;
CREATE TABLE marks (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE series (
  id INTEGER PRIMARY KEY, metric INTEGER NOT NULL, scope INTEGER NOT NULL, subject INTEGER NOT NULL,
  name TEXT NOT NULL, UNIQUE (metric, scope, subject, name));
-- Recent samples, one row an instant. The newest row always stays, so that ids only grow.
CREATE TABLE ticks (id INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, data BLOB NOT NULL);
-- Sealed samples. The chunks of one series do not overlap in time; the index answers for the range.
CREATE TABLE timelines (
  id INTEGER PRIMARY KEY, first_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX timelines_range ON timelines (first_ms, last_ms);
CREATE TABLE chunks (
  id INTEGER PRIMARY KEY, series INTEGER NOT NULL, first_ms INTEGER NOT NULL,
  last_ms INTEGER NOT NULL, count INTEGER NOT NULL, timeline INTEGER NOT NULL, data BLOB NOT NULL);
CREATE UNIQUE INDEX chunks_range ON chunks (series, first_ms, last_ms, count);
CREATE INDEX chunks_timeline ON chunks (timeline);
CREATE TABLE tiers (
  id INTEGER PRIMARY KEY, series INTEGER NOT NULL, width_s INTEGER NOT NULL,
  window_ms INTEGER NOT NULL, data BLOB NOT NULL);
CREATE UNIQUE INDEX tiers_window ON tiers (series, width_s, window_ms);
)sql";

constexpr SchemaStep kSteps[] = {{1, kFirst}};

Status CheckTable(Db& db, const std::string& table) {
  // The table name is ours, never input. A pragma takes no bound values.
  const std::string sql = "PRAGMA quick_check('" + table + "')";
  STOKER_ASSIGN(const std::optional<std::string> verdict, db.AskTextOnce(sql));
  if (verdict == "ok") return Ok();
  return Corrupt("the ledger is damaged in " + table + ": " + verdict.value_or("no answer"),
                 db.path(), Db::DamageAdvice());
}

}  // namespace

std::span<const SchemaStep> SchemaSteps() { return kSteps; }

Result<int> ReadVersion(Db& db, int newest) {
  STOKER_ASSIGN(const auto version, db.AskInt("PRAGMA user_version"));
  STOKER_ASSIGN(const auto application, db.AskInt("PRAGMA application_id"));
  STOKER_ASSIGN(const auto tables, db.AskInt("SELECT count(*) FROM sqlite_master"));
  if (version == 0 && tables == 0) return 0;
  if (application != kApplicationId) {
    return Invalid("this is another program's SQLite file, no ledger", db.path(),
                   "name another home with --home");
  }
  if (*version > newest) {
    return Unsupported("the ledger was written by a newer Stoker (format " +
                           std::to_string(*version) + ", this one knows up to " +
                           std::to_string(newest) + ")",
                       db.path(), "use that Stoker; nothing was changed");
  }
  return static_cast<int>(*version);
}

Status Migrate(Db& db, std::span<const SchemaStep> steps) {
  STOKER_ASSIGN(const int version, ReadVersion(db, steps.empty() ? 0 : steps.back().to));
  for (const SchemaStep& step : steps) {
    if (step.to <= version) continue;
    STOKER_ASSIGN(Transaction transaction, Transaction::Begin(db, Transaction::Kind::kWrite));
    STOKER_TRY(db.Script(step.sql));
    STOKER_TRY(db.Script("PRAGMA application_id = " + std::to_string(kApplicationId) +
                         "; PRAGMA user_version = " + std::to_string(step.to)));
    STOKER_TRY(transaction.Commit());
  }
  return Ok();
}

Status CheckTables(Db& db) {
  for (const char* table :
       {"boxes", "cards", "jobs", "attempts", "metric_names", "metric_points", "phases",
        "checkpoints", "copies", "events", "marks", "series", "ticks"}) {
    STOKER_TRY(CheckTable(db, table));
  }
  return Ok();
}

}  // namespace stoker::ledger
