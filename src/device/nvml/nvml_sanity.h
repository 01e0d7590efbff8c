// What numbers a card can have: everything outside is kError. Used by the parts of nvml_card.h
// alone.
#pragma once

#include <cstdint>

#include "base/reading.h"
#include "base/units.h"

namespace stoker::device::nvml {

// Drivers and their wrappers mark "no value" by all ones or by the largest signed numbers, give or
// take a few: no quantity here comes near them.
constexpr uint64_t kAbsurd32 = 0x7ffffff0;
constexpr uint64_t kAbsurd64 = 0x7ffffffffffffff0;

constexpr double kPowerMostW = 10'000;  // no card draws more
constexpr double kClockMostMhz = 100'000;
constexpr double kMemoryMostBytes = 1e15;
constexpr double kHottestC = 250;
constexpr size_t kProcessesMost = 8192;

template <typename T, typename Make>
Reading<T> Within(const Reading<uint64_t>& raw, double scale, double least, double most,
                  Make make) {
  if (!raw) return raw.absence();
  const double value = static_cast<double>(*raw) * scale;
  if (!(value >= least && value <= most)) return Absence::kError;
  return make(value);
}

// A powered card never draws 0 W: a driver that says so failed to read its sensor.
inline Reading<Watts> Power(const Reading<uint64_t>& milliwatts) {
  return Within<Watts>(milliwatts, 1e-3, 1e-3, kPowerMostW, [](double w) { return Watts(w); });
}

inline Reading<Celsius> Heat(const Reading<uint64_t>& degrees) {
  return Within<Celsius>(degrees, 1, 0, kHottestC, [](double c) { return Celsius(c); });
}

inline Reading<Joules> Energy(const Reading<uint64_t>& millijoules) {
  return Within<Joules>(millijoules, 1e-3, 0, 1e15, [](double j) { return Joules(j); });
}

inline Reading<int> SmallNumber(const Reading<uint64_t>& raw, int most) {
  return Within<int>(raw, 1, 1, most, [](double n) { return static_cast<int>(n); });
}

// Whether a function of the library is there, as a plain pointer for Card::Skip.
template <typename Function>
const void* Address(Function* function) {
  return reinterpret_cast<const void*>(function);
}

}  // namespace stoker::device::nvml
