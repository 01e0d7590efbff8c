#include "runlog/tail.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/durable_file.h"
#include "base/file.h"

namespace stoker::runlog {
namespace {

class TailTest : public testing::Test {
 protected:
  void Append(const std::string& text) {
    const auto fd = OpenFile(path_, O_WRONLY | O_APPEND | O_CREAT);
    ASSERT_TRUE(fd);
    ASSERT_TRUE(WriteAll(*fd, text, path_));
  }
  // Reads on from the last mark.
  TailBatch Next(bool final = false, size_t max_bytes = 4 << 20) {
    auto batch = ReadNew(path_, mark_, final, max_bytes);
    EXPECT_TRUE(batch);
    if (!batch) return {};
    mark_ = batch->mark;
    return *std::move(batch);
  }

  TempDir dir_ = *TempDir::Make();
  const std::string path_ = JoinPath(dir_.path(), "run.jsonl");
  std::string mark_;
};

using Lines = std::vector<std::string>;

TEST_F(TailTest, AnAbsentFileIsEmpty) {
  EXPECT_TRUE(Next().lines.empty());
  Append("a\n");
  EXPECT_EQ(Next().lines, Lines{"a"});
}

TEST_F(TailTest, GivesEachWholeLineOnce) {
  Append("a\nb\r\n\nhal");
  EXPECT_EQ(Next().lines, (Lines{"a", "b"}));
  EXPECT_TRUE(Next().lines.empty());
  Append("f\n");
  EXPECT_EQ(Next().lines, Lines{"half"});
}

TEST_F(TailTest, TheTornLastLineComesWithFinal) {
  Append("a\ntorn");
  EXPECT_EQ(Next().lines, Lines{"a"});
  EXPECT_EQ(Next(true).lines, Lines{"torn"});
  EXPECT_TRUE(Next(true).lines.empty());
}

TEST_F(TailTest, AShrunkOrReplacedFileIsReadAgain) {
  Append("one\ntwo\n");
  Next();
  ASSERT_TRUE(WriteDurably(path_, "new\n"));
  TailBatch batch = Next();
  EXPECT_EQ(batch.lines, Lines{"new"});
  EXPECT_TRUE(batch.restarted);
  { ASSERT_TRUE(OpenFile(path_, O_WRONLY | O_TRUNC)); }
  Append("n\n");
  EXPECT_EQ(Next().lines, Lines{"n"});
}

TEST_F(TailTest, ASuccessorWithTheSameInodeAndALongerTextIsNoticed) {
  Append("one\ntwo\n");
  Next();
  { ASSERT_TRUE(OpenFile(path_, O_WRONLY | O_TRUNC)); }
  Append("another file altogether\n");
  const TailBatch batch = Next();
  EXPECT_TRUE(batch.restarted);
  EXPECT_EQ(batch.lines, Lines{"another file altogether"});
}

TEST_F(TailTest, TheBudgetEndsABatchAtALine) {
  Append("aaaa\nbbbb\ncccc\n");
  TailBatch batch = Next(false, 6);
  EXPECT_EQ(batch.lines, (Lines{"aaaa", "bbbb"}));
  EXPECT_TRUE(batch.more);
  batch = Next(false, 5);
  EXPECT_EQ(batch.lines, Lines{"cccc"});
  EXPECT_FALSE(batch.more);
}

TEST_F(TailTest, AHugeLineIsCutAndPassedInBoundedSteps) {
  const std::string piece(1 << 20, 'x');
  for (int i = 0; i < 20; ++i) Append(piece);
  Append("\nnext\n");
  Lines lines;
  int cut = 0, batches = 0;
  bool more = true;
  while (more && batches < 100) {
    TailBatch batch = Next(false, 4 << 20);
    for (std::string& line : batch.lines) lines.push_back(std::move(line));
    cut += batch.cut;
    more = batch.more;
    ++batches;
  }
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].size(), size_t{1} << 20);
  EXPECT_EQ(lines[1], "next");
  EXPECT_EQ(cut, 1);
  EXPECT_GE(batches, 5);
}

TEST_F(TailTest, AForeignMarkStartsAgainAndAFolderIsRefused) {
  Append("a\n");
  mark_ = "rubbish";
  EXPECT_EQ(Next().lines, Lines{"a"});
  mark_ = "1:2:-3:4:5";
  EXPECT_EQ(Next().lines, Lines{"a"});
  EXPECT_FALSE(ReadNew(dir_.path(), "", false));
}

TEST_F(TailTest, ANamedPipeDoesNotHang) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  const auto batch = ReadNew(path_, "", false);
  ASSERT_FALSE(batch);
  EXPECT_EQ(batch.error().code, Code::kInvalid);
}

}  // namespace
}  // namespace stoker::runlog
