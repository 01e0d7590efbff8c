// Numbers that carry their unit. Only the arithmetic that makes sense compiles: Watts x seconds is
// Joules, a Celsius minus a Celsius is a difference in degrees, a Ratio runs from 0 to 1.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace stoker {

using Seconds = std::chrono::duration<double>;
using Millis = std::chrono::milliseconds;

template <typename Tag>
struct Quantity {
  double value = 0;

  constexpr Quantity() = default;
  constexpr explicit Quantity(double v) : value(v) {}
  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity(a.value + b.value);
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity(a.value - b.value);
  }
  friend constexpr Quantity operator*(Quantity a, double k) { return Quantity(a.value * k); }
  friend constexpr Quantity operator/(Quantity a, double k) { return Quantity(a.value / k); }
  friend constexpr double operator/(Quantity a, Quantity b) { return a.value / b.value; }
  constexpr Quantity& operator+=(Quantity b) {
    value += b.value;
    return *this;
  }
};

struct WattsTag;
struct JoulesTag;
struct CelsiusTag;
struct BytesTag;
struct HertzTag;
struct RatioTag;
using Watts = Quantity<WattsTag>;
using Joules = Quantity<JoulesTag>;
using Celsius = Quantity<CelsiusTag>;
using Bytes = Quantity<BytesTag>;
using Hertz = Quantity<HertzTag>;
using Ratio = Quantity<RatioTag>;

constexpr Joules operator*(Watts w, Seconds s) { return Joules(w.value * s.count()); }
constexpr Watts operator/(Joules j, Seconds s) { return Watts(j.value / s.count()); }

constexpr Watts WattsFromMilliwatts(double mw) { return Watts(mw / 1000); }
constexpr Joules JoulesFromMillijoules(double mj) { return Joules(mj / 1000); }
constexpr Ratio RatioFromPercent(double percent) { return Ratio(percent / 100); }
constexpr Hertz HertzFromMegahertz(double mhz) { return Hertz(mhz * 1e6); }

}  // namespace stoker
