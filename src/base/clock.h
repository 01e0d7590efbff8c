// Two clocks, never mixed: WallTime stamps records, MonoTime measures and waits. No conversion
// exists. Product code takes a Clock&; tests use FakeClock and tick it.
#pragma once

#include <atomic>
#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace stoker {

// Milliseconds since 1970-01-01T00:00:00Z.
struct WallTime {
  int64_t ms = 0;
  friend constexpr auto operator<=>(WallTime, WallTime) = default;
};
constexpr WallTime operator+(WallTime t, Millis d) { return WallTime{t.ms + d.count()}; }
constexpr WallTime operator-(WallTime t, Millis d) { return WallTime{t.ms - d.count()}; }
constexpr Millis operator-(WallTime a, WallTime b) { return Millis(a.ms - b.ms); }

// Nanoseconds since an arbitrary instant of this boot.
struct MonoTime {
  int64_t ns = 0;
  friend constexpr auto operator<=>(MonoTime, MonoTime) = default;
};
constexpr std::chrono::nanoseconds operator-(MonoTime a, MonoTime b) {
  return std::chrono::nanoseconds(a.ns - b.ns);
}
constexpr MonoTime operator+(MonoTime t, std::chrono::nanoseconds d) {
  return MonoTime{t.ns + d.count()};
}

// "2026-10-18T06:35:00.569Z"; RFC 3339, UTC, milliseconds.
std::string FormatTime(WallTime time);
// RFC 3339 with any offset and any fraction; anything else is kInvalid.
Result<WallTime> ParseTime(std::string_view text);

class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime Now() const = 0;
  virtual MonoTime Mono() const = 0;
};

class SystemClock final : public Clock {
 public:
  WallTime Now() const override;
  MonoTime Mono() const override;
};

// Stands still until ticked. Safe to tick from one thread while others read.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(WallTime start = WallTime{1'790'000'000'000}) : wall_ms_(start.ms) {}
  WallTime Now() const override { return WallTime{wall_ms_.load()}; }
  MonoTime Mono() const override { return MonoTime{mono_ns_.load()}; }
  void Tick(Millis step) {
    wall_ms_ += step.count();
    mono_ns_ += step.count() * 1'000'000;
  }
  // A step of the wall clock alone, as NTP or a person makes.
  void StepWall(Millis step) { wall_ms_ += step.count(); }

 private:
  std::atomic<int64_t> wall_ms_;
  std::atomic<int64_t> mono_ns_{1'000'000'000};
};

}  // namespace stoker
