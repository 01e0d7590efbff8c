// The way out: sends whole checkpoints, the most wanted first, and waits patiently when the store
// cannot take them.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "blob/object_store.h"
#include "ledger/ledger.h"
#include "vault/book.h"
#include "vault/intake.h"
#include "vault/ship.h"
#include "vault/vault.h"

namespace stoker::vault {

class Outbox {
 public:
  Outbox(const Config& config, ledger::Ledger& ledger, blob::ObjectStore& store, Book& book,
         Intake& intake, Logger& log, const Clock& clock, const std::atomic<bool>& cancel)
      : config_(config),
        ledger_(ledger),
        store_(store),
        book_(book),
        intake_(intake),
        log_(log),
        clock_(clock),
        cancel_(cancel) {}

  // Sends one checkpoint, if one is due.
  Status ShipOne();
  // When the next is due; nullopt where nothing waits.
  std::optional<MonoTime> NextDue();

 private:
  OpenRow* Choose(MonoTime now);
  Status Close(OpenRow& row, const Shipped& shipped);
  Status Safe(OpenRow& row, const Shipped& shipped);
  Status PutBack(OpenRow& row, const Shipped& shipped);
  // The store is the one that the ledger knows by this name, not an empty mount point.
  Status CheckStore();
  Status StoreFailed(const Error& error);
  Status StoreWorks();
  Status AddEvent(std::string kind, ledger::Severity severity, std::string text);

  const Config& config_;
  ledger::Ledger& ledger_;
  blob::ObjectStore& store_;
  Book& book_;
  Intake& intake_;
  Logger& log_;
  const Clock& clock_;
  const std::atomic<bool>& cancel_;
  MonoTime pause_until_;
  int failures_ = 0;
  bool told_ = false;
  bool cleaned_ = false;
};

}  // namespace stoker::vault
