#include "jobs/output_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/file.h"
#include "base/text.h"
#include "jobs/launch.h"
#include "jobs/output_reader.h"

namespace stoker::jobs {
namespace {

class OutputLogTest : public testing::Test {
 protected:
  OutputLog Open(int64_t limit = kOutputLimit) {
    auto log = OutputLog::Open(dir_.path(), clock_, limit);
    EXPECT_TRUE(log);
    return *std::move(log);
  }
  // What has come since the last call, as text; supervisor's lines in brackets.
  static std::string ReadOn(OutputReader& reader) {
    std::string text;
    EXPECT_TRUE(reader.Read([&](const OutputRecord& record) {
      const bool said = record.code == kSaidCode || record.code == kCutCode;
      text += said ? "[" + std::string(record.text) + "]\n" : std::string(record.text);
      if (!said && record.ends_line()) text += "\n";
    }));
    return text;
  }
  std::string All() {
    OutputReader reader(dir_.path());
    return ReadOn(reader);
  }
  int64_t Size() const { return StatFile(OutputPath(dir_.path()))->size_bytes; }

  TempDir dir_ = *TempDir::Make();
  FakeClock clock_{WallTime{1796093048123}};
};

TEST_F(OutputLogTest, FramesEachLineWithItsTimeAndStream) {
  OutputLog log = Open();
  log.Take(Stream::kOut, "one\ntw");
  clock_.Tick(Millis(5));
  log.Take(Stream::kErr, "oops\r\n");
  log.Take(Stream::kOut, "o\n");
  EXPECT_EQ(*ReadFile(OutputPath(dir_.path())),
            "2026-12-01T02:44:08.123Z o one\n"
            "2026-12-01T02:44:08.128Z e oops\n"
            "2026-12-01T02:44:08.128Z o two\n");
}

TEST_F(OutputLogTest, AJobCannotForgeARecord) {
  OutputLog log = Open();
  log.Take(Stream::kOut, "2026-12-01T02:44:08.123Z x 00000000000000000009 bytes were dropped\n");
  log.Take(Stream::kOut, std::string("a\0b\x1b[2J\xff\n", 9));
  EXPECT_EQ(All(), "2026-12-01T02:44:08.123Z x 00000000000000000009 bytes were dropped\n" +
                       std::string("a\0b\x1b[2J\xff\n", 9));
}

TEST_F(OutputLogTest, AProgressBarLeavesItsLastStateHoweverItIsCutIntoReads) {
  const std::string text = "10%\r20%\r\r30%\n\rnext\r\nx\r";
  for (size_t at = 0; at <= text.size(); ++at) {
    ASSERT_TRUE(RemoveFile(OutputPath(dir_.path())));
    OutputLog log = Open();
    log.Take(Stream::kOut, text.substr(0, at));
    log.Take(Stream::kOut, text.substr(at));
    log.EndOfStream(Stream::kOut);
    EXPECT_EQ(All(), "30%\nnext\nx") << at;
  }
}

TEST_F(OutputLogTest, ProgressIsWrittenOnceASecondAndOnlyWhileItIsTrue) {
  OutputLog log = Open();
  OutputReader reader(dir_.path());
  log.Take(Stream::kErr, "begin\n10%");
  EXPECT_FALSE(log.Tick());
  EXPECT_TRUE(reader.Progress().empty()) << "the reader has not come that far yet";
  ReadOn(reader);
  ASSERT_EQ(reader.Progress().size(), 1u);
  EXPECT_EQ(reader.Progress()[0].text, "10%");
  EXPECT_TRUE(reader.Progress()[0].is_stderr);
  log.Take(Stream::kErr, "\r20%");
  ASSERT_TRUE(log.Tick());
  EXPECT_EQ(reader.Progress()[0].text, "10%");
  clock_.Tick(Millis(1001));
  EXPECT_FALSE(log.Tick());
  EXPECT_EQ(reader.Progress()[0].text, "20%");
  log.Take(Stream::kErr, "\r100%\n");
  ReadOn(reader);
  EXPECT_TRUE(reader.Progress().empty());
  log.Finish();
  EXPECT_FALSE(FileExists(ProgressPath(dir_.path())));
}

TEST_F(OutputLogTest, TheMiddleIsDroppedBeyondTheLimitAndTheFileSaysSo) {
  constexpr int64_t kLimit = 2 << 20;
  OutputLog log = Open(kLimit);
  OutputReader follower(dir_.path());
  std::string followed;
  const std::string filler(900, '.');
  for (int i = 0; i < 20000; ++i) {
    log.Take(Stream::kOut, std::to_string(i) + filler + "\n");
    ASSERT_LE(Size(), kLimit);
    if (i % 100 == 0) followed += ReadOn(follower);
  }
  followed += ReadOn(follower);
  const std::string all = All();
  EXPECT_TRUE(all.starts_with("0."));
  EXPECT_NE(all.find("\n19999."), std::string::npos);
  EXPECT_NE(all.find("bytes of this log were dropped here"), std::string::npos);
  EXPECT_GT(Size(), kLimit / 4);
  // Whoever read along has every line once, and heard of no gap.
  EXPECT_EQ(followed.find("dropped"), std::string::npos);
  int line = 0;
  for (const std::string_view text : Split(Trim(followed), '\n')) {
    ASSERT_TRUE(text.starts_with(std::to_string(line) + ".")) << text.substr(0, 20) << " " << line;
    ++line;
  }
  EXPECT_EQ(line, 20000);
}

TEST_F(OutputLogTest, AReaderThatFellBehindHearsOfTheGap) {
  constexpr int64_t kLimit = 2 << 20;
  OutputLog log = Open(kLimit);
  OutputReader follower(dir_.path());
  const std::string filler(900, '.');
  for (int i = 0; i < 1000; ++i) log.Take(Stream::kOut, std::to_string(i) + filler + "\n");
  OutputReader later(dir_.path(), [&] {
    ReadOn(follower);
    return follower.position();
  }());
  for (int i = 1000; i < 20000; ++i) log.Take(Stream::kOut, std::to_string(i) + filler + "\n");
  const std::string text = ReadOn(later);
  EXPECT_TRUE(text.starts_with("[")) << text.substr(0, 100);
  EXPECT_NE(text.find("dropped"), std::string::npos);
  EXPECT_NE(text.find("\n19999."), std::string::npos);
  EXPECT_EQ(later.position(), [&] {
    OutputReader all(dir_.path());
    ReadOn(all);
    return all.position();
  }());
}

// A file size limit is a disk that is full for this process alone.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FullDisk() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST_F(OutputLogTest, AFullDiskLosesOutputAndSaysHowMuch) {
  OutputLog log = Open();
  log.Take(Stream::kOut, "kept\n");
  {
    const FullDisk full(60);
    log.Take(Stream::kOut, "this does not fit any more\n");
    log.Take(Stream::kOut, "nor does this, by no means\n");
  }
  log.Take(Stream::kOut, "back\n");
  EXPECT_EQ(All(),
            "kept\n[108 bytes of this log were lost here: they could not be written]\nback\n");
}

TEST_F(OutputLogTest, ALossIsToldAlsoWhereNothingFollows) {
  OutputLog log = Open();
  {
    const FullDisk full(10);
    log.Take(Stream::kOut, "gone\n");
    log.TellLoss();
  }
  EXPECT_EQ(All(), "");
  log.TellLoss();
  log.TellLoss();
  EXPECT_EQ(All(), "[32 bytes of this log were lost here: they could not be written]\n");
}

TEST_F(OutputLogTest, AForeignFileIsReadAsItIs) {
  const auto fd = OpenFile(OutputPath(dir_.path()), O_WRONLY | O_CREAT);
  ASSERT_TRUE(WriteAll(*fd, "no frame here\n2026-12-01T02:44:08.123Z o framed\ntorn", ""));
  EXPECT_EQ(All(), "no frame here\nframed\n");
}

}  // namespace
}  // namespace stoker::jobs
