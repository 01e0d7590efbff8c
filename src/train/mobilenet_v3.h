// MobileNetV3-Small (Howard et al., arXiv 1905.02244) with the structure and the parameter names of
// torchvision's mobilenet_v3_small, so that weights go both ways.
#pragma once

#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <vector>

namespace stoker::train {

enum class Activation { kNone, kRelu, kHardswish };

// Convolution without bias, batch norm (eps 1e-3), activation.
class ConvNormImpl : public torch::nn::Module {
 public:
  ConvNormImpl(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t groups,
               Activation activation);
  at::Tensor forward(const at::Tensor& x);

 private:
  torch::nn::Conv2d conv_ = nullptr;
  torch::nn::BatchNorm2d norm_ = nullptr;
  Activation activation_;
};
TORCH_MODULE(ConvNorm);

class SqueezeExciteImpl : public torch::nn::Module {
 public:
  SqueezeExciteImpl(int64_t channels, int64_t squeezed);
  at::Tensor forward(const at::Tensor& x);

 private:
  torch::nn::Conv2d fc1_ = nullptr;
  torch::nn::Conv2d fc2_ = nullptr;
};
TORCH_MODULE(SqueezeExcite);

struct BlockShape {
  int64_t in = 0;
  int64_t kernel = 3;
  int64_t expanded = 0;
  int64_t out = 0;
  bool squeeze = false;
  Activation activation = Activation::kRelu;
  int64_t stride = 1;
};

class InvertedResidualImpl : public torch::nn::Module {
 public:
  explicit InvertedResidualImpl(const BlockShape& shape);
  at::Tensor forward(const at::Tensor& x);

 private:
  ConvNorm expand_ = nullptr;  // null where there is nothing to expand
  ConvNorm depthwise_ = nullptr;
  SqueezeExcite squeeze_ = nullptr;  // may be null
  ConvNorm project_ = nullptr;
  bool residual_ = false;
};
TORCH_MODULE(InvertedResidual);

// Input N x 3 x H x W, output N x classes. 1,530,156 parameters at 12 classes.
class MobileNetV3SmallImpl : public torch::nn::Module {
 public:
  explicit MobileNetV3SmallImpl(int64_t classes);
  at::Tensor forward(const at::Tensor& x);

 private:
  ConvNorm stem_ = nullptr;
  std::vector<InvertedResidual> blocks_;
  ConvNorm head_ = nullptr;
  torch::nn::Linear hidden_ = nullptr;
  torch::nn::Linear out_ = nullptr;
  torch::nn::Dropout dropout_ = nullptr;
};
TORCH_MODULE(MobileNetV3Small);

int64_t CountParameters(const torch::nn::Module& module);

}  // namespace stoker::train
