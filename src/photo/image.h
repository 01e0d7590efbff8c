// A picture in memory: 8-bit RGB, rows top to bottom without padding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stoker::photo {

struct Image {
  int width = 0;
  int height = 0;
  std::vector<uint8_t> rgb;  // height x width x 3

  Image() = default;
  Image(int w, int h) : width(w), height(h), rgb(static_cast<size_t>(w) * h * 3) {}
  bool empty() const { return rgb.empty(); }
  size_t bytes() const { return rgb.size(); }
  uint8_t* at(int x, int y) { return rgb.data() + (static_cast<size_t>(y) * width + x) * 3; }
  const uint8_t* at(int x, int y) const {
    return rgb.data() + (static_cast<size_t>(y) * width + x) * 3;
  }
};

}  // namespace stoker::photo
