// Resampling with antialiasing: a triangle filter as wide as the shrink factor, so that shrinking
// averages and enlarging interpolates.
#pragma once

#include "photo/image.h"

namespace stoker::photo {

// A part of a picture in pixels; may have fractions.
struct Box {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

// Resamples `box`, which lies within `in`, to width x height; `mirror` swaps left and right. `out`
// has room for height x width x 3 bytes.
void ResizeInto(const Image& in, const Box& box, int width, int height, bool mirror, uint8_t* out);
Image Resize(const Image& in, int width, int height);

// Keeps the aspect ratio; the shorter side becomes `side`. A strip longer than 4 to 1 loses its
// ends first, so that the result is never more than 4 x side x side pixels.
Image FitShorterSide(const Image& in, int side);

}  // namespace stoker::photo
