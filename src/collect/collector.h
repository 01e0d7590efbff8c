// Reads the cards and the host into the ledger. One thread owns a Collector and calls Tick() once a
// second; a Tick reads, writes one transaction, and records what changed as events: gpu.appeared,
// gpu.lost, gpu.back, throttle.began, throttle.ended, clock.stepped, stoker.started. What could not
// be read is stored with its reason; what was not asked for in a tick is not stored. Where the
// ledger cannot be written, the samples of that tick are gone and its events are written with the
// next one.
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
  // Reads in a row before a state counts: a throttle that began, one that ended, a card that is
  // lost or back.
  int throttle_began_after = 3;
  int throttle_ended_after = 10;
  int lost_after = 3;
};

class Collector {
 public:
  // `gpus` may be null: a box without cards shows its host alone.
  Collector(Config config, device::GpuProbe* gpus, device::HostProbe& host, ledger::Ledger& ledger,
            Logger& log, const Clock& clock);
  ~Collector();
  // Writes the box and its cards and says that Stoker started. Tick() does the cards again when
  // their set has changed, and begins by itself where Begin() failed.
  Status Begin();
  Status Tick();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stoker::collect
