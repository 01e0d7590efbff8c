#include "ledger/db.h"

#include <sqlite3.h>

#include <cerrno>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"

namespace stoker::ledger {
namespace {

constexpr int kBusyMs = 5000;
constexpr char kDamageAdvice[] =
    "nothing was changed; keep this file, save what is whole with `sqlite3 ledger.db .recover`, "
    "and "
    "move it away to start a new ledger";

// Percent-encodes what a URI file name may not hold.
std::string AsUri(const std::string& path, std::string_view options) {
  std::string out = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      constexpr char kHex[] = "0123456789ABCDEF";
      out += '%';
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[static_cast<unsigned char>(c) & 15];
    } else {
      out += c;
    }
  }
  out += options;
  return out;
}

Error FromSqlite(int rc, int system_error, const char* message, const std::string& path) {
  switch (rc & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Corrupt("the ledger is damaged: " + std::string(message), path, kDamageAdvice);
    case SQLITE_FULL:
      return Unavailable("the disk is full", path, "free some space; the ledger itself is whole");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Unavailable("the ledger is busy", path, "try again");
    case SQLITE_IOERR:
      if (system_error == ENOSPC || system_error == EDQUOT || system_error == EFBIG) {
        return Unavailable("the disk is full", path, "free some space; the ledger itself is whole");
      }
      if (system_error != 0) return FromErrno(system_error, "reading or writing the ledger", path);
      return Internal("the disk failed: " + std::string(message), path);
    case SQLITE_CANTOPEN:
      return FromErrno(system_error != 0 ? system_error : ENOENT, "opening the ledger", path);
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return Denied("the ledger cannot be written: " + std::string(message), path);
    default:
      return Internal("the ledger failed: " + std::string(message), path);
  }
}

}  // namespace

Query::Query(Query&& other) noexcept
    : db_(other.db_),
      statement_(std::exchange(other.statement_, nullptr)),
      sql_(other.sql_),
      bound_(other.bound_),
      column_(other.column_) {}

Query::~Query() {
  if (statement_ != nullptr) db_->GiveBack(sql_, statement_);
}

void Query::Bind(int64_t value) { sqlite3_bind_int64(statement_, ++bound_, value); }
void Query::Bind(double value) { sqlite3_bind_double(statement_, ++bound_, value); }
void Query::Bind(std::nullopt_t) { sqlite3_bind_null(statement_, ++bound_); }
void Query::Bind(std::string_view text) {
  sqlite3_bind_text64(statement_, ++bound_, text.data() != nullptr ? text.data() : "", text.size(),
                      SQLITE_TRANSIENT, SQLITE_UTF8);
}
void Query::Bind(Blob blob) {
  sqlite3_bind_blob64(statement_, ++bound_, blob.bytes.data(), blob.bytes.size(), SQLITE_TRANSIENT);
}

Result<bool> Query::Step() {
  column_ = 0;
  const int rc = sqlite3_step(statement_);
  if (rc == SQLITE_ROW) return true;
  if (rc == SQLITE_DONE) return false;
  return db_->Failure(rc);
}

int64_t Query::Int() { return sqlite3_column_int64(statement_, column_++); }
double Query::Real() { return MaybeReal().value_or(std::numeric_limits<double>::quiet_NaN()); }
std::string_view Query::Bytes() {
  const int column = column_++;
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  const int size = sqlite3_column_bytes(statement_, column);
  return data != nullptr ? std::string_view(data, static_cast<size_t>(size)) : std::string_view();
}
std::string Query::Text() {
  const int column = column_++;
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  const int size = sqlite3_column_bytes(statement_, column);
  return text != nullptr ? std::string(text, static_cast<size_t>(size)) : std::string();
}
std::optional<int64_t> Query::MaybeInt() {
  const int column = column_++;
  if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::nullopt;
  return sqlite3_column_int64(statement_, column);
}
std::optional<int> Query::MaybeInt32() {
  const std::optional<int64_t> value = MaybeInt();
  return value ? std::optional<int>(static_cast<int>(*value)) : std::nullopt;
}
std::optional<double> Query::MaybeReal() {
  const int column = column_++;
  if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::nullopt;
  return sqlite3_column_double(statement_, column);
}
std::optional<WallTime> Query::MaybeTime() {
  const std::optional<int64_t> value = MaybeInt();
  return value ? std::optional<WallTime>(WallTime{*value}) : std::nullopt;
}

Result<std::unique_ptr<Db>> Db::Open(const std::string& path, Access access) {
  int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
  flags |=
      access == Access::kWrite ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  sqlite3* raw = nullptr;
  const std::string uri = AsUri(path, access == Access::kImmutable ? "?immutable=1" : "");
  const int rc = sqlite3_open_v2(uri.c_str(), &raw, flags, nullptr);
  std::unique_ptr<Db> db(new Db(raw, path));
  if (raw == nullptr) return Internal("no memory for a connection", path);
  if (rc != SQLITE_OK) return db->Failure(rc);
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_busy_timeout(raw, kBusyMs);
  // A clean close leaves the log and its index beside the file, so that a reader who may not write
  // in the folder can open the ledger all the same.
  int on = 1;
  if (access == Access::kWrite) {
    sqlite3_file_control(raw, "main", SQLITE_FCNTL_PERSIST_WAL, &on);
  }
  return db;
}

Db::~Db() {
  for (auto& [sql, statements] : idle_) {
    for (sqlite3_stmt* statement : statements) sqlite3_finalize(statement);
  }
  const int rc = sqlite3_close(db_);
  STOKER_CHECK(rc == SQLITE_OK);  // a Query outlived its Db
}

Result<Query> Db::Prepare(const char* sql) {
  std::vector<sqlite3_stmt*>& idle = idle_[sql];
  sqlite3_stmt* statement = nullptr;
  if (!idle.empty()) {
    statement = idle.back();
    idle.pop_back();
  } else {
    const int rc = sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    if (rc != SQLITE_OK) return Failure(rc);
  }
  return Query(this, statement, sql);
}

void Db::GiveBack(const char* sql, sqlite3_stmt* statement) {
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  idle_[sql].push_back(statement);
}

Result<std::optional<std::string>> Db::AskTextOnce(const std::string& sql) {
  sqlite3_stmt* raw = nullptr;
  if (const int rc = sqlite3_prepare_v2(db_, sql.c_str(), -1, &raw, nullptr); rc != SQLITE_OK) {
    return Failure(rc);
  }
  const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> statement(raw,
                                                                             &sqlite3_finalize);
  const int rc = sqlite3_step(raw);
  if (rc == SQLITE_DONE) return std::optional<std::string>();
  if (rc != SQLITE_ROW) return Failure(rc);
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(raw, 0));
  return std::optional<std::string>(text != nullptr ? text : "");
}

const char* Db::DamageAdvice() { return kDamageAdvice; }

Status Db::Script(const std::string& sql) {
  const int rc = sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
  if (rc != SQLITE_OK) return Failure(rc);
  return Ok();
}

int64_t Db::last_id() const { return sqlite3_last_insert_rowid(db_); }
int64_t Db::changes() const { return sqlite3_changes64(db_); }
bool Db::in_transaction() const { return sqlite3_get_autocommit(db_) == 0; }

Status Db::SyncLog() {
  sqlite3_file* log = nullptr;
  const int rc = sqlite3_file_control(db_, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (rc != SQLITE_OK || log == nullptr || log->pMethods == nullptr) return Ok();  // no log yet
  if (log->pMethods->xSync(log, SQLITE_SYNC_NORMAL) != SQLITE_OK) {
    return Unavailable("the disk did not confirm the last records", path_,
                       "they are kept unless the power fails now");
  }
  return Ok();
}

// A failed COMMIT leaves no errno with the connection, but the file that failed remembers it.
int Db::SystemError() {
  if (const int number = sqlite3_system_errno(db_); number != 0) return number;
  for (const int which : {SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER}) {
    sqlite3_file* file = nullptr;
    int number = 0;
    if (sqlite3_file_control(db_, "main", which, &file) != SQLITE_OK || file == nullptr ||
        file->pMethods == nullptr) {
      continue;
    }
    file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &number);
    if (number != 0) return number;
  }
  return 0;
}

Error Db::Failure(int rc) {
  const int system_error = (rc & 0xff) == SQLITE_IOERR ? SystemError() : sqlite3_system_errno(db_);
  Error error = FromSqlite(rc, system_error, sqlite3_errmsg(db_), path_);
  if (error.code == Code::kCorrupt && !damage_) damage_ = error;
  return error;
}

Result<Transaction> Transaction::Begin(Db& db, Kind kind) {
  STOKER_TRY(db.Run(kind == Kind::kWrite ? "BEGIN IMMEDIATE" : "BEGIN"));
  return Transaction(&db);
}

Transaction::~Transaction() {
  // SQLite itself has rolled back after some failures: a full disk, no memory.
  if (db_ != nullptr && db_->in_transaction()) Ignore(db_->Run("ROLLBACK"));
}

Status Transaction::Commit() {
  STOKER_TRY(db_->Run("COMMIT"));
  db_ = nullptr;
  return Ok();
}

}  // namespace stoker::ledger
