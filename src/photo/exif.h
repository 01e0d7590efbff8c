// The one fact that pixels need from EXIF: how the camera was held.
#pragma once

#include <string_view>

#include "photo/image.h"

namespace stoker::photo {

// The orientation tag (1 to 8) of an APP1 payload that begins with "Exif\0\0"; 1 where the payload
// is something else, damaged, or says a value that does not exist. Reads at most one directory.
int ExifOrientation(std::string_view app1);

// True where an APP1 payload says that it is EXIF but ends before its first directory does.
bool ExifIsCutShort(std::string_view app1);

// The upright picture for an orientation of 1 to 8; 5 to 8 swap width and height.
Image Upright(Image image, int orientation);

}  // namespace stoker::photo
