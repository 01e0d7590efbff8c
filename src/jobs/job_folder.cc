#include "jobs/job_folder.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/durable_file.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace stoker::jobs {
namespace {

constexpr int64_t kMaxId = 1'000'000'000'000;
constexpr size_t kMaxSpec = 32 << 20;
constexpr size_t kMaxSmall = 1 << 20;
constexpr Millis kStartLimit{60000};  // a launch that has not begun by then was killed
constexpr mode_t kPrivate = 0600;

std::string SpecPath(const std::string& folder) { return JoinPath(folder, "job.json"); }
std::string ShimPath(const std::string& folder) { return JoinPath(folder, "shim.json"); }
std::string StopPath(const std::string& folder) { return JoinPath(folder, "stop.json"); }
std::string EndPath(const std::string& folder) { return JoinPath(folder, "end.json"); }
std::string AttemptPath(const std::string& folder, int number) {
  return JoinPath(folder, "attempt-" + std::to_string(number) + ".json");
}
std::string LastIdPath(const std::string& jobs_dir) { return JoinPath(jobs_dir, ".last-id"); }

// Unix strings are bytes; JSON strings are not. What is no UTF-8 travels as {"hex":"…"}.
Json BytesJson(const std::string& bytes) {
  const auto back = ParseJson(DumpJson(Json(bytes)), "", kMaxSpec);
  if (back && back->is_string() && back->get_ref<const std::string&>() == bytes) return bytes;
  return {{"hex", HexEncode(bytes)}};
}

std::optional<int> HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return std::nullopt;
}

std::optional<std::string> BytesFrom(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  const auto hex = JsonString(json, "hex");
  if (!hex || hex->size() % 2 != 0) return std::nullopt;
  std::string out;
  for (size_t i = 0; i < hex->size(); i += 2) {
    const auto high = HexDigit((*hex)[i]), low = HexDigit((*hex)[i + 1]);
    if (!high || !low) return std::nullopt;
    out.push_back(static_cast<char>(*high * 16 + *low));
  }
  return out;
}

Json BytesListJson(const std::vector<std::string>& list) {
  Json out = Json::array();
  for (const std::string& item : list) out.push_back(BytesJson(item));
  return out;
}

std::optional<std::vector<std::string>> BytesList(const Json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end() || !it->is_array()) return std::nullopt;
  std::vector<std::string> out;
  for (const Json& item : *it) {
    auto bytes = BytesFrom(item);
    if (!bytes) return std::nullopt;
    out.push_back(*std::move(bytes));
  }
  return out;
}

std::string BytesAt(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it == object.end() ? "" : BytesFrom(*it).value_or("");
}

Result<Json> ReadObject(const std::string& path, size_t max_bytes) {
  STOKER_ASSIGN(const std::string text, ReadFile(path, max_bytes));
  auto json = ParseJson(text, path, max_bytes);
  if (!json) return Corrupt(json.error().what, path);
  if (!json->is_object()) return Corrupt("not a JSON object", path);
  return json;
}

std::optional<WallTime> TimeAt(const Json& object, const char* key) {
  const auto text = JsonString(object, key);
  const auto time = text ? ParseTime(*text) : Result<WallTime>(Invalid("absent"));
  return time ? std::optional(*time) : std::nullopt;
}

std::optional<int> IntAt(const Json& object, const char* key) {
  const auto number = JsonInt(object, key);
  if (!number || *number < INT32_MIN || *number > INT32_MAX) return std::nullopt;
  return static_cast<int>(*number);
}

void PutStatus(Json& json, const std::optional<int>& exit_code, const std::optional<int>& signal) {
  if (exit_code) json["exit_code"] = *exit_code;
  if (signal) json["signal"] = *signal;
}

Json ObjectFrom(const std::string& text) {
  const auto json = ParseJson(text.empty() ? "{}" : text, "", kMaxSpec);
  return json && json->is_object() ? *json : Json::object();
}

std::string TextOf(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_object() ? DumpJson(*it) : "{}";
}

Result<ledger::Attempt> ReadAttemptFile(const std::string& path) {
  STOKER_ASSIGN(const Json json, ReadObject(path, kMaxSmall));
  const auto number = IntAt(json, "number");
  const auto started = TimeAt(json, "started_at");
  if (!number || *number < 1 || !started)
    return Corrupt("\"number\" or \"started_at\" is missing", path);
  ledger::Attempt attempt;
  attempt.job = JsonInt(json, "job").value_or(0);
  attempt.number = *number;
  attempt.pid = IntAt(json, "pid").value_or(0);
  attempt.start_ticks = JsonInt(json, "start_ticks").value_or(0);
  attempt.boot_id = JsonString(json, "boot_id").value_or("");
  attempt.started_at = *started;
  attempt.ended_at = TimeAt(json, "ended_at");
  attempt.exit_code = IntAt(json, "exit_code");
  attempt.signal = IntAt(json, "signal");
  return attempt;
}

int64_t LastId(const std::string& jobs_dir) {
  const auto text = ReadFile(LastIdPath(jobs_dir), 64);
  const auto id = text ? ParseInt(Trim(*text)) : std::nullopt;
  return id && *id > 0 && *id < kMaxId ? *id : 0;
}

// When the job last wrote anything: the best guess at the end of one that nobody saw end.
WallTime LastSign(const std::string& folder, WallTime at_least) {
  WallTime last = at_least;
  for (const char* name : {"output.log", "progress", "run.jsonl"}) {
    const auto stat = StatFile(JoinPath(folder, name));
    if (stat) last = std::max(last, WallTime{stat->mtime_ns / 1'000'000});
  }
  return last;
}

JobEnd Lost(WallTime at, std::string reason) {
  JobEnd end;
  end.state = ledger::JobState::kLost;
  end.ended_at = at;
  end.reason = std::move(reason);
  return end;
}

JobEnd LostWithShim(const std::string& folder, const JobSpec& spec, const ProcessIdentity& shim,
                    WallTime now) {
  const auto attempts = ReadAttempts(folder);
  WallTime started = spec.created_at;
  if (attempts && !attempts->empty()) started = attempts->back().started_at;
  const auto boot = BootId();
  if (boot && *boot != shim.boot_id)
    return Lost(LastSign(folder, started), "the machine restarted while the job ran");
  std::string reason = "its supervisor (process " + std::to_string(shim.pid) + ") was killed";
  if (attempts && !attempts->empty() && !attempts->back().ended_at) {
    const ledger::Attempt& last = attempts->back();
    const std::string process = "process " + std::to_string(last.pid);
    if (IsAlive({last.boot_id, last.pid, last.start_ticks}))
      return Lost(now, reason + "; " + process + " of the job still runs, unwatched");
    reason += "; " + process + " of the job is gone too, its exit code is unknown";
  }
  return Lost(LastSign(folder, started), reason);
}

}  // namespace

Result<std::vector<int64_t>> ListJobFolders(const std::string& jobs_dir) {
  STOKER_ASSIGN(const auto entries, ListDir(jobs_dir));
  std::vector<int64_t> ids;
  for (const DirEntry& entry : entries) {
    const auto id = ParseInt(entry.name);
    if (id && *id > 0 && *id < kMaxId && entry.is_directory && std::to_string(*id) == entry.name)
      ids.push_back(*id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

Result<std::pair<int64_t, std::string>> NewJobFolder(const std::string& jobs_dir) {
  STOKER_TRY(MakeDirs(jobs_dir));
  STOKER_ASSIGN(const auto ids, ListJobFolders(jobs_dir));
  // The number of a job whose folder somebody removed must not come back: the ledger knows it.
  int64_t id = std::max(LastId(jobs_dir), ids.empty() ? 0 : ids.back()) + 1;
  std::string folder = JoinPath(jobs_dir, std::to_string(id));
  while (::mkdir(folder.c_str(), 0755) != 0) {
    if (errno != EEXIST) return FromErrno(errno, "create the job's folder", folder);
    folder = JoinPath(jobs_dir, std::to_string(++id));
  }
  const Status noted = WriteDurably(LastIdPath(jobs_dir), std::to_string(id) + "\n");
  if (!noted) {
    Ignore(RemoveTree(folder));
    return noted.error();
  }
  return std::pair(id, folder);
}

Status WriteSpec(const std::string& folder, const JobSpec& spec) {
  const Json json = {{"schema_version", 1},
                     {"id", spec.id},
                     {"origin", ledger::JobOriginName(spec.origin)},
                     {"name", spec.name},
                     {"command", BytesListJson(spec.command)},
                     {"cwd", BytesJson(spec.cwd)},
                     {"user", spec.user},
                     {"gpus", spec.gpus},
                     {"restarts", spec.restarts},
                     {"run_log", BytesJson(spec.run_log)},
                     {"created_at", FormatTime(spec.created_at)},
                     {"git", ObjectFrom(spec.git_json)},
                     {"environment_redacted", ObjectFrom(spec.environment_json)},
                     {"environment", BytesListJson(spec.environment)}};
  return WriteDurably(SpecPath(folder), DumpJson(json, 1) + "\n", kPrivate);
}

Result<JobSpec> ReadSpec(const std::string& folder) {
  const std::string path = SpecPath(folder);
  STOKER_ASSIGN(const Json json, ReadObject(path, kMaxSpec));
  if (const auto version = JsonInt(json, "schema_version"); version && *version > 1)
    return Unsupported("written by a newer Stoker", path);
  JobSpec spec;
  spec.id = JsonInt(json, "id").value_or(0);
  const auto command = BytesList(json, "command");
  const auto environment = BytesList(json, "environment");
  const auto created = TimeAt(json, "created_at");
  spec.origin = ledger::ParseJobOrigin(JsonString(json, "origin").value_or(""))
                    .value_or(ledger::JobOrigin::kLaunched);
  const bool needs_command = spec.origin != ledger::JobOrigin::kImported;
  if (spec.id <= 0 || !command || (command->empty() && needs_command) || !environment || !created)
    return Corrupt("\"id\", \"command\", \"environment\" or \"created_at\" is missing", path);
  spec.command = *command;
  spec.environment = *environment;
  spec.created_at = *created;
  spec.name = JsonString(json, "name").value_or("");
  spec.user = JsonString(json, "user").value_or("");
  spec.cwd = BytesAt(json, "cwd");
  spec.run_log = BytesAt(json, "run_log");
  spec.restarts = IntAt(json, "restarts").value_or(0);
  spec.git_json = TextOf(json, "git");
  spec.environment_json = TextOf(json, "environment_redacted");
  if (const auto gpus = json.find("gpus"); gpus != json.end() && gpus->is_array()) {
    for (const Json& gpu : *gpus) {
      if (gpu.is_number_integer()) spec.gpus.push_back(gpu.get<int>());
    }
  }
  return spec;
}

Status WriteAttempt(const std::string& folder, const ledger::Attempt& attempt) {
  Json json = {{"job", attempt.job},         {"number", attempt.number},
               {"pid", attempt.pid},         {"start_ticks", attempt.start_ticks},
               {"boot_id", attempt.boot_id}, {"started_at", FormatTime(attempt.started_at)}};
  if (attempt.ended_at) json["ended_at"] = FormatTime(*attempt.ended_at);
  PutStatus(json, attempt.exit_code, attempt.signal);
  return WriteDurably(AttemptPath(folder, attempt.number), DumpJson(json) + "\n");
}

Result<std::vector<ledger::Attempt>> ReadAttempts(const std::string& folder) {
  return ReadAttemptsFrom(folder, 1);
}

Result<std::vector<ledger::Attempt>> ReadAttemptsFrom(const std::string& folder, int number) {
  std::vector<ledger::Attempt> attempts;
  for (;; ++number) {
    auto attempt = ReadAttemptFile(AttemptPath(folder, number));
    if (!attempt && attempt.error().code == Code::kNotFound) return attempts;
    if (!attempt) return attempt.error();
    attempts.push_back(*std::move(attempt));
  }
}

Status WriteShim(const std::string& folder, const ProcessIdentity& shim) {
  const Json json = {
      {"pid", shim.pid}, {"start_ticks", shim.start_ticks}, {"boot_id", shim.boot_id}};
  return WriteDurably(ShimPath(folder), DumpJson(json) + "\n");
}

Result<ProcessIdentity> ReadShim(const std::string& folder) {
  STOKER_ASSIGN(const Json json, ReadObject(ShimPath(folder), kMaxSmall));
  ProcessIdentity shim;
  shim.boot_id = JsonString(json, "boot_id").value_or("");
  shim.pid = IntAt(json, "pid").value_or(0);
  shim.start_ticks = JsonInt(json, "start_ticks").value_or(0);
  if (shim.boot_id.empty() || shim.pid <= 0)
    return Corrupt("\"boot_id\" or \"pid\" is missing", ShimPath(folder));
  return shim;
}

Status WriteStop(const std::string& folder, const StopRequest& stop) {
  const Json json = {
      {"at", FormatTime(stop.at)}, {"who", stop.who}, {"grace_ms", stop.grace.count()}};
  return WriteDurably(StopPath(folder), DumpJson(json) + "\n");
}

Result<StopRequest> ReadStop(const std::string& folder) {
  STOKER_ASSIGN(const Json json, ReadObject(StopPath(folder), kMaxSmall));
  StopRequest stop;
  stop.at = TimeAt(json, "at").value_or(WallTime{});
  stop.who = JsonString(json, "who").value_or("");
  if (const auto grace = JsonInt(json, "grace_ms"))
    stop.grace = Millis(std::clamp<int64_t>(*grace, 0, 86'400'000));
  return stop;
}

Status WriteEnd(const std::string& folder, const JobEnd& end) {
  Json json = {{"state", ledger::JobStateName(end.state)}, {"ended_at", FormatTime(end.ended_at)}};
  PutStatus(json, end.exit_code, end.signal);
  if (!end.reason.empty()) json["reason"] = end.reason;
  return CreateDurably(EndPath(folder), DumpJson(json) + "\n");
}

Result<JobEnd> ReadEnd(const std::string& folder) {
  const std::string path = EndPath(folder);
  STOKER_ASSIGN(const Json json, ReadObject(path, kMaxSmall));
  const auto state = ledger::ParseJobState(JsonString(json, "state").value_or(""));
  const auto ended = TimeAt(json, "ended_at");
  if (!state || !ledger::IsFinal(*state) || !ended)
    return Corrupt("\"state\" or \"ended_at\" is missing", path);
  JobEnd end;
  end.state = *state;
  end.ended_at = *ended;
  end.exit_code = IntAt(json, "exit_code");
  end.signal = IntAt(json, "signal");
  end.reason = JsonString(json, "reason").value_or("");
  return end;
}

Result<std::optional<JobEnd>> FindLostEnd(const std::string& folder, WallTime now) {
  const auto shim = ReadShim(folder);
  if (shim && IsAlive(*shim)) return std::optional<JobEnd>();
  // Only now: a supervisor writes the end before it goes.
  const auto end = ReadEnd(folder);
  if (end) return std::optional<JobEnd>();
  if (end.error().code == Code::kCorrupt)
    return std::optional(Lost(LastSign(folder, WallTime{}), "end.json is damaged"));
  if (end.error().code != Code::kNotFound) return end.error();
  const auto spec = ReadSpec(folder);
  if (!spec) return spec.error();
  if (shim) return std::optional(LostWithShim(folder, *spec, *shim, now));
  if (shim.error().code == Code::kCorrupt)
    return std::optional(Lost(LastSign(folder, spec->created_at), "shim.json is damaged"));
  if (shim.error().code != Code::kNotFound) return shim.error();
  if (now - spec->created_at < kStartLimit) return std::optional<JobEnd>();
  return std::optional(Lost(spec->created_at, "its supervisor never started"));
}

}  // namespace stoker::jobs
