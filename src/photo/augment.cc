#include "photo/augment.h"

#include <algorithm>
#include <cmath>

namespace stoker::photo {

int HeldSide(int size) { return static_cast<int>(std::lround(size * 1.15)); }

Box RandomCrop(int width, int height, const AugmentOptions& options, Random& random) {
  const double area = static_cast<double>(width) * height;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double part = area * random.Uniform(options.min_area, 1.0);
    const double low = std::log(options.min_aspect);
    const double aspect = std::exp(random.Uniform(low, -low));
    const double w = std::round(std::sqrt(part * aspect));
    const double h = std::round(std::sqrt(part / aspect));
    if (w < 1 || h < 1 || w > width || h > height) continue;
    return {std::floor(random.Uniform(0, width - w + 1)),
            std::floor(random.Uniform(0, height - h + 1)), w, h};
  }
  const double side = std::min(width, height);
  return {std::floor((width - side) / 2), std::floor((height - side) / 2), side, side};
}

void VaryLight(uint8_t* rgb, size_t pixels, double amount, Random& random) {
  const auto bright = static_cast<float>(random.Uniform(1 - amount, 1 + amount));
  const auto contrast = static_cast<float>(random.Uniform(1 - amount, 1 + amount));
  const auto colour = static_cast<float>(random.Uniform(1 - amount, 1 + amount));
  if (amount <= 0 || pixels == 0) return;
  uint64_t sum = 0;
  for (size_t i = 0; i < pixels * 3; ++i) sum += rgb[i];
  const float mean = static_cast<float>(sum) / (static_cast<float>(pixels) * 3);
  const float offset = mean * (1 - contrast) * bright + 0.5f;
  const float gain = contrast * bright;
  for (size_t i = 0; i < pixels; ++i, rgb += 3) {
    const float grey = 0.299f * rgb[0] + 0.587f * rgb[1] + 0.114f * rgb[2];
    for (int c = 0; c < 3; ++c) {
      const float value = (grey + (rgb[c] - grey) * colour) * gain + offset;
      rgb[c] = static_cast<uint8_t>(std::clamp(value, 0.0f, 255.0f));
    }
  }
}

void TrainView(const Image& photo, int size, const AugmentOptions& options, Random& random,
               uint8_t* out) {
  const Box box = RandomCrop(photo.width, photo.height, options, random);
  const bool mirror = random.Chance(options.mirror);
  ResizeInto(photo, box, size, size, mirror, out);
  VaryLight(out, static_cast<size_t>(size) * size, options.light, random);
}

void JudgeView(const Image& photo, int size, uint8_t* out) {
  const double side = std::min({photo.width, photo.height, size});
  const Box box{std::floor((photo.width - side) / 2), std::floor((photo.height - side) / 2), side,
                side};
  ResizeInto(photo, box, size, size, false, out);
}

}  // namespace stoker::photo
