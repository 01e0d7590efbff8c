// The ledger's tables and the steps that bring an older file up to date.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "ledger/db.h"

namespace stoker::ledger {

// One step of the schema: brings a file from version `to - 1` to `to`. Never edited once released.
struct SchemaStep {
  int to = 0;
  const char* sql = nullptr;
};
std::span<const SchemaStep> SchemaSteps();

constexpr int64_t kApplicationId = 0x53544b52;  // "STKR" in the file's header

// The version of the file: 0 for an empty one, kInvalid for another program's, kUnsupported for one
// of a newer Stoker.
Result<int> ReadVersion(Db& db, int newest);
// Applies the steps that are missing, each in a transaction of its own.
Status Migrate(Db& db, std::span<const SchemaStep> steps);
// Walks the records and the ticks (not the sealed samples, which carry check words and may be
// large).
Status CheckTables(Db& db);

}  // namespace stoker::ledger
