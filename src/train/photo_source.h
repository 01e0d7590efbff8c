// Photos as batches on a device: bytes from a photo::Loader, normalised there.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "photo/loader.h"
#include "train/loop.h"

namespace stoker::train {

// The mean and deviation of ImageNet's photos, as torchvision's models expect them.
inline constexpr double kPhotoMean[3] = {0.485, 0.456, 0.406};
inline constexpr double kPhotoDeviation[3] = {0.229, 0.224, 0.225};

class PhotoSource final : public BatchSource {
 public:
  PhotoSource(photo::Loader& loader, int size, at::Device device);

  int64_t batches() const override { return loader_.batches(); }
  int64_t photos() const override { return static_cast<int64_t>(loader_.photo_count()); }
  void Start(int64_t epoch, int64_t first_batch) override;
  // Inputs: N x 3 x size x size floats, channels last; targets: N int64.
  std::optional<Batch> Next() override;

 private:
  photo::Loader& loader_;
  const int64_t size_;
  const at::Device device_;
  at::Tensor scale_;  // 1 x 3 x 1 x 1
  at::Tensor shift_;
};

}  // namespace stoker::train
