// Copies job folders and run logs into the ledger. Run by whoever holds the ledger as writer: the
// daemon once a second, or a command once when the daemon is down. Every Tick is idempotent: a kill
// at any instant repeats or loses nothing.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/home.h"
#include "base/log.h"
#include "base/result.h"
#include "ledger/ledger.h"

namespace stoker::jobs {

class Keeper {
 public:
  Keeper(const Home& home, ledger::Ledger& ledger, Logger& log, const Clock& clock);
  ~Keeper();
  // One pass: new folders become jobs, run logs are read on, ends are recorded, and a job whose
  // supervisor is gone without an end (kill, reboot) becomes `lost` with what is known.
  Status Tick();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stoker::jobs
