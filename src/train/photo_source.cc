#include "train/photo_source.h"

namespace stoker::train {

PhotoSource::PhotoSource(photo::Loader& loader, int size, at::Device device)
    : loader_(loader), size_(size), device_(device) {
  scale_ = at::empty({1, 3, 1, 1});
  shift_ = at::empty({1, 3, 1, 1});
  for (int64_t c = 0; c < 3; ++c) {
    scale_.data_ptr<float>()[c] = static_cast<float>(1 / (255 * kPhotoDeviation[c]));
    shift_.data_ptr<float>()[c] = static_cast<float>(-kPhotoMean[c] / kPhotoDeviation[c]);
  }
  scale_ = scale_.to(device_);
  shift_ = shift_.to(device_);
}

void PhotoSource::Start(int64_t epoch, int64_t first_batch) {
  loader_.Start(epoch, static_cast<int>(first_batch));
}

std::optional<Batch> PhotoSource::Next() {
  auto photos = loader_.Next();
  if (!photos) return std::nullopt;
  const auto n = static_cast<int64_t>(photos->labels.size());
  Batch batch{.photos = n};
  const at::Tensor bytes =
      at::from_blob(photos->pixels.data(), {n, size_, size_, 3}, at::TensorOptions(at::kByte));
  const at::Tensor labels = at::from_blob(photos->labels.data(), {n}, at::TensorOptions(at::kLong));
  // Rows of RGB are channels-last already: the permuted view keeps them so.
  batch.inputs = bytes.to(device_).permute({0, 3, 1, 2}).to(at::kFloat).mul_(scale_).add_(shift_);
  batch.targets = device_.is_cpu() ? labels.clone() : labels.to(device_);
  return batch;
}

}  // namespace stoker::train
