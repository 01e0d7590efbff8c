#include "photo/folder.h"

#include <gtest/gtest.h>

#include <set>

#include "photo/test_photos.h"

namespace stoker::photo {
namespace {

class FolderTest : public ::testing::Test {
 protected:
  void Add(const std::string& path) { WriteTestFile(JoinPath(temp_.path(), path), "not opened"); }
  TempDir temp_ = TempDir::Make("folder").value();
};

TEST_F(FolderTest, SplitFolders) {
  Add("train/soup/1.jpg");
  Add("train/bread/1.JPEG");
  Add("valid/soup/2.jpg");
  Add("test/bread/3.jpg");
  const Folder folder = OpenFolder(temp_.path()).value();
  EXPECT_EQ(folder.classes, (std::vector<std::string>{"bread", "soup"}));
  EXPECT_EQ(folder.name, BaseName(temp_.path()));
  ASSERT_EQ(folder.train.size(), 2u);
  EXPECT_EQ(folder.train[0].label, 0);
  ASSERT_EQ(folder.val.size(), 1u);
  EXPECT_EQ(folder.val[0].label, 1);
  EXPECT_EQ(folder.test.size(), 1u);
  EXPECT_FALSE(folder.val_was_cut);
}

TEST_F(FolderTest, ClassFoldersAreCutTheSameWayEachTime) {
  for (int i = 0; i < 10; ++i) {
    Add("soup/" + std::to_string(i) + ".jpg");
    Add("bread/" + std::to_string(i) + ".jpg");
  }
  const Folder folder = OpenFolder(temp_.path()).value();
  EXPECT_TRUE(folder.val_was_cut);
  EXPECT_EQ(folder.train.size(), 16u);
  ASSERT_EQ(folder.val.size(), 4u);
  const Folder again = OpenFolder(temp_.path() + "/").value();
  std::set<std::string> seen;
  for (const auto* part : {&folder.train, &folder.val}) {
    for (const PhotoFile& photo : *part) EXPECT_TRUE(seen.insert(photo.path).second);
  }
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(BaseName(folder.val[i].path), BaseName(again.val[i].path));
  }
}

TEST_F(FolderTest, WhatIsOddIsNoted) {
  Add("train/soup/1.jpg");
  Add("train/bread/1.jpg");
  Add("train/bread/notes.txt");
  Add("val/pizza/1.jpg");
  ASSERT_TRUE(MakeDirs(JoinPath(temp_.path(), "train/empty")));
  const Folder folder = OpenFolder(temp_.path()).value();
  std::string notes;
  for (const std::string& note : folder.notes) notes += note + "\n";
  EXPECT_NE(notes.find("class empty has no photos"), std::string::npos) << notes;
  EXPECT_NE(notes.find("val/pizza has no training photos"), std::string::npos) << notes;
  EXPECT_NE(notes.find("bread: 1 files that are not named .jpg"), std::string::npos) << notes;
  EXPECT_EQ(folder.classes.size(), 2u);
}

TEST_F(FolderTest, BadFoldersGetOneClearError) {
  EXPECT_EQ(OpenFolder(JoinPath(temp_.path(), "absent")).error().code, Code::kNotFound);
  EXPECT_EQ(OpenFolder(temp_.path()).error().what, "no photos");
  Add("train/soup/1.jpg");
  EXPECT_EQ(OpenFolder(temp_.path()).error().what, "one class only (soup)");
}

}  // namespace
}  // namespace stoker::photo
