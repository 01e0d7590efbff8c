#include "photo/dishes.h"

#include <gtest/gtest.h>

#include "base/sha256.h"
#include "photo/folder.h"
#include "photo/icons.h"
#include "photo/jpeg.h"
#include "photo/scene.h"
#include "photo/test_photos.h"

namespace stoker::photo {
namespace {

// Three vendors that draw three dishes as coloured discs, each with one dish of its own.
class DishesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    AddVendor("noto", "Food & Drink", 8);
    AddVendor("twemoji", "Food & Drink", 7);
    AddVendor("openmoji", "Food Drink", 5);
  }
  void AddVendor(const std::string& vendor, const std::string& category, int radius) {
    const auto disc = [&](const std::string& colour) {
      return R"({"body":"<circle cx='8' cy='8' r=')" + std::to_string(radius) + "' fill='" +
             colour + R"('/>"})";
    };
    const std::string dir = JoinPath(temp_.path(), vendor);
    WriteTestFile(JoinPath(dir, "icons.json"),
                  R"({"prefix":"x","icons":{"apple":)" + disc("#d00") + R"(,"lime":)" +
                      disc("#0c0") + R"(,"berry":)" + disc("#00d") + R"(,"only-)" + vendor +
                      R"(":)" + disc("#000") +
                      R"(},"aliases":{"red-apple":{"parent":"apple"},"loop":{"parent":"loop"}}})");
    WriteTestFile(JoinPath(dir, "metadata.json"),
                  R"({"categories":{")" + category + R"(":["red-apple","lime","berry","only-)" +
                      vendor + R"(","loop","absent"],"Flags":["flag"]}})");
    options_.icon_packages.push_back(dir);
  }
  DishesOptions Small() {
    options_.out = JoinPath(temp_.path(), "out");
    options_.classes = 3;
    options_.train_photos = 4;
    options_.val_photos = 2;
    options_.test_photos = 1;
    options_.size = 64;
    return options_;
  }
  TempDir temp_ = TempDir::Make("dishes").value();
  DishesOptions options_;
};

TEST_F(DishesTest, PackagesShareNamesAndFollowAliases) {
  std::vector<IconPackage> packages;
  for (const auto& dir : options_.icon_packages) packages.push_back(ReadIconPackage(dir).value());
  EXPECT_EQ(CommonNames(packages), (std::vector<std::string>{"berry", "lime", "red-apple"}));
  EXPECT_TRUE(packages[0].svg.contains("only-noto"));
  EXPECT_FALSE(packages[0].svg.contains("loop"));
}

TEST_F(DishesTest, DrawsAStoreThatOpensAsADataSet) {
  const auto report = MakeDishes(Small());
  ASSERT_TRUE(report) << report.error().Line();
  EXPECT_EQ(report->photos, 21);
  const Folder folder = OpenFolder(report->store_dirs.at(0)).value();
  EXPECT_EQ(folder.classes, (std::vector<std::string>{"berry", "lime", "red-apple"}));
  EXPECT_EQ(folder.train.size(), 12u);
  EXPECT_EQ(folder.val.size(), 6u);
  EXPECT_EQ(folder.test.size(), 3u);
  const Image photo = DecodeJpegFile(folder.train[0].path).value();
  EXPECT_EQ(photo.width, 64);
  EXPECT_EQ(photo.height, 64);
}

TEST_F(DishesTest, TheSameSeedMakesTheSameBytesWithAnyNumberOfThreads) {
  DishesOptions options = Small();
  const std::string first = MakeDishes(options)->store_dirs.at(0);
  options.out = JoinPath(temp_.path(), "again");
  options.threads = 3;
  const std::string second = MakeDishes(options)->store_dirs.at(0);
  for (const char* photo : {"train/lime/003.jpg", "val/berry/001.jpg", "test/red-apple/001.jpg"}) {
    EXPECT_EQ(Sha256OfFile(JoinPath(first, photo)).value(),
              Sha256OfFile(JoinPath(second, photo)).value());
  }
  EXPECT_NE(Sha256OfFile(JoinPath(first, "train/lime/001.jpg")).value(),
            Sha256OfFile(JoinPath(first, "train/lime/002.jpg")).value());
}

TEST_F(DishesTest, AStoreIsKeptOrRefusedNeverMixed) {
  DishesOptions options = Small();
  const std::string store = MakeDishes(options)->store_dirs.at(0);
  const auto kept = MakeDishes(options);
  ASSERT_TRUE(kept) << kept.error().Line();
  EXPECT_EQ(kept->stores_kept, 1);
  EXPECT_EQ(kept->photos, 0);
  options.seed = 2;
  EXPECT_EQ(MakeDishes(options).error().where, store);
  // What a killed run leaves is swept away.
  ASSERT_TRUE(RemoveTree(store));
  WriteTestFile(JoinPath(options.out, ".store-01.partial/train/lime/999.jpg"), "half");
  ASSERT_TRUE(MakeDishes(options));
  EXPECT_FALSE(FileExists(JoinPath(store, "train/lime/999.jpg")));
}

TEST_F(DishesTest, MoreDishesThanDrawingsIsRefused) {
  DishesOptions options = Small();
  options.classes = 4;
  EXPECT_EQ(MakeDishes(options).error().what, "4 dishes a store, but the icon packages share 3");
  options.icon_packages = {"/nowhere"};
  EXPECT_EQ(MakeDishes(options).error().advice, "run scripts/setup");
}

TEST_F(DishesTest, CutsStoresOutOfLabelledPhotos) {
  const std::string from = JoinPath(temp_.path(), "labelled");
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    for (int i = 0; i < 5; ++i) {
      WriteTestFile(JoinPath(from, std::string(name) + "/" + std::to_string(i) + ".jpg"),
                    PlainJpeg(40, 30, 100, i * 40, 20));
    }
  }
  DishesOptions options = Small();
  options.stores = 2;
  const auto report = CutStores(from, options);
  ASSERT_TRUE(report) << report.error().Line();
  EXPECT_EQ(report->photos, 30);
  for (const std::string& dir : report->store_dirs) {
    const Folder folder = OpenFolder(dir).value();
    EXPECT_EQ(folder.classes.size(), 3u);
    EXPECT_EQ(folder.train.size(), 12u);
    EXPECT_EQ(folder.val.size(), 3u);
    EXPECT_FALSE(folder.val_was_cut);
  }
  EXPECT_EQ(CutStores(from, options)->stores_kept, 2);
}

TEST(Png, DamageIsAnError) {
  EXPECT_EQ(DecodePng("not a png", "x").error().code, Code::kCorrupt);
  EXPECT_EQ(RenderSvg("<svg", 32).has_value(), false);
}

}  // namespace
}  // namespace stoker::photo
