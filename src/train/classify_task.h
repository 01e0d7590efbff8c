// Learning and judging one label a picture.
#pragma once

#include <ATen/ATen.h>

#include <map>
#include <string>

#include "train/loop.h"
#include "train/meter.h"
#include "train/mobilenet_v3.h"

namespace stoker::train {

class ClassifyTask final : public Task {
 public:
  // Moves the model to the device, channels last.
  ClassifyTask(MobileNetV3Small model, at::Device device, double label_smoothing);

  torch::nn::Module& module() override { return *model_; }
  at::Tensor Loss(const Batch& batch) override;
  void Judge(const Batch& batch) override;
  std::map<std::string, double> TakeMetrics(const std::string& split) override;

 private:
  MobileNetV3Small model_;
  const double label_smoothing_;
  Mean loss_;
  Mean right_;
};

}  // namespace stoker::train
