#include "train/classify_task.h"

#include <utility>

#include "train/torch_compat.h"

namespace stoker::train {
namespace {

constexpr int64_t kIgnoredTarget = -100;  // no target has this value

at::Tensor CrossEntropy(const at::Tensor& scores, const at::Tensor& targets, double smoothing) {
  return at::cross_entropy_loss(scores.to(at::kFloat), targets, {}, at::Reduction::Mean,
                                kIgnoredTarget, smoothing);
}

}  // namespace

ClassifyTask::ClassifyTask(MobileNetV3Small model, at::Device device, double label_smoothing)
    : model_(std::move(model)), label_smoothing_(label_smoothing) {
  model_->to(device);
  for (at::Tensor& parameter : model_->parameters()) {
    if (parameter.dim() != 4) continue;
    parameter.set_data(parameter.detach().contiguous(at::MemoryFormat::ChannelsLast));
  }
}

at::Tensor ClassifyTask::Loss(const Batch& batch) {
  return CrossEntropy(model_->forward(batch.inputs), batch.targets, label_smoothing_);
}

void ClassifyTask::Judge(const Batch& batch) {
  const at::Tensor scores = model_->forward(batch.inputs);
  const auto photos = static_cast<double>(batch.photos);
  loss_.Add(Scalar(CrossEntropy(scores, batch.targets, 0)), photos);
  right_.Add(Scalar(scores.argmax(1).eq(batch.targets).sum()) / photos, photos);
}

std::map<std::string, double> ClassifyTask::TakeMetrics(const std::string& split) {
  std::map<std::string, double> metrics = {{split + "/loss", loss_.value()},
                                           {split + "/accuracy", right_.value()}};
  loss_.Reset();
  right_.Reset();
  return metrics;
}

}  // namespace stoker::train
