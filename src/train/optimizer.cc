#include "train/optimizer.h"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <optional>

namespace stoker::train {

Sgd::Sgd(const NamedTensors& parameters, SgdOptions options) : options_(options) {
  for (const auto& [name, parameter] : parameters) {
    if (parameter.dim() >= 2) {
      decayed_.push_back(parameter);
      decayed_at_.push_back(parameters_.size());
    }
    parameters_.push_back(parameter);
    velocity_list_.push_back(at::zeros_like(parameter.detach()));
    velocity_.emplace_back(name, velocity_list_.back());
  }
}

void Sgd::Step(double rate) {
  const c10::NoGradGuard no_grad;
  std::vector<at::Tensor> gradients;
  gradients.reserve(parameters_.size());
  for (const at::Tensor& parameter : parameters_) {
    const at::Tensor& gradient = parameter.grad();
    gradients.push_back(gradient.defined() ? gradient : at::zeros_like(parameter));
  }
  std::vector<at::Tensor> decayed_gradients;
  for (const size_t at : decayed_at_) decayed_gradients.push_back(gradients[at]);
  if (options_.weight_decay != 0 && !decayed_.empty()) {
    at::_foreach_add_(decayed_gradients, decayed_, options_.weight_decay);
  }
  at::_foreach_mul_(velocity_list_, options_.momentum);
  at::_foreach_add_(velocity_list_, gradients, 1.0);
  at::_foreach_add_(gradients, velocity_list_, options_.momentum);
  at::_foreach_add_(parameters_, gradients, -rate);
}

void Sgd::ZeroGrad() {
  for (at::Tensor& parameter : parameters_) parameter.mutable_grad().reset();
}

Ema::Ema(const NamedTensors& tensors, double decay) : decay_(decay), tensors_(tensors) {
  for (const auto& [name, tensor] : tensors_) average_.emplace_back(name, tensor.detach().clone());
}

void Ema::Update() {
  const c10::NoGradGuard no_grad;
  const auto n = static_cast<double>(++updates_);
  const double decay = std::min(decay_, (1 + n) / (10 + n));
  std::vector<at::Tensor> averages;
  std::vector<at::Tensor> weights;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const at::Tensor& weight = tensors_[i].second;
    if (!weight.is_floating_point()) {
      average_[i].second.copy_(weight);
      continue;
    }
    averages.push_back(average_[i].second);
    weights.push_back(weight);
  }
  at::_foreach_mul_(averages, decay);
  at::_foreach_add_(averages, weights, 1 - decay);
}

Ema::Borrow::Borrow(Ema* ema) : ema_(ema) {
  if (!ema_) return;
  const c10::NoGradGuard no_grad;
  for (size_t i = 0; i < ema_->tensors_.size(); ++i) {
    const at::Tensor& weight = ema_->tensors_[i].second;
    weights_.push_back(weight.detach().clone());
    weight.copy_(ema_->average_[i].second);
  }
}

Ema::Borrow::~Borrow() {
  if (!ema_) return;
  const c10::NoGradGuard no_grad;
  for (size_t i = 0; i < weights_.size(); ++i) ema_->tensors_[i].second.copy_(weights_[i]);
}

}  // namespace stoker::train
