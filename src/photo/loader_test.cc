#include "photo/loader.h"

#include <gtest/gtest.h>

#include <set>

#include "photo/test_photos.h"

namespace stoker::photo {
namespace {

class LoaderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 23; ++i) {
      const std::string path = JoinPath(temp_.path(), std::to_string(i) + ".jpg");
      WriteTestFile(path, PlainJpeg(60 + i, 50, i * 10, 255 - i * 10, 80, i));
      photos_.push_back({path, i % 3});
    }
  }
  static std::vector<PhotoBatch> Epoch(Loader& loader, int64_t epoch, int first = 0) {
    std::vector<PhotoBatch> batches;
    loader.Start(epoch, first);
    while (auto batch = loader.Next()) batches.push_back(std::move(*batch));
    return batches;
  }
  TempDir temp_ = TempDir::Make("loader").value();
  std::vector<PhotoFile> photos_;
};

LoaderOptions Training(int threads, size_t cache_bytes = 0) {
  return {.size = 32,
          .batch = 6,
          .train = true,
          .seed = 9,
          .threads = threads,
          .ahead = 3,
          .cache_bytes = cache_bytes};
}

TEST_F(LoaderTest, ThreadsAndCacheDoNotChangeWhatComes) {
  Loader one(photos_, Training(1));
  Loader three(photos_, Training(3, 1 << 30));
  EXPECT_EQ(one.batches(), 4);
  for (int64_t epoch : {1, 2, 2, 5}) {
    const auto a = Epoch(one, epoch);
    const auto b = Epoch(three, epoch);
    ASSERT_EQ(a.size(), 4u);
    ASSERT_EQ(b.size(), 4u);
    std::set<int64_t> seen;
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(a[i].index, static_cast<int>(i));
      EXPECT_EQ(a[i].photos, b[i].photos);
      EXPECT_EQ(a[i].pixels, b[i].pixels);
      EXPECT_EQ(a[i].pixels.size(), a[i].labels.size() * 32 * 32 * 3);
      EXPECT_GE(a[i].labels.size(), 5u);
      seen.insert(a[i].photos.begin(), a[i].photos.end());
    }
    EXPECT_EQ(seen.size(), photos_.size());
  }
  EXPECT_EQ(one.cached_bytes(), 0u);
  EXPECT_GT(three.cached_bytes(), 23u * 37 * 37 * 3);
}

TEST_F(LoaderTest, EpochsDifferAndMayBeginInTheMiddle) {
  Loader loader(photos_, Training(2));
  const auto first = Epoch(loader, 1);
  EXPECT_NE(first[0].photos, Epoch(loader, 2)[0].photos);
  const auto rest = Epoch(loader, 1, 2);
  ASSERT_EQ(rest.size(), 2u);
  EXPECT_EQ(rest[0].pixels, first[2].pixels);
}

TEST_F(LoaderTest, AnEpochCanBeLeftHalfway) {
  Loader loader(photos_, Training(2));
  loader.Start(1);
  ASSERT_TRUE(loader.Next());
  EXPECT_EQ(Epoch(loader, 2).size(), 4u);
}

TEST_F(LoaderTest, JudgingIsInOrder) {
  Loader loader(photos_, {.size = 32, .batch = 100, .train = false});
  const auto batches = Epoch(loader, 1);
  ASSERT_EQ(batches.size(), 1u);
  for (size_t i = 0; i < photos_.size(); ++i) {
    EXPECT_EQ(batches[0].photos[i], static_cast<int64_t>(i));
    EXPECT_EQ(batches[0].labels[i], photos_[i].label);
  }
}

TEST_F(LoaderTest, DamagedPhotosAreLeftOutCountedAndNamed) {
  WriteTestFile(photos_[4].path, ReadFile(photos_[4].path)->substr(0, 300));
  WriteTestFile(photos_[7].path, "");
  Loader loader(photos_, Training(2, 1 << 30));
  for (int64_t epoch : {1, 2}) {
    size_t photos = 0;
    for (const auto& batch : Epoch(loader, epoch)) photos += batch.labels.size();
    EXPECT_EQ(photos, 21u);
  }
  const auto skipped = loader.skipped();
  ASSERT_EQ(skipped.size(), 2u);
  EXPECT_EQ(skipped[0].path, photos_[4].path);
  EXPECT_EQ(skipped[1].reason, "empty file");
}

TEST_F(LoaderTest, TheCacheStaysWithinItsBound) {
  const size_t bound = 5 * 37 * 50 * 3;
  Loader loader(photos_, Training(2, bound));
  Epoch(loader, 1);
  EXPECT_GT(loader.cached_bytes(), 0u);
  EXPECT_LE(loader.cached_bytes(), bound);
}

TEST(Loader, NoPhotosIsAnEmptyEpoch) {
  Loader loader({}, {});
  loader.Start(1);
  EXPECT_FALSE(loader.Next());
}

}  // namespace
}  // namespace stoker::photo
