// Other people's logs as jobs. An import writes a job's folder like any launched job's: the foreign
// run becomes a run log, the sidecar is kept as it is beside it; the Keeper takes both into the
// ledger.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/home.h"
#include "base/result.h"
#include "jobs/job_folder.h"
#include "jobs/launch.h"
#include "ledger/ledger.h"

namespace stoker::jobs {

struct ImportRequest {
  std::string name;             // empty: the run's own name, else the file's or folder's
  std::string run_dir;          // folder of another trainer's run; empty: cards only
  std::string sidecar;          // an nvidia-smi CSV; empty: no cards
  std::string sidecar_columns;  // where the CSV has no header
  double utc_offset_s = 0;      // to add to the CSV's local times
  std::string user;
};

struct Imported {
  Launched job;
  int64_t samples = 0;         // rows of the sidecar
  int64_t dropped = 0;         // lines and rows that could not be read
  bool guessed_cards = false;  // SmiLog::guessed_cards
};

// kNotFound where the folder holds no run that a reader knows; nothing is kept on an error.
Result<Imported> Import(const Home& home, const ImportRequest& request, const Clock& clock);

// Puts the sidecar of an imported job into the ledger, once: its cards belong to a box of the
// import, and job.cards names them. Nothing to do where the folder has none.
Status TakeSidecar(const std::string& folder, ledger::Ledger& ledger, ledger::Job& job);

}  // namespace stoker::jobs
