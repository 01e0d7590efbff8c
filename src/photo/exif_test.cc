#include "photo/exif.h"

#include <gtest/gtest.h>

#include <string>

namespace stoker::photo {
namespace {

std::string Exif(bool big_endian, int orientation) {
  std::string bytes("Exif\0\0", 6);
  bytes += big_endian ? std::string("MM\0*\0\0\0\10\0\1\1\22\0\3\0\0\0\1\0", 19)
                      : std::string("II*\0\10\0\0\0\1\0\22\1\3\0\1\0\0\0", 18);
  bytes += static_cast<char>(orientation);
  bytes += std::string("\0\0\0\0\0\0", 6);
  return bytes;
}

TEST(Exif, ReadsBothByteOrders) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    EXPECT_EQ(ExifOrientation(Exif(true, orientation)), orientation);
    EXPECT_EQ(ExifOrientation(Exif(false, orientation)), orientation);
  }
}

TEST(Exif, DamageMeansUpright) {
  EXPECT_EQ(ExifOrientation(""), 1);
  EXPECT_EQ(ExifOrientation("Exif"), 1);
  EXPECT_EQ(ExifOrientation(Exif(true, 0)), 1);
  EXPECT_EQ(ExifOrientation(Exif(true, 9)), 1);
  const std::string whole = Exif(false, 6);
  for (size_t length = 0; length < 24; ++length) {
    EXPECT_EQ(ExifOrientation(std::string_view(whole).substr(0, length)), 1) << length;
  }
  EXPECT_FALSE(ExifIsCutShort(whole));
  EXPECT_TRUE(ExifIsCutShort(std::string_view(whole).substr(0, 20)));
  EXPECT_FALSE(ExifIsCutShort("http://ns.adobe.com/xap/1.0/"));
  std::string far = whole;
  far[10] = '\xff';  // the directory lies beyond the end
  far[11] = '\xff';
  EXPECT_EQ(ExifOrientation(far), 1);
}

TEST(Exif, UprightTurnsPixels) {
  Image image(2, 1);  // red, then green
  image.rgb = {255, 0, 0, 0, 255, 0};
  const auto red_is_at = [](const Image& upright, int x, int y) {
    return upright.at(x, y)[0] == 255;
  };
  EXPECT_TRUE(red_is_at(Upright(image, 1), 0, 0));
  EXPECT_TRUE(red_is_at(Upright(image, 2), 1, 0));
  EXPECT_TRUE(red_is_at(Upright(image, 3), 1, 0));
  EXPECT_EQ(Upright(image, 6).height, 2);
  EXPECT_TRUE(red_is_at(Upright(image, 6), 0, 0));  // turned clockwise: left becomes top
  EXPECT_TRUE(red_is_at(Upright(image, 8), 0, 1));
}

}  // namespace
}  // namespace stoker::photo
