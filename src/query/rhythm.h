// When the cards of a job worked together and when they stood still together. Pure.
#pragma once

#include <optional>
#include <vector>

#include "query/card_use.h"
#include "query/views.h"

namespace stoker::query {

// Lays the samples of a job's cards on one grid of time, a card at a time, so that they need not be
// in memory together.
class RhythmBuilder {
 public:
  explicit RhythmBuilder(Window window) : window_(window) {}

  void Add(int gpu, const CardSamples& samples);
  // Nullopt where too few reads of all cards fall together (fewer than 30 steps of the grid).
  std::optional<Rhythm> Finish() const;

 private:
  using Line = std::vector<float>;  // one value a step; NaN: nothing known
  Line OnGrid(const std::vector<ledger::Sample>& samples, double hold_s) const;
  bool Whole(size_t i) const { return answered_[i] == static_cast<int>(gpus_.size()); }
  std::vector<size_t> Working() const;
  void FindStalls(size_t first, size_t last, Rhythm& out) const;
  void DescribeStalls(const std::vector<size_t>& steps, Rhythm& out) const;
  WallTime TimeOf(size_t step) const;

  const Window window_;
  double step_s_ = 0;  // 0: no card was added yet
  std::vector<int> gpus_;
  std::vector<int> answered_;  // cards with a known power, by step
  std::vector<double> power_;  // their sum
  std::vector<double> memory_;
  std::vector<Line> busy_;  // by card
};

}  // namespace stoker::query
