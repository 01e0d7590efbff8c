// The usual views of a photo for training a classifier (random resized crop, mirror, light) and for
// judging it (centre crop). Every choice comes from the Random that is passed in.
#pragma once

#include "photo/image.h"
#include "photo/random.h"
#include "photo/resize.h"

namespace stoker::photo {

struct AugmentOptions {
  double min_area = 0.35;       // part of the photo that a crop shows at least
  double min_aspect = 3.0 / 4;  // of the crop; the most is its reciprocal
  double mirror = 0.5;          // probability
  double light = 0.25;          // brightness, contrast and saturation vary by up to this part
};

// Photos are held with this many pixels on the shorter side for views of `size`: a margin that
// crops can use, small enough to keep in memory.
int HeldSide(int size);

Box RandomCrop(int width, int height, const AugmentOptions& options, Random& random);
// Brightness, contrast and saturation in one pass over `pixels` RGB triples.
void VaryLight(uint8_t* rgb, size_t pixels, double amount, Random& random);

// Both write size x size x 3 bytes.
void TrainView(const Image& photo, int size, const AugmentOptions& options, Random& random,
               uint8_t* out);
void JudgeView(const Image& photo, int size, uint8_t* out);

}  // namespace stoker::photo
