#include "photo/verify.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "photo/test_photos.h"

namespace stoker::photo {
namespace {

TEST(Verify, CountsNamesAndFindsLeaks) {
  const TempDir temp = TempDir::Make("verify").value();
  const auto at = [&](const std::string& path) { return JoinPath(temp.path(), path); };
  const std::string soup = PlainJpeg(40, 40, 200, 90, 10);
  WriteTestFile(at("train/soup/1.jpg"), soup);
  WriteTestFile(at("train/soup/twice.jpg"), soup);
  WriteTestFile(at("val/soup/leak.jpg"), soup);
  WriteTestFile(at("train/bread/1.jpg"), PlainJpeg(40, 40, 20, 90, 10));
  WriteTestFile(at("train/bread/cut.jpg"), soup.substr(0, soup.size() / 2));
  WriteTestFile(at("train/bread/png.jpg"), "\x89PNG\r\n\x1a\n....");
  WriteTestFile(at("readme.txt"), "hello");
  const VerifyReport report = VerifyFolder(temp.path(), 2).value();
  EXPECT_EQ(report.photos, 6);
  EXPECT_EQ(report.good, 4);
  EXPECT_EQ(report.ignored, 1);
  EXPECT_EQ(report.good_by_folder.at("train/soup"), 2);
  ASSERT_EQ(report.damaged.size(), 1u);
  EXPECT_EQ(report.damaged[0].path, "train/bread/cut.jpg");
  EXPECT_EQ(report.damaged[0].reason, "truncated JPEG: the bytes end early");
  ASSERT_EQ(report.foreign.size(), 1u);
  EXPECT_EQ(report.foreign[0].path, "train/bread/png.jpg");
  ASSERT_EQ(report.duplicates.size(), 1u);
  EXPECT_EQ(report.duplicates[0].size(), 3u);
  EXPECT_EQ(report.leaks.size(), 1u);
  EXPECT_FALSE(report.ok());
  const Json json = ParseJson(VerifyJson(report)).value();
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_EQ(json["damaged"][0]["path"], "train/bread/cut.jpg");
  EXPECT_NE(VerifyText(report).find("6 photos, 4 good, 1 other files"), std::string::npos);
}

TEST(Verify, StoresOfOneTreeMayShareAPhoto) {
  const TempDir temp = TempDir::Make("verify").value();
  const std::string soup = PlainJpeg(40, 40, 200, 90, 10);
  WriteTestFile(JoinPath(temp.path(), "store-01/train/soup/1.jpg"), soup);
  WriteTestFile(JoinPath(temp.path(), "store-02/val/soup/1.jpg"), soup);
  const VerifyReport report = VerifyFolder(temp.path()).value();
  EXPECT_EQ(report.duplicates.size(), 1u);
  EXPECT_TRUE(report.leaks.empty());
  EXPECT_TRUE(report.ok());
}

TEST(Verify, AbsentFolderIsAnError) {
  EXPECT_EQ(VerifyFolder("/nowhere/at/all").error().code, Code::kNotFound);
}

TEST(Verify, NamesEveryPhotoThatTheReferenceCannotDecode) {
  const auto dir =
      RealData(std::getenv("STOKER_DATA"), std::getenv("STOKER_SOURCE"), "photos_hard");
  if (!dir) GTEST_SKIP() << "no folder of real photos on this machine";
  const VerifyReport report = VerifyFolder(*dir, 2).value();
  // The reference names seven. One of them Pillow refuses for its EXIF data alone: the picture is
  // whole, so it is good here, and named as odd.
  EXPECT_EQ(report.damaged.size(), 6u) << VerifyText(report);
  EXPECT_TRUE(std::any_of(report.odd.begin(), report.odd.end(), [](const BadPhoto& photo) {
    return photo.path == "pillow/truncated_exif_dpi.jpg";
  })) << VerifyText(report);
  EXPECT_EQ(report.foreign.size(), 6u);  // PNG, GIF and WebP, named as such or .jpg
  EXPECT_EQ(report.good, 71);
}

}  // namespace
}  // namespace stoker::photo
