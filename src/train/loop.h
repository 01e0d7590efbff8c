// The one training loop. A trainer is a Task (what is learnt and how it is judged) and two batch
// sources; the loop owns optimiser, schedule, average, checkpoints and the order of things. A run
// that was stopped anywhere goes on from the same step: on one CPU thread bit for bit.
//
// Files in `out` (docs/formats/weights.md): last.safetensors and best.safetensors hold the weights
// that were judged; last.optimizer.safetensors alone is enough to go on, so a kill between any two
// writes loses nothing.
#pragma once

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "train/hook.h"
#include "train/meter.h"
#include "train/optimizer.h"
#include "train/schedule.h"

namespace stoker::train {

// On the device of the model.
struct Batch {
  at::Tensor inputs;
  at::Tensor targets;
  int64_t photos = 0;  // may be 0: photos that do not decode are left out
};

class BatchSource {
 public:
  virtual ~BatchSource() = default;
  virtual int64_t batches() const = 0;  // an epoch
  virtual int64_t photos() const = 0;   // an epoch
  virtual void Start(int64_t epoch, int64_t first_batch) = 0;
  virtual std::optional<Batch> Next() = 0;  // nullopt at the end of the epoch
};

class Task {
 public:
  virtual ~Task() = default;
  virtual torch::nn::Module& module() = 0;
  // Mean loss of a training batch, with gradients.
  virtual at::Tensor Loss(const Batch& batch) = 0;
  // Adds a batch to what TakeMetrics will say, without gradients.
  virtual void Judge(const Batch& batch) = 0;
  // "val/accuracy" and the like since the last call, under names that begin with `split`.
  virtual std::map<std::string, double> TakeMetrics(const std::string& split) = 0;
};

struct LoopOptions {
  std::string out;
  int epochs = 30;
  Schedule schedule;  // `steps` and `warmup_steps` are filled in from the epochs
  double warmup_epochs = 2;
  SgdOptions sgd;
  std::optional<double> ema_decay;
  uint64_t seed = 0;
  std::string judge = "val/accuracy";
  bool higher_is_better = true;
  bool bf16 = false;
  int loss_every = 1;  // steps between readings of the loss: reading waits for a GPU
  // What the files say about the model: classes, size, ... A resumed run must agree with them.
  std::map<std::string, std::string> about;
};

struct LoopReport {
  int epochs = 0;  // finished, resumed ones included
  int best_epoch = 0;
  double best = 0;
  std::map<std::string, double> metrics;  // of the last epoch
  bool stopped = false;                   // by the signal
  double photos_per_s = 0;                // of training, validation aside
  Seconds wall{0};
};

class Loop {
 public:
  // All parts outlive the loop. `signal` becomes non-zero when the run shall save and end.
  Loop(Task& task, BatchSource& train, BatchSource& val, LoopOptions options, const Clock& clock,
       const std::atomic<int>& signal, std::vector<Hook*> hooks);
  ~Loop();

  // Continues from last.optimizer.safetensors in `out`. kNotFound where there is none, kInvalid
  // where it belongs to another run.
  Status Resume();
  Result<LoopReport> Run();
  // Puts the weights of best.safetensors into the model.
  Status LoadBest();

  std::string last_path() const;
  std::string best_path() const;
  std::string state_path() const;

 private:
  struct Progress;
  enum class Outcome { kDone, kStopped };

  Outcome TrainEpoch();
  void TrainStep(const Batch& batch, Seconds waited, MonoTime began);
  std::map<std::string, double> Validate();
  void FinishEpoch();
  // A failed write is a note, tried again after the next epoch; the last one is an error.
  Status Save(bool best);
  Status SaveState();
  void Phase(std::string_view phase, bool begins);
  double EpochNow() const;  // finished epochs, with the part of the one in progress
  bool Better(double value) const;

  Task& task_;
  BatchSource& train_;
  BatchSource& val_;
  LoopOptions options_;
  const Clock& clock_;
  const std::atomic<int>& signal_;
  std::vector<Hook*> hooks_;
  NamedTensors weights_;  // parameters and buffers of the model
  std::unique_ptr<Sgd> sgd_;
  std::unique_ptr<Ema> ema_;
  std::unique_ptr<Progress> progress_;
  at::Tensor loss_sum_;  // of the epoch, times photos
  Rate rate_;
  Rate epoch_rate_;
  Seconds epoch_waited_{0};
  double seen_loss_ = 0;
  Status saved_;  // of the last epoch
  std::map<std::string, double> metrics_;
};

}  // namespace stoker::train
