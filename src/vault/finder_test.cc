#include "vault/finder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/durable_file.h"
#include "base/file.h"

namespace stoker::vault {
namespace {

using Paths = std::vector<std::string>;

class FinderTest : public testing::Test {
 protected:
  // Written in place, as most trainers do.
  void Write(const std::string& name) {
    ASSERT_TRUE(MakeDirs(DirName(At(name))));
    const auto fd = OpenFile(At(name), O_WRONLY | O_CREAT | O_TRUNC);
    ASSERT_TRUE(WriteAll(*fd, "x", name));
  }
  std::string At(const std::string& name) const { return dir_.path() + "/" + name; }
  Paths Poll() {
    const auto paths = finder_.Poll(Millis(0));
    EXPECT_TRUE(paths);
    return Names(*paths);
  }
  Paths Rescan() { return Names(finder_.Rescan(dir_.path())); }
  Paths Names(const Paths& paths) const {
    Paths out;
    for (const std::string& path : paths) out.push_back(path.substr(dir_.path().size() + 1));
    std::sort(out.begin(), out.end());
    return out;
  }
  void Start(int max_folders = 100) {
    finder_.AddRoot(dir_.path(), max_folders);
    Rescan();
  }
  TempDir dir_ = std::move(*TempDir::Make());
  Finder finder_;
};

TEST_F(FinderTest, TellsOfFilesClosedAndMovedIn) {
  Write("sub/old.pt");
  Start();
  EXPECT_EQ(Rescan(), Paths{"sub/old.pt"});
  Write("a.pt");
  Write("notes.txt");
  Write("sub/old.pt");
  ASSERT_TRUE(RenameFile(At("notes.txt"), At("sub/b.safetensors")));
  EXPECT_EQ(Poll(), (Paths{"a.pt", "sub/b.safetensors", "sub/old.pt"}));
  EXPECT_EQ(Poll(), Paths{});
}

TEST_F(FinderTest, AnOpenFileIsNotToldBeforeItIsClosed) {
  Start();
  auto fd = OpenFile(At("a.pt"), O_WRONLY | O_CREAT);
  ASSERT_TRUE(WriteAll(*fd, "half", "a.pt"));
  EXPECT_EQ(Poll(), Paths{});
  fd->Close();
  EXPECT_EQ(Poll(), Paths{"a.pt"});
}

TEST_F(FinderTest, NewFoldersAreTakenUpWithWhatTheyHold) {
  Start();
  Write("runs/exp/weights/best.pt");  // all of it before the finder hears of the first folder
  EXPECT_EQ(Poll(), Paths{"runs/exp/weights/best.pt"});
  Write("runs/exp/weights/last.pt");
  EXPECT_EQ(Poll(), Paths{"runs/exp/weights/last.pt"});
}

TEST_F(FinderTest, AMovedFolderIsFollowedUnderItsNewName) {
  Write("tmp/best.pt");
  Start();
  ASSERT_TRUE(RenameFile(At("tmp"), At("done")));
  EXPECT_EQ(Poll(), Paths{"done/best.pt"});
  Write("done/last.pt");
  EXPECT_EQ(Poll(), Paths{"done/last.pt"});
  EXPECT_EQ(Rescan(), (Paths{"done/best.pt", "done/last.pt"}));
  EXPECT_FALSE(finder_.Covers(At("tmp")));
}

TEST_F(FinderTest, LinksHiddenFoldersAndPackagesAreLeftAlone) {
  const TempDir outside = std::move(*TempDir::Make());
  ASSERT_TRUE(WriteDurably(outside.path() + "/secret.pt", "x"));
  ASSERT_EQ(::symlink(outside.path().c_str(), At("link").c_str()), 0);
  ASSERT_EQ(::symlink((outside.path() + "/secret.pt").c_str(), At("link.pt").c_str()), 0);
  for (const char* name : {".git/a.pt", ".venv/lib/a.pt", "node_modules/a.pt", "__pycache__/a.pt",
                           "lib/site-packages/torch/a.pt"}) {
    Write(name);
  }
  Write("good/a.pt");
  Start();
  EXPECT_EQ(Rescan(), Paths{"good/a.pt"});
  Poll();
  Write(".git/b.pt");
  ASSERT_TRUE(WriteDurably(outside.path() + "/more.pt", "x"));
  EXPECT_EQ(Poll(), Paths{});
}

TEST_F(FinderTest, TheLimitKeepsTheShallowFolders) {
  for (const char* name : {"a/deep/er/x.pt", "b/x.pt", "c/x.pt"}) Write(name);
  Start(4);  // the root, a, b and c
  EXPECT_EQ(Rescan(), (Paths{"b/x.pt", "c/x.pt"}));
  EXPECT_TRUE(finder_.Limited(dir_.path()));
  ASSERT_TRUE(RemoveTree(At("b")));
  EXPECT_EQ(Rescan(), (Paths{"c/x.pt"}));
  ASSERT_TRUE(RemoveTree(At("a/deep")));
  Rescan();
  EXPECT_FALSE(finder_.Limited(dir_.path()));
}

TEST_F(FinderTest, ARescanSeesWhatWasMadeAfterAQuietOne) {
  Start();
  for (int i = 0; i < 3; ++i) Rescan();
  Write("late.pt");
  EXPECT_EQ(Rescan(), Paths{"late.pt"});
  ASSERT_TRUE(RemoveFile(At("late.pt")));
  EXPECT_EQ(Rescan(), Paths{});
}

TEST_F(FinderTest, RootsThatShareFoldersGoOneByOne) {
  Write("sub/a.pt");
  Start();
  finder_.AddRoot(At("sub"), 10);
  EXPECT_EQ(finder_.Rescan(At("sub")).size(), 1u);
  finder_.RemoveRoot(dir_.path());
  Write("sub/b.pt");
  Write("c.pt");
  EXPECT_EQ(Poll(), Paths{"sub/b.pt"});
  finder_.RemoveRoot(At("sub"));
  Write("sub/c.pt");
  EXPECT_EQ(Poll(), Paths{});
}

TEST_F(FinderTest, ARootThatComesLaterIsFound) {
  finder_.AddRoot(At("later"), 10);
  EXPECT_TRUE(finder_.Rescan(At("later")).empty());
  Write("later/a.pt");
  EXPECT_EQ(Names(finder_.Rescan(At("later"))), Paths{"later/a.pt"});
  finder_.AddRoot("/", 10);
  EXPECT_FALSE(finder_.HasRoot("/")) << "a job in the root folder does not make the disk its own";
}

}  // namespace
}  // namespace stoker::vault
