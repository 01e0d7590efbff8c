#include "photo/exif.h"

#include <cstdint>
#include <cstring>
#include <utility>

namespace stoker::photo {
namespace {

constexpr uint16_t kOrientationTag = 0x0112;
constexpr uint16_t kShort = 3;

// Bounds-checked numbers of either byte order; outside the payload everything is 0.
class TiffReader {
 public:
  TiffReader(std::string_view bytes, bool big_endian) : bytes_(bytes), big_(big_endian) {}
  uint32_t U16(size_t at) const {
    if (at + 2 > bytes_.size()) return 0;
    return big_ ? Byte(at) << 8 | Byte(at + 1) : Byte(at + 1) << 8 | Byte(at);
  }
  uint32_t U32(size_t at) const {
    if (at + 4 > bytes_.size()) return 0;
    return big_ ? U16(at) << 16 | U16(at + 2) : U16(at + 2) << 16 | U16(at);
  }

 private:
  uint32_t Byte(size_t at) const { return static_cast<uint8_t>(bytes_[at]); }
  std::string_view bytes_;
  bool big_;
};

}  // namespace

bool ExifIsCutShort(std::string_view app1) {
  if (app1.substr(0, 5) != std::string_view("Exif\0", 5)) return false;
  if (app1.size() < 14) return true;
  const std::string_view tiff = app1.substr(6);
  const TiffReader reader(tiff, tiff.substr(0, 2) == "MM");
  const size_t directory = reader.U32(4);
  return directory + 2 > tiff.size() ||
         directory + 2 + reader.U16(directory) * size_t{12} > tiff.size();
}

int ExifOrientation(std::string_view app1) {
  if (app1.size() < 14 || app1.substr(0, 5) != std::string_view("Exif\0", 5)) return 1;
  const std::string_view tiff = app1.substr(6);
  const std::string_view order = tiff.substr(0, 2);
  if (order != "II" && order != "MM") return 1;
  const TiffReader reader(tiff, order == "MM");
  const size_t directory = reader.U32(4);
  if (directory + 2 > tiff.size()) return 1;
  const uint32_t entries = reader.U16(directory);
  for (uint32_t i = 0; i < entries; ++i) {
    const size_t entry = directory + 2 + i * size_t{12};
    if (entry + 12 > tiff.size()) return 1;
    if (reader.U16(entry) != kOrientationTag || reader.U16(entry + 2) != kShort) continue;
    const uint32_t value = reader.U16(entry + 8);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

Image Upright(Image image, int orientation) {
  if (orientation <= 1 || orientation > 8) return image;
  const bool swap = orientation >= 5;
  // Where the upright pixel (x, y) lies in the stored picture.
  const bool mirror_x =
      orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool mirror_y =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  Image out(swap ? image.height : image.width, swap ? image.width : image.height);
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x) {
      int from_x = swap ? y : x;
      int from_y = swap ? x : y;
      if (mirror_x) from_x = image.width - 1 - from_x;
      if (mirror_y) from_y = image.height - 1 - from_y;
      std::memcpy(out.at(x, y), image.at(from_x, from_y), 3);
    }
  }
  return out;
}

}  // namespace stoker::photo
