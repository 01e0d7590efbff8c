// Random numbers that depend on nothing but three counters, usually (seed, epoch, photo): the same
// on every machine, with any number of threads and in any order. SplitMix64 underneath.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace stoker::photo {

class Random {
 public:
  explicit Random(uint64_t seed, uint64_t stream = 0, uint64_t index = 0)
      : state_(Mix(Mix(Mix(seed + kGolden) ^ (stream + 2 * kGolden)) ^ (index + 3 * kGolden))) {}

  uint64_t Next() { return Mix(state_ += kGolden); }
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }  // [0, 1)
  double Uniform(double low, double high) { return low + (high - low) * Uniform(); }
  // [0, n); n >= 1. The bias of the plain product is below n / 2^53.
  int64_t Below(int64_t n) { return static_cast<int64_t>(Uniform() * static_cast<double>(n)); }
  bool Chance(double probability) { return Uniform() < probability; }

  template <typename T>
  void Shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i) {
      std::swap(items[i - 1], items[static_cast<size_t>(Below(static_cast<int64_t>(i)))]);
    }
  }

 private:
  static constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
  static constexpr uint64_t Mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  uint64_t state_;
};

}  // namespace stoker::photo
