#include "photo/resize.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace stoker::photo {
namespace {

constexpr double kMaxAspect = 4;

// For each output position: the first input position and the weights from there on, `taps` each.
struct Filter {
  int taps = 0;
  std::vector<int> first;
  std::vector<float> weights;
};

Filter MakeFilter(double start, double length, int limit, int outputs) {
  const double scale = length / outputs;
  const double support = std::max(1.0, scale);
  Filter filter;
  filter.taps = std::min(limit, static_cast<int>(std::ceil(support)) * 2 + 1);
  filter.first.resize(static_cast<size_t>(outputs));
  filter.weights.resize(static_cast<size_t>(outputs) * filter.taps);
  for (int i = 0; i < outputs; ++i) {
    const double center = start + (i + 0.5) * scale;
    const int first = std::clamp(static_cast<int>(std::floor(center - support + 0.5)), 0,
                                 std::max(0, limit - filter.taps));
    float* weights = filter.weights.data() + static_cast<size_t>(i) * filter.taps;
    float sum = 0;
    for (int t = 0; t < filter.taps; ++t) {
      const double distance = std::abs(first + t + 0.5 - center) / support;
      weights[t] = static_cast<float>(std::max(0.0, 1.0 - distance));
      sum += weights[t];
    }
    if (sum <= 0) weights[0] = sum = 1;
    for (int t = 0; t < filter.taps; ++t) weights[t] /= sum;
    filter.first[static_cast<size_t>(i)] = first;
  }
  return filter;
}

void FilterRow(const uint8_t* row, const Filter& filter, int width, bool mirror, float* out) {
  for (int x = 0; x < width; ++x) {
    const uint8_t* p = row + static_cast<size_t>(filter.first[static_cast<size_t>(x)]) * 3;
    const float* weights = filter.weights.data() + static_cast<size_t>(x) * filter.taps;
    float r = 0;
    float g = 0;
    float b = 0;
    for (int t = 0; t < filter.taps; ++t, p += 3) {
      r += weights[t] * p[0];
      g += weights[t] * p[1];
      b += weights[t] * p[2];
    }
    float* to = out + static_cast<size_t>(mirror ? width - 1 - x : x) * 3;
    to[0] = r;
    to[1] = g;
    to[2] = b;
  }
}

}  // namespace

void ResizeInto(const Image& in, const Box& box, int width, int height, bool mirror, uint8_t* out) {
  const Filter across = MakeFilter(box.x, box.width, in.width, width);
  const Filter down = MakeFilter(box.y, box.height, in.height, height);
  const int first_row = down.first.front();
  const int last_row = down.first.back() + down.taps;
  const size_t stride = static_cast<size_t>(width) * 3;
  std::vector<float> rows(stride * static_cast<size_t>(last_row - first_row));
  for (int y = first_row; y < last_row; ++y) {
    FilterRow(in.at(0, y), across, width, mirror, rows.data() + stride * (y - first_row));
  }
  std::vector<float> sum(stride);
  for (int y = 0; y < height; ++y) {
    std::fill(sum.begin(), sum.end(), 0.5f);  // rounds to nearest
    for (int t = 0; t < down.taps; ++t) {
      const float weight = down.weights[static_cast<size_t>(y) * down.taps + t];
      const float* row =
          rows.data() + stride * (down.first[static_cast<size_t>(y)] + t - first_row);
      for (size_t i = 0; i < stride; ++i) sum[i] += weight * row[i];
    }
    uint8_t* to = out + stride * y;
    for (size_t i = 0; i < stride; ++i) to[i] = static_cast<uint8_t>(std::min(sum[i], 255.0f));
  }
}

Image Resize(const Image& in, int width, int height) {
  Image out(width, height);
  ResizeInto(in, {0, 0, static_cast<double>(in.width), static_cast<double>(in.height)}, width,
             height, false, out.rgb.data());
  return out;
}

Image FitShorterSide(const Image& in, int side) {
  const double shorter = std::min(in.width, in.height);
  Box box{0, 0, std::min<double>(in.width, shorter * kMaxAspect),
          std::min<double>(in.height, shorter * kMaxAspect)};
  box.x = (in.width - box.width) / 2;
  box.y = (in.height - box.height) / 2;
  const double scale = side / shorter;
  Image out(std::max(side, static_cast<int>(std::lround(box.width * scale))),
            std::max(side, static_cast<int>(std::lround(box.height * scale))));
  if (out.width == in.width && out.height == in.height) return in;
  ResizeInto(in, box, out.width, out.height, false, out.rgb.data());
  return out;
}

}  // namespace stoker::photo
