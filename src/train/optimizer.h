// Stochastic gradient descent with Nesterov momentum and weight decay, and a moving average of
// weights. Both work on whole lists of tensors at a time and expose their state by name.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>
#include <vector>

#include "train/tensors.h"

namespace stoker::train {

struct SgdOptions {
  double momentum = 0.9;
  double weight_decay = 1e-4;  // not on norms and biases: on tensors of two or more dimensions only
};

// v = momentum * v + g;  w = w - rate * (g + momentum * v), with g = gradient + decay * w.
class Sgd {
 public:
  // `parameters` are leaf tensors that want gradients; they live as long as this object.
  Sgd(const NamedTensors& parameters, SgdOptions options);
  void Step(double rate);
  void ZeroGrad();
  NamedTensors state() const { return velocity_; }  // by the parameters' names

 private:
  const SgdOptions options_;
  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> decayed_;  // those parameters that decay ...
  std::vector<size_t> decayed_at_;   // ... and where their gradients are
  std::vector<at::Tensor> velocity_list_;
  NamedTensors velocity_;
};

// An exponential moving average of weights and of the norms' running sums. The first steps weigh
// more: the decay is min(decay, (1 + n) / (10 + n)).
class Ema {
 public:
  Ema(const NamedTensors& tensors, double decay);
  void Update();
  NamedTensors state() const { return average_; }
  int64_t updates() const { return updates_; }
  void set_updates(int64_t updates) { updates_ = updates; }

  // Puts the average into the model for as long as it lives, then the weights back.
  class Borrow {
   public:
    explicit Borrow(Ema* ema);  // null: does nothing
    Borrow(const Borrow&) = delete;
    Borrow& operator=(const Borrow&) = delete;
    ~Borrow();

   private:
    Ema* ema_;
    std::vector<at::Tensor> weights_;
  };

 private:
  const double decay_;
  NamedTensors tensors_;
  NamedTensors average_;
  int64_t updates_ = 0;
};

}  // namespace stoker::train
