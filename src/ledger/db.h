// SQLite behind Results: one connection, its prepared statements, and its errors in our words. Not
// thread-safe; the Ledger's mutex guards it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace stoker::ledger {

struct Blob {
  std::string_view bytes;
};

class Db;

// A statement at work. Goes back to its Db's store of prepared statements with the object.
class Query {
 public:
  Query(Query&& other) noexcept;
  Query& operator=(Query&&) = delete;
  ~Query();

  void Bind(int64_t value);
  void Bind(int value) { Bind(static_cast<int64_t>(value)); }
  void Bind(bool value) { Bind(static_cast<int64_t>(value)); }
  void Bind(double value);  // NaN becomes NULL, as SQLite has none
  void Bind(std::string_view text);
  void Bind(const std::string& text) { Bind(std::string_view(text)); }
  void Bind(Blob blob);
  void Bind(WallTime time) { Bind(time.ms); }
  void Bind(std::nullopt_t);
  template <typename T>
  void Bind(const std::optional<T>& value) {
    value ? Bind(*value) : Bind(std::nullopt);
  }

  Result<bool> Step();  // true: there is a row

  // Columns of the row, in order from the first; each call takes the next. NULL is 0, empty,
  // nullopt.
  int64_t Int();
  double Real();  // NULL is NaN
  std::string Text();
  std::string_view Bytes();  // valid until the next Step()
  WallTime Time() { return WallTime{Int()}; }
  std::optional<int64_t> MaybeInt();
  std::optional<int> MaybeInt32();
  std::optional<double> MaybeReal();
  std::optional<WallTime> MaybeTime();

 private:
  friend class Db;
  Query(Db* db, sqlite3_stmt* statement, const char* sql)
      : db_(db), statement_(statement), sql_(sql) {}
  Db* db_;
  sqlite3_stmt* statement_;
  const char* sql_;
  int bound_ = 0;
  int column_ = 0;
};

class Db {
 public:
  enum class Access { kWrite, kRead, kImmutable };
  static Result<std::unique_ptr<Db>> Open(const std::string& path, Access access);
  Db(const Db&) = delete;
  Db& operator=(const Db&) = delete;
  ~Db();

  // `sql` must be a literal: statements are kept by its address. The values are bound in order.
  template <typename... Values>
  Result<Query> Ask(const char* sql, const Values&... values) {
    STOKER_ASSIGN(Query query, Prepare(sql));
    (query.Bind(values), ...);
    return query;
  }
  // The same for a statement without rows.
  template <typename... Values>
  Status Run(const char* sql, const Values&... values) {
    STOKER_ASSIGN(Query query, Ask(sql, values...));
    STOKER_TRY(query.Step());
    return Ok();
  }
  // The first column of the first row; nullopt where there is none.
  template <typename... Values>
  Result<std::optional<int64_t>> AskInt(const char* sql, const Values&... values) {
    STOKER_ASSIGN(Query query, Ask(sql, values...));
    STOKER_ASSIGN(const bool row, query.Step());
    return row ? std::optional<int64_t>(query.Int()) : std::nullopt;
  }
  // The first text of an answer, for a statement that is no literal; not kept.
  Result<std::optional<std::string>> AskTextOnce(const std::string& sql);
  // Statements in one text that is no literal; not kept.
  Status Script(const std::string& sql);

  // The advice that goes with damage.
  static const char* DamageAdvice();

  int64_t last_id() const;
  int64_t changes() const;
  bool in_transaction() const;
  // Makes what was committed survive a power cut, where the connection itself runs with
  // synchronous=NORMAL.
  Status SyncLog();
  // The first damage that any statement met, if any.
  const std::optional<Error>& damage() const { return damage_; }
  const std::string& path() const { return path_; }

 private:
  friend class Query;
  Db(sqlite3* db, std::string path) : db_(db), path_(std::move(path)) {}
  Result<Query> Prepare(const char* sql);
  void GiveBack(const char* sql, sqlite3_stmt* statement);
  int SystemError();
  Error Failure(int rc);

  sqlite3* db_;
  std::string path_;
  std::unordered_map<const char*, std::vector<sqlite3_stmt*>> idle_;
  std::optional<Error> damage_;
};

// One transaction of a Db; rolled back where it was not committed.
class Transaction {
 public:
  enum class Kind { kRead, kWrite };
  static Result<Transaction> Begin(Db& db, Kind kind);
  Transaction(Transaction&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Status Commit();

 private:
  explicit Transaction(Db* db) : db_(db) {}
  Db* db_;
};

}  // namespace stoker::ledger
