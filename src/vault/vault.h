// Watches the folders that running jobs write, and carries every whole checkpoint to the store. One
// thread owns a Vault and calls Tick(); state lives in the ledger, so that a kill at any instant
// re-sends at most the object in flight.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "base/units.h"
#include "blob/object_store.h"
#include "ledger/ledger.h"

namespace stoker::vault {

struct Config {
  std::string store_name = "local";
  Millis quiet{1500};              // legacy formats count as whole after this long without a write
  int max_watched_folders = 4096;  // per job
};

class Vault {
 public:
  // `ledger` is the writer's. Everything given must outlive the vault.
  Vault(Config config, ledger::Ledger& ledger, blob::ObjectStore& store, Logger& log,
        const Clock& clock);
  ~Vault();
  // Handles what the kernel reported, takes up new jobs, then ships at most one checkpoint. Waits
  // up to `wait` for something to do. True where there is more to do at once. An error is the
  // ledger's: nothing is lost, the next Tick looks at everything again.
  Result<bool> Tick(Millis wait);
  // From any thread: a copy or an examination that runs ends soon, to be done again by the next
  // Vault.
  void Cancel();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stoker::vault
