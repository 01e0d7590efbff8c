#include "photo/augment.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "photo/resize.h"
#include "photo/test_photos.h"

namespace stoker::photo {
namespace {

TEST(Resize, KeepsAPlainColour) {
  const Image small = Resize(Plain(301, 77, 180, 90, 20), 32, 32);
  for (size_t i = 0; i < small.rgb.size(); i += 3) {
    EXPECT_NEAR(small.rgb[i], 180, 3);
    EXPECT_NEAR(small.rgb[i + 2], 20, 3);
  }
}

TEST(Resize, AveragesWhenShrinkingAndKeepsSides) {
  Image image(64, 64);
  for (int y = 0; y < 64; ++y) {
    for (int x = 0; x < 64; ++x) image.at(x, y)[0] = x % 2 ? 255 : 0;
  }
  EXPECT_NEAR(Resize(image, 8, 8).at(4, 4)[0], 127, 6);  // stripes become grey, not aliases
  Image halves(64, 64);
  for (int y = 0; y < 64; ++y) {
    for (int x = 32; x < 64; ++x) halves.at(x, y)[1] = 250;
  }
  Image out(16, 16);
  ResizeInto(halves, {0, 0, 64, 64}, 16, 16, true, out.rgb.data());
  EXPECT_EQ(out.at(1, 8)[1], 250);  // mirrored: the right half is now left
  EXPECT_EQ(out.at(14, 8)[1], 0);
}

TEST(Resize, SameSizeIsTheSamePicture) {
  const Image image = Plain(20, 10, 50, 60, 70);
  EXPECT_EQ(Resize(image, 20, 10).rgb, image.rgb);
}

TEST(Resize, ShorterSideAndStripsStayBounded) {
  EXPECT_EQ(FitShorterSide(Plain(300, 150, 1, 2, 3), 50).width, 100);
  const Image strip = FitShorterSide(Plain(4000, 3, 1, 2, 3), 147);
  EXPECT_EQ(strip.height, 147);
  EXPECT_EQ(strip.width, 588);
  EXPECT_EQ(FitShorterSide(Plain(1, 1, 9, 9, 9), 40).width, 40);
}

TEST(Augment, ViewsDependOnTheirCountersAlone) {
  const Image photo = Plain(160, 147, 90, 140, 30);
  const auto view = [&](uint64_t epoch, uint64_t index) {
    std::vector<uint8_t> out(64 * 64 * 3);
    Random random(5, epoch, index);
    TrainView(photo, 64, {}, random, out.data());
    return out;
  };
  EXPECT_EQ(view(1, 2), view(1, 2));
  EXPECT_NE(view(1, 2), view(2, 2));
  EXPECT_NE(view(1, 2), view(1, 3));
}

TEST(Augment, CropsStayInsideAndKeepTheirArea) {
  Random random(3);
  for (int i = 0; i < 2'000; ++i) {
    const Box box = RandomCrop(200, 147, {}, random);
    EXPECT_GE(box.x, 0);
    EXPECT_GE(box.y, 0);
    EXPECT_LE(box.x + box.width, 200);
    EXPECT_LE(box.y + box.height, 147);
    EXPECT_GT(box.width * box.height, 0.33 * 200 * 147);
  }
  const Box tiny = RandomCrop(1, 1, {}, random);
  EXPECT_EQ(tiny.width, 1);
}

TEST(Augment, JudgeViewIsTheCentre) {
  Image photo(100, 60);
  photo.at(50, 30)[0] = 255;
  std::vector<uint8_t> out(20 * 20 * 3);
  JudgeView(photo, 20, out.data());
  EXPECT_EQ(out[(10 * 20 + 10) * 3], 255);
}

TEST(Random, IsTheSameEverywhereAndFair) {
  EXPECT_EQ(Random(1).Next(), Random(1).Next());
  EXPECT_NE(Random(1).Next(), Random(2).Next());
  EXPECT_NE(Random(1, 1, 0).Next(), Random(1, 0, 1).Next());
  Random random(11);
  std::vector<int> counts(10);
  for (int i = 0; i < 10'000; ++i) ++counts[static_cast<size_t>(random.Below(10))];
  for (const int count : counts) EXPECT_NEAR(count, 1'000, 150);
  std::vector<int> items = {1, 2, 3, 4, 5, 6, 7, 8};
  random.Shuffle(items);
  EXPECT_EQ(std::set<int>(items.begin(), items.end()).size(), 8u);
}

}  // namespace
}  // namespace stoker::photo
