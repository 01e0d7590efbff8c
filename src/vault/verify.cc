#include "vault/verify.h"

#include <algorithm>
#include <map>
#include <utility>

#include "vault/ship.h"

namespace stoker::vault {

Result<VerifyReport> VerifyCopies(ledger::Ledger& ledger, blob::ObjectStore& store,
                                  const std::string& store_name, std::optional<int64_t> job) {
  STOKER_ASSIGN(std::vector<ledger::Checkpoint> rows, ledger.Checkpoints(job));
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  VerifyReport report;
  std::map<std::string, Result<Hashed>> read;
  for (const ledger::Checkpoint& row : rows) {
    if (row.state != ledger::CheckpointState::kSafe) continue;
    STOKER_ASSIGN(const std::vector<ledger::Copy> copies, ledger.Copies(row.id));
    for (const ledger::Copy& copy : copies) {
      if (copy.store != store_name) continue;
      auto found = read.find(copy.key);
      if (found == read.end()) {
        found = read.emplace(copy.key, HashObject(store, copy.key, nullptr)).first;
        if (found->second) report.bytes_read += found->second->bytes;
      }
      const Result<Hashed>& hashed = found->second;
      CopyCheck check{row, copy, false, ""};
      if (!hashed) {
        check.reason =
            hashed.error().code == Code::kNotFound ? "the copy is missing" : hashed.error().what;
      } else if (hashed->sha256 != row.sha256 || hashed->bytes != row.bytes) {
        check.reason = "the copy is damaged: its hash differs from the one on record";
      } else {
        check.good = true;
      }
      if (!check.good) ++report.bad;
      report.copies.push_back(std::move(check));
    }
  }
  return report;
}

}  // namespace stoker::vault
