// What this process itself costs: its share of one core between two reads, and its memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/reading.h"
#include "base/units.h"

namespace stoker::collect {

class OwnCost {
 public:
  // `proc_self` is a folder with a `statm`; another than the default only in tests.
  explicit OwnCost(std::string proc_self = "/proc/self") : proc_self_(std::move(proc_self)) {}

  struct Answer {
    Reading<double> cpu_ratio;  // of one core, all threads; kNotYet the first time
    Reading<Bytes> memory;      // resident
  };
  Answer Read(MonoTime now);

 private:
  std::string proc_self_;
  std::optional<std::pair<MonoTime, int64_t>> before_;  // when, and nanoseconds of CPU by then
};

}  // namespace stoker::collect
