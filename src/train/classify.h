// Trains a classifier on folders of labelled photos: MobileNetV3-Small from scratch. Knows LibTorch
// only in its .cc.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "runlog/writer.h"
#include "train/hook.h"

namespace stoker::train {

struct ClassifyOptions {
  std::string data;  // class folders, see photo/folder.h
  std::string out;
  int epochs = 30;
  int size = 128;  // pixels square
  int batch = 32;
  double rate = 0.05;  // at the peak of the schedule
  double weight_decay = 1e-4;
  double label_smoothing = 0.1;
  uint64_t seed = 1;
  int threads = 1;                       // that compute
  int loader_threads = 1;                // that decode and augment
  size_t cache_bytes = size_t{1} << 30;  // for decoded photos, training and validation together
  bool ema = false;
  bool resume = false;          // from what `out` holds; begins where that is nothing
  bool overwrite = false;       // of a run that `out` holds
  std::string device = "auto";  // "cpu", "cuda", "cuda:1"; auto takes a GPU where LibTorch has one
};

struct ClassifyServices {
  const Clock& clock;
  const std::atomic<int>& signal;               // non-zero: save and end
  std::function<void(std::string_view)> write;  // to whoever watches; text with its own newlines
  bool terminal = false;                        // a bar may move
  runlog::Writer* run_log = nullptr;            // may be null
  Hook* extra = nullptr;                        // may be null
};

struct ClassifyReport {
  int epochs = 0;
  int classes = 0;
  int64_t parameters = 0;
  int64_t skipped = 0;  // photos that do not decode
  int best_epoch = 0;
  double best_accuracy = 0;             // on val
  std::optional<double> test_accuracy;  // of the best weights, where there is a test split
  bool stopped = false;
  double photos_per_s = 0;
  Seconds wall{0};
  std::string best_path;
};

// runs/classify-NAME under `cwd`, with -2, -3, ... added where that holds a run already; with
// `resume` the last one that does.
std::string DefaultOut(const std::string& cwd, const std::string& data, bool resume);

// kNotFound where the data folder is absent; kInvalid where it holds nothing to learn from, where
// `out` holds a run and neither resume nor overwrite is set, or where an option is out of range;
// kUnavailable where another process trains into `out`.
Result<ClassifyReport> Classify(const ClassifyOptions& options, const ClassifyServices& services);

}  // namespace stoker::train
