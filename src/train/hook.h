// What the loop tells whoever listens: the run log, the progress bar, a test. Knows nothing of
// LibTorch. All calls come from the thread that trains, in the order of the events.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/units.h"

namespace stoker::train {

struct RunInfo {
  int epochs = 0;
  int first_epoch = 0;  // epochs that an earlier run had finished
  int64_t steps_per_epoch = 0;
  int64_t photos_per_epoch = 0;
  std::string judge;  // the metric that chooses the best epoch
  bool higher_is_better = true;
};

struct StepInfo {
  int epoch = 0;              // the one in progress, from 1
  int64_t step = 0;           // finished over the whole run, resumed parts included
  int64_t step_of_epoch = 0;  // finished in this epoch
  int64_t photos = 0;         // in this step
  double loss = 0;            // mean of this epoch so far; updated every few steps on a GPU
  double rate = 0;            // learning rate
  Seconds wall{0};            // of this step, waiting included
  Seconds waited{0};          // for input
};

struct EpochInfo {
  int epoch = 0;  // 1 after the first
  int64_t step = 0;
  std::map<std::string, double> metrics;  // train/loss, val/loss, val/accuracy, lr, ...
  double photos_per_s = 0;                // of training, validation aside
  Seconds waited{0};
  bool best = false;
};

class Hook {
 public:
  virtual ~Hook() = default;
  virtual void OnStart(const RunInfo&) {}
  virtual void OnPhase(std::string_view /*phase*/, bool /*begins*/, int /*epoch*/) {}
  virtual void OnStep(const StepInfo&) {}
  virtual void OnEpoch(const EpochInfo&) {}
  // A file is complete on disk. Roles: "best", "last".
  virtual void OnCheckpoint(const std::string& /*path*/, std::string_view /*role*/,
                            double /*epoch*/) {}
  // The weights of the best epoch on the test split: test/accuracy, ...
  virtual void OnTest(int /*best_epoch*/, const std::map<std::string, double>&) {}
  // Something that a person should know; training goes on.
  virtual void OnNote(const std::string&) {}
  virtual void OnEnd() {}
};

}  // namespace stoker::train
