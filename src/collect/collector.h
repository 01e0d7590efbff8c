// Reads the cards and the host into the ledger. One thread owns a Collector and calls Tick() once a
// second; a Tick reads, writes one transaction, and records what changed as events.
#pragma once

#include <memory>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "device/gpu_probe.h"
#include "device/host_probe.h"
#include "ledger/ledger.h"

namespace stoker::collect {

struct Config {
  int slow_every = 10;  // ticks between the dear reads (memory, processes, link)
};

class Collector {
 public:
  // `gpus` may be null: a box without cards shows its host alone.
  Collector(Config config, device::GpuProbe* gpus, device::HostProbe& host, ledger::Ledger& ledger,
            Logger& log, const Clock& clock);
  ~Collector();
  // Writes the box and its cards; again after the set of cards changed.
  Status Begin();
  Status Tick();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stoker::collect
