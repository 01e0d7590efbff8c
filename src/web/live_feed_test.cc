#include "web/live_feed.h"

#include <gtest/gtest.h>

#include "web/test_box.h"

namespace stoker::web {
namespace {

class LiveFeedTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(box_.filled()) << box_.filled().error().Line(); }

  // The frames that wait for a viewer, one after another.
  static std::string Take(LiveFeed::Viewer& viewer) {
    std::string all;
    while (const LiveFeed::Frame frame = viewer.Pop()) all += *frame;
    return all;
  }
  static int Count(const std::string& text, std::string_view word) {
    int n = 0;
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
    return n;
  }

  TestBox box_;
};

TEST_F(LiveFeedTest, OneReadATickForAllViewers) {
  LiveFeed feed({}, box_.ledger(), box_.clock);
  std::vector<std::unique_ptr<LiveFeed::Viewer>> viewers;
  for (int i = 0; i < 20; ++i) viewers.push_back(feed.Join(std::nullopt));
  EXPECT_EQ(box_.ledger().box_reads, 1) << "all joined within one interval";
  box_.clock.Tick(Millis(1000));
  feed.Tick();
  EXPECT_EQ(box_.ledger().box_reads, 2);
  for (auto& viewer : viewers) {
    const std::string seen = Take(*viewer);
    EXPECT_EQ(Count(seen, "event: now\ndata: {"), 2);
    EXPECT_NE(seen.find("stokehold"), std::string::npos);
  }
}

TEST_F(LiveFeedTest, NewEventsOnceAndOldOnesNot) {
  LiveFeed feed({}, box_.ledger(), box_.clock);
  const auto viewer = feed.Join(std::nullopt);
  EXPECT_EQ(Count(Take(*viewer), "event: event"), 0) << "what was before is history";
  ASSERT_TRUE(box_.AddEvent("first"));
  ASSERT_TRUE(box_.AddEvent("second"));
  feed.Tick();
  const std::string seen = Take(*viewer);
  EXPECT_EQ(Count(seen, "event: event"), 2);
  EXPECT_LT(seen.find("first"), seen.find("second"));
  EXPECT_NE(seen.find("id: 2\n"), std::string::npos);
  feed.Tick();
  EXPECT_EQ(Count(Take(*viewer), "event: event"), 0);
}

TEST_F(LiveFeedTest, ReconnectingViewerGetsWhatItMissed) {
  LiveFeed feed({}, box_.ledger(), box_.clock);
  const auto other = feed.Join(std::nullopt);
  ASSERT_TRUE(box_.AddEvent("first"));
  ASSERT_TRUE(box_.AddEvent("second"));
  feed.Tick();
  const auto back = feed.Join(2);
  const std::string seen = Take(*back);
  EXPECT_EQ(seen.find("first"), std::string::npos);
  EXPECT_NE(seen.find("second"), std::string::npos);
}

TEST_F(LiveFeedTest, AloneItGetsThemToo) {
  LiveFeed feed({}, box_.ledger(), box_.clock);
  ASSERT_TRUE(box_.AddEvent("missed"));
  EXPECT_NE(Take(*feed.Join(1)).find("missed"), std::string::npos);
  // An id that no event has yet must not silence the feed.
  box_.clock.Tick(Millis(1000));
  const auto viewer = feed.Join(INT64_MAX);
  ASSERT_TRUE(box_.AddEvent("after all"));
  feed.Tick();
  EXPECT_NE(Take(*viewer).find("after all"), std::string::npos);
}

TEST_F(LiveFeedTest, SlowViewerIsDroppedAndOthersAreNot) {
  LiveFeed feed({.max_queue_bytes = 8192}, box_.ledger(), box_.clock);
  const auto slow = feed.Join(std::nullopt);
  const auto quick = feed.Join(std::nullopt);
  int woken = 0;
  slow->OnFrame([&] { ++woken; });
  for (int i = 0; i < 100; ++i) {
    feed.Tick();
    EXPECT_NE(Take(*quick), "");
  }
  EXPECT_TRUE(slow->dropped());
  EXPECT_EQ(slow->Pop(), nullptr) << "and its memory is free";
  EXPECT_GT(woken, 0);
  EXPECT_LT(woken, 100);
  EXPECT_FALSE(quick->dropped());
}

TEST_F(LiveFeedTest, ViewersAreCountedAndBounded) {
  LiveFeed feed({.max_viewers = 2}, box_.ledger(), box_.clock);
  auto first = feed.Join(std::nullopt);
  const auto second = feed.Join(std::nullopt);
  EXPECT_EQ(feed.Join(std::nullopt), nullptr);
  first.reset();
  EXPECT_EQ(feed.viewers(), 1u);
  EXPECT_NE(feed.Join(std::nullopt), nullptr);
}

TEST_F(LiveFeedTest, LedgerThatFailsIsToldOnceAndRecovers) {
  LiveFeed feed({}, box_.ledger(), box_.clock);
  const auto viewer = feed.Join(std::nullopt);
  Take(*viewer);
  box_.ledger().broken = true;
  feed.Tick();
  EXPECT_NE(Take(*viewer).find("event: fault\ndata: {\"schema_version\":1,\"error\":"),
            std::string::npos);
  feed.Tick();
  EXPECT_EQ(Take(*viewer), ": waiting\n\n") << "a heartbeat, no second alarm";
  box_.ledger().broken = false;
  feed.Tick();
  EXPECT_EQ(Count(Take(*viewer), "event: now"), 1);
}

}  // namespace
}  // namespace stoker::web
