#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "ledger/record_sql.h"

namespace stoker::ledger::sql {
namespace {

// Runs `row` for each row of the answer and gathers what it returns.
template <typename T, typename ReadRow>
Result<std::vector<T>> Gather(Result<Query> query, ReadRow&& row) {
  if (!query) return std::move(query).error();
  std::vector<T> out;
  while (true) {
    STOKER_ASSIGN(const bool more, query->Step());
    if (!more) return out;
    STOKER_ASSIGN(T item, row(*query));
    out.push_back(std::move(item));
  }
}

template <typename Enum>
Result<Enum> ToEnum(int64_t number, Enum last, const char* of) {
  if (number < 0 || number > static_cast<int64_t>(last)) {
    return Corrupt(std::string("a number out of range for ") + of, "ledger", Db::DamageAdvice());
  }
  return static_cast<Enum>(number);
}

template <typename T>
Result<std::vector<T>> FromListJson(const std::string& text) {
  STOKER_ASSIGN(const Json json, ParseJson(text, "ledger"));
  std::vector<T> out;
  for (const Json& item : json) {
    const bool fits = std::is_same_v<T, std::string> ? item.is_string() : item.is_number_integer();
    if (!fits) return Corrupt("a list holds something else", "ledger", Db::DamageAdvice());
    out.push_back(item.template get<T>());
  }
  return out;
}

std::optional<Best> ReadBest(Query& q) {
  Best best;
  best.metric = q.Text();
  best.value = q.Real();
  best.higher_is_better = q.Int() != 0;
  best.epoch = q.MaybeReal();
  best.at = q.MaybeTime();
  if (best.metric.empty()) return std::nullopt;
  return best;
}

Result<Job> ReadJob(Query& q) {
  Job job;
  job.id = q.Int();
  job.name = q.Text();
  STOKER_ASSIGN(job.state, ToEnum(q.Int(), JobState::kLost, "a job's state"));
  STOKER_ASSIGN(job.origin, ToEnum(q.Int(), JobOrigin::kSlurm, "a job's origin"));
  STOKER_ASSIGN(job.command, FromListJson<std::string>(q.Text()));
  job.cwd = q.Text();
  job.user = q.Text();
  STOKER_ASSIGN(job.gpus, FromListJson<int>(q.Text()));
  STOKER_ASSIGN(job.cards, FromListJson<int64_t>(q.Text()));
  job.created_at = q.Time();
  job.started_at = q.MaybeTime();
  job.ended_at = q.MaybeTime();
  job.exit_code = q.MaybeInt32();
  job.signal = q.MaybeInt32();
  job.reason = q.Text();
  job.run_log = q.Text();
  job.folder = q.Text();
  job.best = ReadBest(q);
  job.gpu_energy_j = q.MaybeReal();
  job.last_epoch = q.MaybeReal();
  job.epochs_planned = q.MaybeReal();
  job.checkpoints_seen = static_cast<int>(q.Int());
  job.checkpoints_safe = static_cast<int>(q.Int());
  job.plan_json = q.Text();
  job.git_json = q.Text();
  job.environment_json = q.Text();
  return job;
}

Result<Checkpoint> ReadCheckpoint(Query& q) {
  Checkpoint c;
  c.id = q.Int();
  c.job = q.Int();
  c.path = q.Text();
  STOKER_ASSIGN(c.role, ToEnum(q.Int(), CheckpointRole::kUnknown, "a checkpoint's role"));
  c.epoch = q.MaybeReal();
  c.metric = ReadBest(q);
  c.bytes = q.Int();
  c.sha256 = q.Text();
  STOKER_ASSIGN(c.state, ToEnum(q.Int(), CheckpointState::kGone, "a checkpoint's state"));
  c.reason = q.Text();
  c.pinned = q.Int() != 0;
  c.seen_at = q.Time();
  c.mtime_ns = q.Int();
  return c;
}

Result<Event> ReadEvent(Query& q) {
  Event e;
  e.id = q.Int();
  e.at = q.Time();
  e.kind = q.Text();
  STOKER_ASSIGN(e.severity, ToEnum(q.Int(), Severity::kFault, "an event's severity"));
  e.job = q.MaybeInt();
  e.card = q.MaybeInt();
  e.text = q.Text();
  e.data_json = q.Text();
  return e;
}

// One text for every list of jobs; `texts` are the columns that a brief list leaves empty.
std::string JobsSql(std::string_view texts, std::string_view which) {
  std::string sql =
      "SELECT id, name, state, origin, command_json, cwd, user, gpus_json, cards_json, created_ms, "
      "started_ms, ended_ms, exit_code, signal, reason, run_log, folder, best_metric, best_value, "
      "best_higher, best_epoch, best_ms, gpu_energy_j, last_epoch, epochs_planned, "
      // Counted, not kept: the writer of checkpoints is not the writer of jobs.
      "(SELECT count(*) FROM checkpoints c WHERE c.job = jobs.id AND c.state <> 5), "
      "(SELECT count(*) FROM checkpoints c WHERE c.job = jobs.id AND c.state = 3), ";
  static_assert(static_cast<int>(CheckpointState::kSuperseded) == 5);
  static_assert(static_cast<int>(CheckpointState::kSafe) == 3);
  sql += texts;
  sql += " FROM jobs WHERE ";
  sql += which;
  sql +=
      " AND (?2 IS NULL OR state IN (SELECT value FROM json_each(?2))) "
      "AND (?3 IS NULL OR ended_ms > ?3 OR (ended_ms IS NULL AND (state < 2 OR created_ms > ?3))) "
      "ORDER BY id DESC LIMIT ?4";
  return sql;
}

// Both walk an index backwards from the newest, so that a limit costs what it returns.
std::string EventsSql(std::string_view which, std::string_view order) {
  std::string sql =
      "SELECT id, at_ms, kind, severity, job, card, text, data_json FROM events WHERE ";
  sql += which;
  sql +=
      " AND (?1 IS NULL OR at_ms >= ?1) AND (?2 IS NULL OR id > ?2) "
      "AND (?3 = '' OR substr(kind, 1, length(?3)) = ?3) ORDER BY ";
  sql += order;
  sql += " DESC LIMIT ?4";
  return sql;
}

std::string CheckpointsSql(std::string_view which) {
  std::string sql =
      "SELECT id, job, path, role, epoch, best_metric, best_value, best_higher, best_epoch, "
      "best_ms, bytes, sha256, state, reason, pinned, seen_ms, mtime_ns FROM checkpoints WHERE ";
  sql += which;
  sql += " ORDER BY id";
  return sql;
}

}  // namespace

Result<std::vector<Box>> Boxes(Db& db) {
  return Gather<Box>(
      db.Ask("SELECT id, hostname, boot_id, facts_json, seen_ms FROM boxes ORDER BY id"),
      [](Query& q) -> Result<Box> {
        Box box;
        box.id = q.Int();
        box.hostname = q.Text();
        box.boot_id = q.Text();
        box.facts_json = q.Text();
        box.seen_at = q.Time();
        return box;
      });
}

Result<std::vector<Card>> Cards(Db& db) {
  return Gather<Card>(db.Ask("SELECT id, box, gpu, uuid, name, memory_bytes, limit_default_w, "
                             "simulated, present, seen_ms FROM cards ORDER BY box, gpu, id"),
                      [](Query& q) -> Result<Card> {
                        Card card;
                        card.id = q.Int();
                        card.box = q.Int();
                        card.gpu = static_cast<int>(q.Int());
                        card.uuid = q.Text();
                        card.name = q.Text();
                        card.memory_bytes = q.MaybeReal();
                        card.limit_default_w = q.MaybeReal();
                        card.simulated = q.Int() != 0;
                        card.present = q.Int() != 0;
                        card.seen_at = q.Time();
                        return card;
                      });
}

Result<std::vector<Job>> Jobs(Db& db, const JobFilter& filter) {
  std::optional<std::string> ids, states;
  if (!filter.ids.empty()) ids = DumpJson(Json(filter.ids));
  if (!filter.states.empty()) {
    Json list = Json::array();
    for (const JobState state : filter.states) list.push_back(static_cast<int>(state));
    states = DumpJson(list);
  }
  const int limit = filter.limit > 0 ? filter.limit : -1;
  constexpr std::string_view kTexts = "plan_json, git_json, environment_json";
  constexpr std::string_view kAny = "?1 IS NULL";
  constexpr std::string_view kThese = "id IN (SELECT value FROM json_each(?1))";
  static const std::string kAll = JobsSql(kTexts, kAny);
  static const std::string kSome = JobsSql(kTexts, kThese);
  static const std::string kBriefAll = JobsSql("'', '', ''", kAny);
  static const std::string kBriefSome = JobsSql("'', '', ''", kThese);
  const std::string& sql =
      ids ? (filter.brief ? kBriefSome : kSome) : (filter.brief ? kBriefAll : kAll);
  return Gather<Job>(db.Ask(sql.c_str(), ids, states, filter.since, limit), ReadJob);
}

Result<std::vector<Attempt>> Attempts(Db& db, int64_t job) {
  return Gather<Attempt>(db.Ask("SELECT job, number, pid, start_ticks, boot_id, started_ms, "
                                "ended_ms, exit_code, signal FROM attempts WHERE job = ? "
                                "ORDER BY number",
                                job),
                         [](Query& q) -> Result<Attempt> {
                           Attempt a;
                           a.job = q.Int();
                           a.number = static_cast<int>(q.Int());
                           a.pid = static_cast<int>(q.Int());
                           a.start_ticks = q.Int();
                           a.boot_id = q.Text();
                           a.started_at = q.Time();
                           a.ended_at = q.MaybeTime();
                           a.exit_code = q.MaybeInt32();
                           a.signal = q.MaybeInt32();
                           return a;
                         });
}

Result<std::vector<std::string>> MetricNames(Db& db, int64_t job) {
  return Gather<std::string>(
      db.Ask("SELECT name FROM metric_names WHERE job = ? ORDER BY name", job),
      [](Query& q) -> Result<std::string> { return q.Text(); });
}

Result<std::vector<MetricPoint>> Metrics(Db& db, int64_t job, const std::string& name) {
  STOKER_ASSIGN(auto out,
                Gather<MetricPoint>(
                    db.Ask("SELECT n.name, p.value, p.epoch, p.step, p.at_ms FROM metric_names n "
                           "JOIN metric_points p ON p.metric = n.id WHERE n.job = ?1 "
                           "AND (?2 = '' OR n.name = ?2) ORDER BY n.id, p.seq",
                           job, name),
                    [](Query& q) -> Result<MetricPoint> {
                      MetricPoint p;
                      p.name = q.Text();
                      p.value = q.Real();
                      p.epoch = q.MaybeReal();
                      p.step = q.MaybeInt();
                      p.at = q.Time();
                      return p;
                    }));
  std::stable_sort(out.begin(), out.end(),
                   [](const MetricPoint& a, const MetricPoint& b) { return a.at < b.at; });
  return out;
}

Result<std::vector<Phase>> Phases(Db& db, int64_t job) {
  return Gather<Phase>(db.Ask("SELECT job, name, began_ms, ended_ms FROM phases WHERE job = ? "
                              "ORDER BY began_ms, name",
                              job),
                       [](Query& q) -> Result<Phase> {
                         Phase p;
                         p.job = q.Int();
                         p.name = q.Text();
                         p.began_at = q.Time();
                         p.ended_at = q.MaybeTime();
                         return p;
                       });
}

Result<std::vector<Checkpoint>> Checkpoints(Db& db, std::optional<int64_t> job,
                                            std::optional<int64_t> id) {
  static const std::string kById = CheckpointsSql("id = ?");
  static const std::string kByJob = CheckpointsSql("job = ?");
  static const std::string kAll = CheckpointsSql("true");
  if (id) return Gather<Checkpoint>(db.Ask(kById.c_str(), *id), ReadCheckpoint);
  if (job) return Gather<Checkpoint>(db.Ask(kByJob.c_str(), *job), ReadCheckpoint);
  return Gather<Checkpoint>(db.Ask(kAll.c_str()), ReadCheckpoint);
}

Result<std::vector<Copy>> Copies(Db& db, int64_t checkpoint) {
  return Gather<Copy>(db.Ask("SELECT checkpoint, store, key, verified_ms FROM copies "
                             "WHERE checkpoint = ? ORDER BY store",
                             checkpoint),
                      [](Query& q) -> Result<Copy> {
                        Copy c;
                        c.checkpoint = q.Int();
                        c.store = q.Text();
                        c.key = q.Text();
                        c.verified_at = q.MaybeTime();
                        return c;
                      });
}

Result<std::vector<Event>> Events(Db& db, const EventFilter& f) {
  static const std::string kByTime = EventsSql("true", "at_ms DESC, id");
  static const std::string kByJob = EventsSql("job = ?5", "at_ms DESC, id");
  // Whoever follows the log asks by id and gets the order of arrival.
  static const std::string kById = EventsSql("id > ?2", "id");
  static const std::string kByIdAndJob = EventsSql("id > ?2 AND job = ?5", "id");
  const std::string& sql = f.after_id ? (f.job ? kByIdAndJob : kById) : (f.job ? kByJob : kByTime);
  Result<Query> query =
      db.Ask(sql.c_str(), f.since, f.after_id, f.kind_prefix, f.limit > 0 ? f.limit : -1);
  if (query && f.job) query->Bind(*f.job);
  STOKER_ASSIGN(auto out, Gather<Event>(std::move(query), ReadEvent));
  std::reverse(out.begin(), out.end());
  return out;
}

Result<std::optional<std::string>> Mark(Db& db, const std::string& name) {
  STOKER_ASSIGN(Query q, db.Ask("SELECT value FROM marks WHERE name = ?", name));
  STOKER_ASSIGN(const bool row, q.Step());
  return row ? std::optional<std::string>(q.Text()) : std::nullopt;
}

}  // namespace stoker::ledger::sql
