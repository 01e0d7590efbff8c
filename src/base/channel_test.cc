#include "base/channel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/thread.h"

namespace stoker {
namespace {

TEST(ChannelTest, DropsTheOldestAndCounts) {
  Channel<int, WhenFull::kDropOldest> channel(2);
  for (int i = 1; i <= 5; ++i) EXPECT_TRUE(channel.Send(i));
  EXPECT_EQ(channel.dropped(), 3u);
  EXPECT_EQ(channel.Receive(), 4);
  EXPECT_EQ(channel.Receive(), 5);
  EXPECT_EQ(channel.ReceiveFor(Millis(1)), std::nullopt);
}

TEST(ChannelTest, BlockingLosesNothingAcrossThreads) {
  Channel<int, WhenFull::kBlock> channel(3);
  std::thread sender([&] {
    for (int i = 0; i < 1000; ++i) channel.Send(i);
    channel.Close();
  });
  int expected = 0;
  while (const auto got = channel.Receive()) EXPECT_EQ(*got, expected++);
  EXPECT_EQ(expected, 1000);
  sender.join();
}

TEST(ChannelTest, CloseFreesAWaitingSender) {
  Channel<int, WhenFull::kBlock> channel(1);
  EXPECT_TRUE(channel.Send(1));
  std::thread sender([&] { EXPECT_FALSE(channel.Send(2)); });
  channel.Close();
  sender.join();
  EXPECT_EQ(channel.Receive(), 1);
  EXPECT_EQ(channel.Receive(), std::nullopt);
}

TEST(NamedThreadTest, StopCutsALongWaitShort) {
  std::atomic<int> rounds = 0;
  {
    NamedThread thread("test", [&](StopSignal& stop) {
      do ++rounds;
      while (!stop.WaitFor(Millis(3'600'000)));
    });
  }
  EXPECT_EQ(rounds, 1);
}

}  // namespace
}  // namespace stoker
