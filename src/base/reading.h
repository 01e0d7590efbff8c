// A reading is a value or a reason for its absence; never 0 for a failure, never the last value
// again.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace stoker {

// Stored in the ledger as a number: append only.
enum class Absence : uint8_t {
  kNone = 0,         // there is a value
  kUnsupported = 1,  // this device never gives it
  kDenied = 2,       // permission is missing
  kTimeout = 3,      // the call took too long
  kLost = 4,         // the device fell off the bus or needs a reset
  kError = 5,        // the call failed this time
  kNotYet = 6,       // needs a second sample, or was not asked for in this cycle
};

std::string_view AbsenceName(Absence absence);  // "unsupported", "denied", ...

template <typename T>
class Reading {
 public:
  Reading() = default;  // kNotYet
  Reading(T value) : value_(std::move(value)), absence_(Absence::kNone) {}
  Reading(Absence absence) : absence_(absence) {}

  bool has_value() const { return value_.has_value(); }
  explicit operator bool() const { return has_value(); }
  const T& operator*() const { return *value_; }
  const T* operator->() const { return &*value_; }
  Absence absence() const { return absence_; }

 private:
  std::optional<T> value_;
  Absence absence_ = Absence::kNotYet;
};

}  // namespace stoker
