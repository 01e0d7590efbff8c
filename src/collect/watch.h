// Turns a reading that flickers into states that last: on after some reads in a row, off after some
// reads in a row. A read without an answer counts for neither and breaks the row.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/reading.h"
#include "device/gpu_probe.h"

namespace stoker::collect {

class Latch {
 public:
  Latch(int to_set, int to_clear) : to_set_(to_set), to_clear_(to_clear) {}
  bool on() const { return on_; }
  // True where this read changed the state.
  bool Read(bool set) {
    row_ = set == on_ ? 0 : row_ + 1;
    if (row_ < (on_ ? to_clear_ : to_set_)) return false;
    on_ = set;
    row_ = 0;
    return true;
  }
  void Miss() { row_ = 0; }

 private:
  int to_set_, to_clear_;
  int row_ = 0;
  bool on_ = false;
};

// The reasons that hold one card's clocks back, each with its own latch.
class ThrottleWatch {
 public:
  struct Change {
    device::ThrottleBits reason = 0;  // one bit
    bool began = false;
    std::optional<Seconds> lasted;  // of one that ended
  };
  ThrottleWatch(int to_set, int to_clear) : to_set_(to_set), to_clear_(to_clear) {}
  std::vector<Change> Read(const Reading<device::ThrottleBits>& bits, MonoTime now);

 private:
  struct Reason {
    Latch latch;
    MonoTime began;
  };
  int to_set_, to_clear_;
  std::map<device::ThrottleBits, Reason> reasons_;
};

}  // namespace stoker::collect
