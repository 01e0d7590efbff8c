#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/durable_file.h"
#include "base/sha256.h"

namespace stoker {
namespace {

TEST(FileTest, ReadsWhatWasWrittenAndBoundsIt) {
  const auto dir = TempDir::Make();
  ASSERT_TRUE(dir);
  const std::string path = JoinPath(dir->path(), "a");
  ASSERT_TRUE(WriteDurably(path, "hello"));
  EXPECT_EQ(*ReadFile(path), "hello");
  EXPECT_EQ(ReadFile(path, 4).error().code, Code::kInvalid);
  EXPECT_EQ(ReadFile(dir->path() + "/none").error().code, Code::kNotFound);
  EXPECT_EQ(MappedFile::Open(path)->bytes(), "hello");
}

TEST(FileTest, MakesFoldersAndSaysWhenAFileIsInTheWay) {
  const auto dir = TempDir::Make();
  const std::string deep = dir->path() + "/a/b/c";
  ASSERT_TRUE(MakeDirs(deep));
  ASSERT_TRUE(MakeDirs(deep));
  ASSERT_TRUE(WriteDurably(deep + "/file", ""));
  EXPECT_EQ(MakeDirs(deep + "/file").error().code, Code::kInvalid);
  const auto entries = ListDir(deep);
  ASSERT_EQ(entries->size(), 1u);
  EXPECT_TRUE(entries->front().is_regular);
  ASSERT_TRUE(RemoveTree(dir->path() + "/a"));
  EXPECT_FALSE(FileExists(deep));
  EXPECT_TRUE(RemoveTree(dir->path() + "/a"));
}

TEST(FileTest, RemoveTreeLeavesWhatLinksPointTo) {
  const auto dir = TempDir::Make();
  ASSERT_TRUE(MakeDirs(dir->path() + "/keep"));
  ASSERT_TRUE(WriteDurably(dir->path() + "/keep/file", "x"));
  ASSERT_TRUE(MakeDirs(dir->path() + "/tree"));
  ASSERT_EQ(::symlink((dir->path() + "/keep").c_str(), (dir->path() + "/tree/link").c_str()), 0);
  ASSERT_TRUE(RemoveTree(dir->path() + "/tree"));
  EXPECT_TRUE(FileExists(dir->path() + "/keep/file"));
}

TEST(FileTest, CleansPathsWithoutTheDisk) {
  EXPECT_EQ(CleanPath("a/../b/./c", "/x"), "/x/b/c");
  EXPECT_EQ(CleanPath("/../..", "/x"), "/");
  EXPECT_EQ(CleanPath("../../../etc", "/x/y"), "/etc");
  EXPECT_EQ(DirName("/a/b"), "/a");
  EXPECT_EQ(DirName("/a"), "/");
  EXPECT_EQ(DirName("a"), ".");
  EXPECT_EQ(BaseName("/a/b"), "b");
}

TEST(FileTest, ALockIsHeldByOneAtATime) {
  const auto dir = TempDir::Make();
  const std::string path = dir->path() + "/lock";
  {
    const auto first = FileLock::Take(path);
    ASSERT_TRUE(first);
    EXPECT_EQ(FileLock::Take(path).error().code, Code::kUnavailable);
  }
  EXPECT_TRUE(FileLock::Take(path));
}

TEST(DurableFileTest, AFailedWriteLeavesTheOldFileAndNoPartial) {
  const auto dir = TempDir::Make();
  const std::string path = dir->path() + "/file";
  ASSERT_TRUE(WriteDurably(path, "old"));
  const Status failed = WriteDurably(path, [&](const Fd& fd) -> Status {
    STOKER_TRY(WriteAll(fd, "half of the n", path));
    return Unavailable("the disk is full", path);
  });
  EXPECT_EQ(failed.error().code, Code::kUnavailable);
  EXPECT_EQ(*ReadFile(path), "old");
  EXPECT_EQ(ListDir(dir->path())->size(), 1u);
}

TEST(DurableFileTest, AFullDiskIsSaidSo) {
  const auto fd = OpenFile("/dev/full", O_WRONLY);
  if (!fd) GTEST_SKIP() << "no /dev/full here";
  EXPECT_EQ(WriteAll(*fd, "x", "/dev/full").error().Line(),
            "/dev/full: cannot write: the disk is full");
}

TEST(DurableFileTest, CreateRefusesToReplace) {
  const auto dir = TempDir::Make();
  const std::string path = dir->path() + "/file";
  ASSERT_TRUE(CreateDurably(path, "one"));
  EXPECT_EQ(CreateDurably(path, "two").error().code, Code::kUnavailable);
  EXPECT_EQ(*ReadFile(path), "one");
  EXPECT_EQ(ListDir(dir->path())->size(), 1u);
  EXPECT_TRUE(IsPartialName(".file.00ff.partial"));
  EXPECT_FALSE(IsPartialName("file.partial"));
}

TEST(Sha256Test, AgreesWithPublishedVectors) {
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  const auto dir = TempDir::Make();
  const std::string path = dir->path() + "/m";
  ASSERT_TRUE(WriteDurably(path, std::string(1'000'000, 'a')));
  EXPECT_EQ(*Sha256OfFile(path),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

}  // namespace
}  // namespace stoker
