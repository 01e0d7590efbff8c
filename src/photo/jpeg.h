// JPEG bytes to pixels and back, through libjpeg-turbo. All functions are thread-safe and take
// bytes from anywhere: damage is an Error that names `where`, never a half picture.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "photo/image.h"

namespace stoker::photo {

struct JpegInfo {
  int width = 0;  // as stored, before the orientation is applied
  int height = 0;
  int components = 0;
  int orientation = 1;  // EXIF, 1 to 8
  bool progressive = false;
  bool exif_cut_short = false;  // harmless to the picture
};

struct DecodeOptions {
  // 0: full size. Else the smallest of the sizes 1/8, 1/4, 1/2 and 1/1, made inside the inverse
  // DCT, whose shorter side is not below this; a smaller photo stays as it is.
  int shorter_side = 0;
  int64_t max_pixels = int64_t{1} << 26;  // of the stored picture; more is kInvalid
};

// "JPEG", "PNG", "GIF", "WebP", "BMP", "TIFF", "HEIC or AVIF"; empty where the first bytes are
// none.
std::string_view SniffFormat(std::string_view bytes);

// Reads the header alone.
Result<JpegInfo> ReadJpegInfo(std::string_view bytes, const std::string& where);

// The upright picture in RGB; grey, CMYK and YCCK are converted. kCorrupt where the bytes end early
// or do not decode, kInvalid where they are no JPEG or too large.
Result<Image> DecodeJpeg(std::string_view bytes, const std::string& where,
                         const DecodeOptions& options = {});

// The same from a file; an empty file is kCorrupt.
Result<Image> DecodeJpegFile(const std::string& path, const DecodeOptions& options = {});

// Baseline 4:2:0; quality 1 to 100.
Result<std::string> EncodeJpeg(const Image& image, int quality);

}  // namespace stoker::photo
