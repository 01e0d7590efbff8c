// Makes a photo-like picture of a drawing: on a table, at an angle, in some light.
#pragma once

#include "photo/icons.h"
#include "photo/image.h"
#include "photo/random.h"

namespace stoker::photo {

// A side x side scene with `icon` on a random table; all choices from `random`.
Image DrawScene(const IconImage& icon, int side, Random& random);

}  // namespace stoker::photo
