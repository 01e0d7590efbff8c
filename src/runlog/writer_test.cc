#include "runlog/writer.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/file.h"
#include "runlog/tail.h"

namespace stoker::runlog {
namespace {

TEST(Writer, StampsAndAppends) {
  const TempDir dir = *TempDir::Make();
  const std::string path = JoinPath(dir.path(), "run.jsonl");
  FakeClock clock(WallTime{1796093048123});
  const auto writer = Writer::Open(path, clock);
  ASSERT_TRUE(writer);
  RunEvent event;
  event.text = "hello";
  ASSERT_TRUE((*writer)->Append(event));
  EXPECT_EQ(*ReadFile(path),
            "{\"at\":\"2026-12-01T02:44:08.123Z\",\"kind\":\"note\","
            "\"text\":\"hello\"}\n");
}

TEST(Writer, ManyWritersShareAFile) {
  const TempDir dir = *TempDir::Make();
  const std::string path = JoinPath(dir.path(), "run.jsonl");
  const SystemClock clock;
  const auto shared = Writer::Open(path, clock);
  ASSERT_TRUE(shared);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const auto own = Writer::Open(path, clock);
      for (int i = 0; i < 200; ++i) {
        RunEvent event;
        event.kind = Kind::kStep;
        event.step = i;
        event.metrics["train/loss"] = t;
        Ignore((t % 2 == 0 ? **shared : **own).Append(event));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto batch = ReadNew(path, "", false);
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->lines.size(), 800u);
  for (const std::string& line : batch->lines) EXPECT_TRUE(ParseLine(line)) << line;
}

TEST(Writer, AFullDiskIsAnErrorOfOneLine) {
  const SystemClock clock;
  const auto writer = Writer::Open("/dev/full", clock);
  if (!writer) GTEST_SKIP() << "no /dev/full here";
  const Status status = (*writer)->Append(RunEvent{});
  ASSERT_FALSE(status);
  EXPECT_TRUE(MayRetry(status.error().code));
}

}  // namespace
}  // namespace stoker::runlog
