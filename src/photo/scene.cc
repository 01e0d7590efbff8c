#include "photo/scene.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

namespace stoker::photo {
namespace {

struct Colour {
  float r = 0;
  float g = 0;
  float b = 0;
};

Colour RandomColour(Random& random, double low, double high) {
  return {static_cast<float>(random.Uniform(low, high)),
          static_cast<float>(random.Uniform(low, high)),
          static_cast<float>(random.Uniform(low, high))};
}

void Put(Image& image, int x, int y, const Colour& colour, float alpha) {
  uint8_t* p = image.at(x, y);
  const std::array<float, 3> rgb = {colour.r, colour.g, colour.b};
  for (size_t c = 0; c < 3; ++c) {
    const float value = rgb[c] * alpha + static_cast<float>(p[c]) * (1 - alpha) + 0.5f;
    p[c] = static_cast<uint8_t>(std::clamp(value, 0.0f, 255.0f));
  }
}

// Smooth noise in -1 ... 1: random values on a coarse grid, blended in between.
class Noise {
 public:
  Noise(int cells, Random& random) : cells_(cells), values_((cells + 2) * (cells + 2)) {
    for (float& value : values_) value = static_cast<float>(random.Uniform(-1, 1));
  }
  // u and v run from 0 to 1.
  float At(float u, float v) const {
    const float x = u * static_cast<float>(cells_);
    const float y = v * static_cast<float>(cells_);
    const int xi = static_cast<int>(x);
    const int yi = static_cast<int>(y);
    const float fx = x - static_cast<float>(xi);
    const float fy = y - static_cast<float>(yi);
    const float* row = values_.data() + yi * (cells_ + 2) + xi;
    const float* next = row + cells_ + 2;
    return (row[0] * (1 - fx) + row[1] * fx) * (1 - fy) + (next[0] * (1 - fx) + next[1] * fx) * fy;
  }

 private:
  int cells_;
  std::vector<float> values_;
};

enum class Pattern { kPlain, kStripes, kChecks, kSpots };

float PatternAt(Pattern pattern, float x, float y, float period) {
  switch (pattern) {
    case Pattern::kStripes:
      return std::sin(x / period * 2 * std::numbers::pi_v<float>);
    case Pattern::kChecks:
      return (static_cast<int>(std::floor(x / period)) + static_cast<int>(std::floor(y / period))) &
                     1
                 ? 1.0f
                 : -1.0f;
    case Pattern::kSpots: {
      const float dx = x / period - std::round(x / period);
      const float dy = y / period - std::round(y / period);
      return dx * dx + dy * dy < 0.07f ? 1.0f : -1.0f;
    }
    case Pattern::kPlain:
      break;
  }
  return 0;
}

Image DrawTable(int side, Random& random) {
  const auto grey = static_cast<float>(random.Uniform(50, 215));
  const Colour hue = RandomColour(random, -45, 45);
  const Colour base = {grey + hue.r, grey + hue.g, grey + hue.b};
  const Colour tint = RandomColour(random, -35, 35);
  const Noise coarse(static_cast<int>(2 + random.Below(4)), random);
  const Noise fine(static_cast<int>(16 + random.Below(40)), random);
  const auto rough = static_cast<float>(random.Uniform(4, 40));
  const auto grain = static_cast<float>(random.Uniform(2, 22));
  const auto pattern = static_cast<Pattern>(random.Below(4));
  const auto period = static_cast<float>(random.Uniform(0.05, 0.3) * side);
  const auto angle = static_cast<float>(random.Uniform(0, std::numbers::pi));
  const float cosine = std::cos(angle);
  const float sine = std::sin(angle);
  Image image(side, side);
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      const float u = static_cast<float>(x) / static_cast<float>(side);
      const float v = static_cast<float>(y) / static_cast<float>(side);
      const float along = cosine * static_cast<float>(x) + sine * static_cast<float>(y);
      const float across = cosine * static_cast<float>(y) - sine * static_cast<float>(x);
      const float figure = PatternAt(pattern, along, across, period);
      const float light = coarse.At(u, v) * rough + fine.At(u, v) * grain;
      Put(image, x, y,
          {base.r + tint.r * figure + light, base.g + tint.g * figure + light,
           base.b + tint.b * figure + light},
          1);
    }
  }
  return image;
}

// A soft-edged ellipse: plates, shadows, crumbs.
void DrawEllipse(Image& image, float cx, float cy, float rx, float ry, const Colour& colour,
                 float alpha, float softness) {
  const int top = std::max(0, static_cast<int>(cy - ry * 1.5f));
  const int bottom = std::min(image.height - 1, static_cast<int>(cy + ry * 1.5f));
  const int left = std::max(0, static_cast<int>(cx - rx * 1.5f));
  const int right = std::min(image.width - 1, static_cast<int>(cx + rx * 1.5f));
  for (int y = top; y <= bottom; ++y) {
    for (int x = left; x <= right; ++x) {
      const float distance =
          std::hypot((static_cast<float>(x) - cx) / rx, (static_cast<float>(y) - cy) / ry);
      const float cover = std::clamp((1 - distance) / softness + 0.5f, 0.0f, 1.0f);
      if (cover > 0) Put(image, x, y, colour, alpha * cover);
    }
  }
}

struct Pose {
  float cx = 0;
  float cy = 0;
  float size = 0;  // pixels of the icon's larger side
  float angle = 0;
  float stretch = 1;
  bool mirrored = false;
};

Pose RandomPose(int side, Random& random) {
  Pose pose;
  pose.size = static_cast<float>(random.Uniform(0.45, 0.9) * side);
  const double room = side - pose.size;
  pose.cx = static_cast<float>(side / 2.0 + random.Uniform(-0.5, 0.5) * room);
  pose.cy = static_cast<float>(side / 2.0 + random.Uniform(-0.5, 0.5) * room);
  pose.angle = static_cast<float>(random.Uniform(-0.6, 0.6));
  pose.stretch = static_cast<float>(std::exp(random.Uniform(-0.15, 0.15)));
  pose.mirrored = random.Chance(0.5);
  return pose;
}

// Average of the icon around (x, y): the drawing is shrunk, so one sample would alias.
std::array<float, 4> Sample(const IconImage& icon, float x, float y, float radius) {
  std::array<float, 4> sum = {};
  const int taps = radius > 0.75f ? 2 : 1;
  for (int j = 0; j < taps; ++j) {
    for (int i = 0; i < taps; ++i) {
      const float spread = taps == 1 ? 0 : radius / 2;
      const int xi = static_cast<int>(std::lround(x + (2 * i - taps + 1) * spread));
      const int yi = static_cast<int>(std::lround(y + (2 * j - taps + 1) * spread));
      if (xi < 0 || yi < 0 || xi >= icon.width || yi >= icon.height) continue;
      const uint8_t* p = icon.at(xi, yi);
      const float alpha = static_cast<float>(p[3]) / 255;
      for (size_t c = 0; c < 3; ++c) sum[c] += p[c] * alpha;
      sum[3] += alpha;
    }
  }
  if (sum[3] > 0) {
    for (size_t c = 0; c < 3; ++c) sum[c] /= sum[3];
  }
  sum[3] /= static_cast<float>(taps * taps);
  return sum;
}

void PasteIcon(Image& image, const IconImage& icon, const Pose& pose, Random& random) {
  const float scale = static_cast<float>(std::max(icon.width, icon.height)) / pose.size;
  const float cosine = std::cos(pose.angle) * scale;
  const float sine = std::sin(pose.angle) * scale;
  const Colour gain = RandomColour(random, 0.8, 1.2);
  const auto shift = static_cast<float>(random.Uniform(-25, 25));
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      const float dx = (static_cast<float>(x) - pose.cx) * (pose.mirrored ? -1.0f : 1.0f);
      const float dy = (static_cast<float>(y) - pose.cy) * pose.stretch;
      const float u = cosine * dx + sine * dy + static_cast<float>(icon.width) / 2;
      const float v = cosine * dy - sine * dx + static_cast<float>(icon.height) / 2;
      if (u < -1 || v < -1 || u > static_cast<float>(icon.width) ||
          v > static_cast<float>(icon.height)) {
        continue;
      }
      const auto p = Sample(icon, u, v, scale / 2);
      if (p[3] <= 0) continue;
      Put(image, x, y, {p[0] * gain.r + shift, p[1] * gain.g + shift, p[2] * gain.b + shift}, p[3]);
    }
  }
}

void Light(Image& image, Random& random) {
  const auto angle = static_cast<float>(random.Uniform(0, 2 * std::numbers::pi));
  const auto slope = static_cast<float>(random.Uniform(0, 0.35));
  const auto noise = static_cast<float>(random.Uniform(0, 9));
  const Colour cast = RandomColour(random, 0.88, 1.12);
  const float half = static_cast<float>(image.width) / 2;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      const float along = (std::cos(angle) * (static_cast<float>(x) - half) +
                           std::sin(angle) * (static_cast<float>(y) - half)) /
                          half;
      const float gain = 1 + slope * along;
      const auto grain = static_cast<float>(random.Uniform(-noise, noise));
      const uint8_t* p = image.at(x, y);
      Put(image, x, y,
          {static_cast<float>(p[0]) * gain * cast.r + grain,
           static_cast<float>(p[1]) * gain * cast.g + grain,
           static_cast<float>(p[2]) * gain * cast.b + grain},
          1);
    }
  }
}

}  // namespace

Image DrawScene(const IconImage& icon, int side, Random& random) {
  Image image = DrawTable(side, random);
  const Pose pose = RandomPose(side, random);
  const float reach = pose.size * 0.55f;
  if (random.Chance(0.5)) {  // a plate
    const Colour china = RandomColour(random, 170, 250);
    DrawEllipse(image, pose.cx, pose.cy, reach * 1.2f, reach * 1.1f, china, 0.95f, 0.03f);
    DrawEllipse(image, pose.cx, pose.cy, reach * 0.95f, reach * 0.85f,
                {china.r - 12, china.g - 12, china.b - 12}, 0.8f, 0.05f);
  }
  for (int64_t crumbs = random.Below(6); crumbs > 0; --crumbs) {
    const auto radius = static_cast<float>(random.Uniform(0.01, 0.06) * side);
    DrawEllipse(image, static_cast<float>(random.Uniform(0, side)),
                static_cast<float>(random.Uniform(0, side)), radius, radius,
                RandomColour(random, 20, 235), 0.9f, 0.3f);
  }
  DrawEllipse(image, pose.cx + pose.size * 0.04f, pose.cy + pose.size * 0.3f, reach * 0.9f,
              reach * 0.4f, {20, 20, 20}, 0.35f, 0.8f);
  PasteIcon(image, icon, pose, random);
  Light(image, random);
  return image;
}

}  // namespace stoker::photo
