#include "photo/jpeg.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "photo/test_photos.h"

namespace stoker::photo {
namespace {

double Mean(const Image& image, size_t channel) {
  double sum = 0;
  for (size_t i = channel; i < image.rgb.size(); i += 3) sum += image.rgb[i];
  return sum / (static_cast<double>(image.rgb.size()) / 3);
}

TEST(Jpeg, RoundTripKeepsSizeAndColour) {
  const auto image = DecodeJpeg(PlainJpeg(37, 21, 200, 100, 50), "a.jpg");
  ASSERT_TRUE(image) << image.error().Line();
  EXPECT_EQ(image->width, 37);
  EXPECT_EQ(image->height, 21);
  EXPECT_NEAR(Mean(*image, 0), 200, 2);
  EXPECT_NEAR(Mean(*image, 1), 100, 2);
  EXPECT_NEAR(Mean(*image, 2), 50, 2);
}

TEST(Jpeg, ScaledDecodeIsTheSmallestSizeThatReaches) {
  const std::string bytes = PlainJpeg(800, 600, 90, 120, 30);
  const auto at = [&](int side) { return DecodeJpeg(bytes, "a.jpg", {.shorter_side = side}); };
  EXPECT_EQ(at(75)->height, 75);
  EXPECT_EQ(at(76)->height, 150);
  EXPECT_EQ(at(300)->width, 400);
  EXPECT_EQ(at(5000)->height, 600);
  EXPECT_NEAR(Mean(*at(75), 1), 120, 3);
}

TEST(Jpeg, EveryCutIsATruncationOrAnErrorThatNamesTheFile) {
  const std::string bytes = PlainJpeg(64, 64, 10, 200, 30);
  for (size_t length = 0; length + 2 < bytes.size(); length += 7) {
    const auto image = DecodeJpeg(std::string_view(bytes).substr(0, length), "dir/cut.jpg");
    ASSERT_FALSE(image) << length;
    EXPECT_EQ(image.error().where, "dir/cut.jpg");
  }
  const auto half = DecodeJpeg(std::string_view(bytes).substr(0, bytes.size() / 2), "dir/cut.jpg");
  EXPECT_EQ(half.error().Line(), "dir/cut.jpg: truncated JPEG: the bytes end early");
}

TEST(Jpeg, FlippedBytesNeverCrash) {
  const std::string bytes = PlainJpeg(48, 48, 10, 200, 30);
  Random random(7);
  for (int i = 0; i < 400; ++i) {
    std::string hurt = bytes;
    for (int flips = 0; flips < 4; ++flips) {
      hurt[static_cast<size_t>(random.Below(static_cast<int64_t>(hurt.size())))] =
          static_cast<char>(random.Next());
    }
    Ignore(DecodeJpeg(hurt, "hurt.jpg", {.max_pixels = 1 << 20}));
  }
}

TEST(Jpeg, OtherFormatsAreNamed) {
  EXPECT_EQ(DecodeJpeg("\x89PNG\r\n\x1a\n----", "p.jpg").error().what,
            "not a JPEG (looks like PNG)");
  EXPECT_EQ(DecodeJpeg("GIF89a", "p.jpg").error().what, "not a JPEG (looks like GIF)");
  EXPECT_EQ(DecodeJpeg("RIFF....WEBPVP8 ", "p.jpg").error().what, "not a JPEG (looks like WebP)");
  EXPECT_EQ(DecodeJpeg("hello", "p.jpg").error().what, "not a JPEG");
  EXPECT_EQ(DecodeJpeg("", "p.jpg").error().what, "empty file");
}

TEST(Jpeg, TooManyPixelsIsRefusedBeforeTheyAreDecoded) {
  const auto image = DecodeJpeg(PlainJpeg(100, 100, 1, 2, 3), "big.jpg", {.max_pixels = 9'999});
  ASSERT_FALSE(image);
  EXPECT_EQ(image.error().code, Code::kInvalid);
}

struct Expected {
  std::string path;
  bool decodes = false;
  bool is_jpeg = false;
  int width = 0;
  int height = 0;
  int orientation = 1;
  std::vector<double> mean;
};

std::vector<Expected> ReadReference(const std::string& dir) {
  const std::string text = ReadFile(JoinPath(dir, "REFERENCE_pillow.json")).value();
  const Json json = ParseJson(text).value();
  std::vector<Expected> all;
  for (const auto& [path, entry] : json.items()) {
    Expected one{.path = path};
    one.decodes = JsonBool(entry, "decodes").value_or(false);
    const std::string format = JsonString(entry, "format").value_or("JPEG");
    one.is_jpeg = format == "JPEG" || format == "MPO";
    one.orientation = static_cast<int>(JsonInt(entry, "exif_orientation").value_or(1));
    if (entry.contains("size")) {
      one.width = entry["size"][0];
      one.height = entry["size"][1];
    }
    if (entry.contains("mean_rgb")) one.mean = entry["mean_rgb"].get<std::vector<double>>();
    all.push_back(std::move(one));
  }
  return all;
}

TEST(Jpeg, AwkwardPhotosDecodeAsTheReferenceSays) {
  const auto dir =
      RealData(std::getenv("STOKER_DATA"), std::getenv("STOKER_SOURCE"), "photos_hard");
  if (!dir) GTEST_SKIP() << "no folder of real photos on this machine";
  int decoded = 0;
  for (const Expected& expected : ReadReference(*dir)) {
    SCOPED_TRACE(expected.path);
    const auto image = DecodeJpegFile(JoinPath(*dir, expected.path));
    // Pillow refuses this one for its EXIF data; the picture is whole.
    const bool whole = expected.path == "pillow/truncated_exif_dpi.jpg";
    EXPECT_EQ(image.has_value(), whole || (expected.decodes && expected.is_jpeg))
        << (image ? "decoded" : image.error().Line());
    if (!image || !expected.decodes) continue;
    ++decoded;
    const bool turned = expected.orientation >= 5;
    EXPECT_EQ(image->width, turned ? expected.height : expected.width);
    EXPECT_EQ(image->height, turned ? expected.width : expected.height);
    for (size_t c = 0; c < 3; ++c) EXPECT_NEAR(Mean(*image, c), expected.mean[c], 1.0);
  }
  EXPECT_EQ(decoded, 70);
}

// Nine files show one picture held in nine ways: upright, they must look alike.
TEST(Jpeg, OrientationMakesThePictureUpright) {
  const auto dir = RealData(std::getenv("STOKER_DATA"), std::getenv("STOKER_SOURCE"),
                            "photos_hard/exif_orientation");
  if (!dir) GTEST_SKIP() << "no folder of real photos on this machine";
  const Image first = DecodeJpegFile(JoinPath(*dir, "Landscape_1.jpg")).value();
  for (int orientation = 2; orientation <= 8; ++orientation) {
    const std::string name = "Landscape_" + std::to_string(orientation) + ".jpg";
    const Image image = DecodeJpegFile(JoinPath(*dir, name)).value();
    ASSERT_EQ(image.rgb.size(), first.rgb.size());
    double difference = 0;
    for (size_t i = 0; i < image.rgb.size(); i += 97) {
      difference += std::abs(image.rgb[i] - first.rgb[i]);
    }
    EXPECT_LT(difference / (static_cast<double>(image.rgb.size()) / 97), 12) << name;
  }
}

}  // namespace
}  // namespace stoker::photo
