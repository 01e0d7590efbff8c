// What the probes answered, as values of the metrics catalogue.
#pragma once

#include <string>
#include <vector>

#include "base/reading.h"
#include "device/gpu_probe.h"
#include "device/host_probe.h"
#include "ledger/ledger.h"

namespace stoker::collect {

struct Value {
  ledger::Metric metric;
  ledger::Subject subject;
  Reading<double> reading;
};

// Every field of the reading, for the card with this id in the ledger.
std::vector<Value> CardValues(const device::GpuReading& reading, int64_t card);
std::vector<Value> HostValues(const device::HostReading& reading);

}  // namespace stoker::collect
