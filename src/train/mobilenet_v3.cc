#include "train/mobilenet_v3.h"

#include <ATen/ATen.h>
#include <torch/nn/init.h>

#include <algorithm>
#include <array>
#include <string>

namespace stoker::train {
namespace {

constexpr double kNormEps = 1e-3;
// torchvision has 0.01, for long runs. Runs here may have 20 steps an epoch: the running sums must
// keep up with the weights, or the first ten epochs are judged by sums that still say "new".
constexpr double kNormMomentum = 0.1;
constexpr double kDropout = 0.2;
constexpr int64_t kStemChannels = 16;
constexpr int64_t kHeadChannels = 576;
constexpr int64_t kHiddenFeatures = 1024;

constexpr auto kRelu = Activation::kRelu;
constexpr auto kHard = Activation::kHardswish;
// Table 2 of the paper; in, kernel, expanded, out, squeeze, activation, stride.
constexpr std::array<BlockShape, 11> kBlocks = {{{16, 3, 16, 16, true, kRelu, 2},
                                                 {16, 3, 72, 24, false, kRelu, 2},
                                                 {24, 3, 88, 24, false, kRelu, 1},
                                                 {24, 5, 96, 40, true, kHard, 2},
                                                 {40, 5, 240, 40, true, kHard, 1},
                                                 {40, 5, 240, 40, true, kHard, 1},
                                                 {40, 5, 120, 48, true, kHard, 1},
                                                 {48, 5, 144, 48, true, kHard, 1},
                                                 {48, 5, 288, 96, true, kHard, 2},
                                                 {96, 5, 576, 96, true, kHard, 1},
                                                 {96, 5, 576, 96, true, kHard, 1}}};

// The nearest multiple of 8, but never less than 90 % of the number.
int64_t Divisible(int64_t channels) {
  int64_t rounded = std::max<int64_t>(8, (channels + 4) / 8 * 8);
  if (rounded * 10 < channels * 9) rounded += 8;
  return rounded;
}

torch::nn::Conv2d MakeConv(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t groups,
                           bool bias) {
  torch::nn::Conv2d conv(torch::nn::Conv2dOptions(in, out, kernel)
                             .stride(stride)
                             .padding((kernel - 1) / 2)
                             .groups(groups)
                             .bias(bias));
  torch::nn::init::kaiming_normal_(conv->weight, 0, torch::kFanOut);
  if (bias) torch::nn::init::zeros_(conv->bias);
  return conv;
}

torch::nn::Linear MakeLinear(int64_t in, int64_t out) {
  torch::nn::Linear linear(in, out);
  torch::nn::init::normal_(linear->weight, 0, 0.01);
  torch::nn::init::zeros_(linear->bias);
  return linear;
}

}  // namespace

ConvNormImpl::ConvNormImpl(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t groups,
                           Activation activation)
    : activation_(activation) {
  conv_ = register_module("0", MakeConv(in, out, kernel, stride, groups, false));
  norm_ = register_module(
      "1", torch::nn::BatchNorm2d(
               torch::nn::BatchNorm2dOptions(out).eps(kNormEps).momentum(kNormMomentum)));
}

at::Tensor ConvNormImpl::forward(const at::Tensor& x) {
  const at::Tensor y = norm_->forward(conv_->forward(x));
  if (activation_ == Activation::kRelu) return at::relu(y);
  return activation_ == Activation::kHardswish ? at::hardswish(y) : y;
}

SqueezeExciteImpl::SqueezeExciteImpl(int64_t channels, int64_t squeezed) {
  fc1_ = register_module("fc1", MakeConv(channels, squeezed, 1, 1, 1, true));
  fc2_ = register_module("fc2", MakeConv(squeezed, channels, 1, 1, 1, true));
}

at::Tensor SqueezeExciteImpl::forward(const at::Tensor& x) {
  const at::Tensor pooled = at::adaptive_avg_pool2d(x, {1, 1});
  const at::Tensor gate = fc2_->forward(at::relu(fc1_->forward(pooled)));
  return x * at::hardsigmoid(gate);
}

InvertedResidualImpl::InvertedResidualImpl(const BlockShape& shape)
    : residual_(shape.stride == 1 && shape.in == shape.out) {
  torch::nn::ModuleList block;
  if (shape.expanded != shape.in) {
    expand_ = ConvNorm(shape.in, shape.expanded, 1, 1, 1, shape.activation);
    block->push_back(expand_);
  }
  depthwise_ = ConvNorm(shape.expanded, shape.expanded, shape.kernel, shape.stride, shape.expanded,
                        shape.activation);
  block->push_back(depthwise_);
  if (shape.squeeze) {
    squeeze_ = SqueezeExcite(shape.expanded, Divisible(shape.expanded / 4));
    block->push_back(squeeze_);
  }
  project_ = ConvNorm(shape.expanded, shape.out, 1, 1, 1, Activation::kNone);
  block->push_back(project_);
  register_module("block", block);
}

at::Tensor InvertedResidualImpl::forward(const at::Tensor& x) {
  at::Tensor y = expand_ ? expand_->forward(x) : x;
  y = depthwise_->forward(y);
  if (squeeze_) y = squeeze_->forward(y);
  y = project_->forward(y);
  return residual_ ? x + y : y;
}

MobileNetV3SmallImpl::MobileNetV3SmallImpl(int64_t classes) {
  torch::nn::ModuleList features;
  stem_ = ConvNorm(3, kStemChannels, 3, 2, 1, kHard);
  features->push_back(stem_);
  for (const BlockShape& shape : kBlocks) {
    blocks_.emplace_back(shape);
    features->push_back(blocks_.back());
  }
  head_ = ConvNorm(kBlocks.back().out, kHeadChannels, 1, 1, 1, kHard);
  features->push_back(head_);
  register_module("features", features);

  // Numbers 1 (hardswish) and 2 (dropout) hold no weights but count in the names.
  torch::nn::ModuleList classifier;
  hidden_ = MakeLinear(kHeadChannels, kHiddenFeatures);
  out_ = MakeLinear(kHiddenFeatures, classes);
  dropout_ = torch::nn::Dropout(kDropout);
  classifier->push_back(hidden_);
  classifier->push_back(torch::nn::Dropout(0.0));
  classifier->push_back(dropout_);
  classifier->push_back(out_);
  register_module("classifier", classifier);
}

at::Tensor MobileNetV3SmallImpl::forward(const at::Tensor& x) {
  at::Tensor y = stem_->forward(x);
  for (InvertedResidual& block : blocks_) y = block->forward(y);
  y = at::adaptive_avg_pool2d(head_->forward(y), {1, 1}).flatten(1);
  return out_->forward(dropout_->forward(at::hardswish(hidden_->forward(y))));
}

int64_t CountParameters(const torch::nn::Module& module) {
  int64_t count = 0;
  for (const at::Tensor& parameter : module.parameters()) count += parameter.numel();
  return count;
}

}  // namespace stoker::train
