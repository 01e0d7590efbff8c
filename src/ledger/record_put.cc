#include <nlohmann/json.hpp>

#include "base/json.h"
#include "ledger/record_sql.h"

namespace stoker::ledger::sql {
namespace {

template <typename T>
std::string ListJson(const std::vector<T>& items) {
  Json list = Json::array();
  for (const T& item : items) list.push_back(item);
  return DumpJson(list);
}

void BindBest(Query& query, const std::optional<Best>& best) {
  if (!best) {
    for (int i = 0; i < 5; ++i) query.Bind(std::nullopt);
    return;
  }
  query.Bind(best->metric);
  query.Bind(best->value);
  query.Bind(best->higher_is_better);
  query.Bind(best->epoch);
  query.Bind(best->at);
}

template <typename Enum>
int64_t Number(Enum value) {
  return static_cast<int64_t>(value);
}

Result<int64_t> ReturnedId(Query& query) {
  STOKER_ASSIGN(const bool row, query.Step());
  if (!row) return Internal("no id came back", "ledger");
  const int64_t id = query.Int();
  STOKER_TRY(query.Step());  // to the end: the change is made only then
  return id;
}

}  // namespace

Result<int64_t> PutBox(Db& db, const Box& box) {
  STOKER_ASSIGN(Query query, db.Ask("INSERT INTO boxes (hostname, boot_id, facts_json, seen_ms) "
                                    "VALUES (?, ?, ?, ?) ON CONFLICT (hostname) DO UPDATE SET "
                                    "boot_id = excluded.boot_id, facts_json = excluded.facts_json, "
                                    "seen_ms = excluded.seen_ms RETURNING id",
                                    box.hostname, box.boot_id, box.facts_json, box.seen_at));
  return ReturnedId(query);
}

Result<int64_t> PutCard(Db& db, const Card& card) {
  STOKER_ASSIGN(
      Query query,
      db.Ask("INSERT INTO cards (box, gpu, uuid, name, memory_bytes, limit_default_w, simulated, "
             "present, seen_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) "
             "ON CONFLICT (box, uuid) DO UPDATE SET gpu = excluded.gpu, name = excluded.name, "
             "memory_bytes = excluded.memory_bytes, limit_default_w = excluded.limit_default_w, "
             "simulated = excluded.simulated, present = excluded.present, "
             "seen_ms = excluded.seen_ms RETURNING id",
             card.box, card.gpu, card.uuid, card.name, card.memory_bytes, card.limit_default_w,
             card.simulated, card.present, card.seen_at));
  return ReturnedId(query);
}

Status PutJob(Db& db, const Job& job) {
  if (job.id <= 0) return Invalid("a job needs a number above 0", "ledger");
  STOKER_ASSIGN(
      Query query,
      db.Ask("INSERT OR REPLACE INTO jobs (id, name, state, origin, command_json, cwd, user, "
             "gpus_json, cards_json, created_ms, started_ms, ended_ms, exit_code, signal, reason, "
             "run_log, folder, gpu_energy_j, last_epoch, epochs_planned, "
             "plan_json, git_json, environment_json, best_metric, best_value, "
             "best_higher, best_epoch, best_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
             "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
             job.id, job.name, Number(job.state), Number(job.origin), ListJson(job.command),
             job.cwd, job.user, ListJson(job.gpus), ListJson(job.cards), job.created_at,
             job.started_at, job.ended_at, job.exit_code, job.signal, job.reason, job.run_log,
             job.folder, job.gpu_energy_j, job.last_epoch, job.epochs_planned, job.plan_json,
             job.git_json, job.environment_json));
  BindBest(query, job.best);
  STOKER_TRY(query.Step());
  return Ok();
}

Status PutAttempt(Db& db, const Attempt& a) {
  return db.Run(
      "INSERT OR REPLACE INTO attempts (job, number, pid, start_ticks, boot_id, started_ms, "
      "ended_ms, exit_code, signal) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      a.job, a.number, a.pid, a.start_ticks, a.boot_id, a.started_at, a.ended_at, a.exit_code,
      a.signal);
}

Status AddMetrics(Db& db, int64_t job, const std::vector<MetricPoint>& points) {
  for (const MetricPoint& p : points) {
    // The count is also the next point's place; (job, name) is found by its index.
    STOKER_ASSIGN(Query name,
                  db.Ask("INSERT INTO metric_names (job, name, points) VALUES (?, ?, 1) "
                         "ON CONFLICT (job, name) DO UPDATE SET points = points + 1 "
                         "RETURNING id, points",
                         job, p.name));
    STOKER_ASSIGN(const bool row, name.Step());
    if (!row) return Internal("no id came back", "ledger");
    const int64_t metric = name.Int();
    const int64_t seq = name.Int();
    STOKER_TRY(name.Step());
    STOKER_TRY(
        db.Run("INSERT INTO metric_points (metric, seq, at_ms, value, epoch, step) "
               "VALUES (?, ?, ?, ?, ?, ?)",
               metric, seq, p.at, p.value, p.epoch, p.step));
  }
  return Ok();
}

Status PutPhase(Db& db, const Phase& p) {
  return db.Run("INSERT OR REPLACE INTO phases (job, name, began_ms, ended_ms) VALUES (?, ?, ?, ?)",
                p.job, p.name, p.began_at, p.ended_at);
}

Result<int64_t> PutCheckpoint(Db& db, const Checkpoint& c) {
  const std::optional<int64_t> id = c.id > 0 ? std::optional<int64_t>(c.id) : std::nullopt;
  STOKER_ASSIGN(
      Query query,
      db.Ask("INSERT OR REPLACE INTO checkpoints (id, job, path, role, epoch, bytes, sha256, "
             "state, reason, pinned, seen_ms, mtime_ns, best_metric, best_value, best_higher, "
             "best_epoch, best_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
             id, c.job, c.path, Number(c.role), c.epoch, c.bytes, c.sha256, Number(c.state),
             c.reason, c.pinned, c.seen_at, c.mtime_ns));
  BindBest(query, c.metric);
  STOKER_TRY(query.Step());
  return id ? *id : db.last_id();
}

Status PutCopy(Db& db, const Copy& c) {
  return db.Run(
      "INSERT OR REPLACE INTO copies (checkpoint, store, key, verified_ms) VALUES (?, ?, ?, ?)",
      c.checkpoint, c.store, c.key, c.verified_at);
}

Result<int64_t> AddEvent(Db& db, const Event& e) {
  STOKER_TRY(
      db.Run("INSERT INTO events (at_ms, kind, severity, job, card, text, data_json) "
             "VALUES (?, ?, ?, ?, ?, ?, ?)",
             e.at, e.kind, Number(e.severity), e.job, e.card, e.text, e.data_json));
  return db.last_id();
}

Status SetMark(Db& db, const std::string& name, const std::string& value) {
  return db.Run("INSERT OR REPLACE INTO marks (name, value) VALUES (?, ?)", name, value);
}

}  // namespace stoker::ledger::sql
