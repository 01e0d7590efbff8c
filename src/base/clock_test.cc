#include "base/clock.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(TimeTest, FormatsAsRfc3339InUtcWithMilliseconds) {
  EXPECT_EQ(FormatTime(WallTime{0}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(FormatTime(WallTime{1'792'305'300'569}), "2026-10-18T06:35:00.569Z");
  EXPECT_EQ(FormatTime(WallTime{-1}), "1969-12-31T23:59:59.999Z");
}

TEST(TimeTest, ReadsAnyOffsetAndFraction) {
  EXPECT_EQ(ParseTime("2026-10-18T06:35:00.569Z")->ms, 1'792'305'300'569);
  EXPECT_EQ(ParseTime("2026-10-18T08:35:00.569123+02:00")->ms, 1'792'305'300'569);
  EXPECT_EQ(ParseTime("2026-10-18 01:05:00-0530")->ms, 1'792'305'300'000);
  EXPECT_EQ(ParseTime("2024-02-29T00:00:00Z")->ms, 1'709'164'800'000);
}

TEST(TimeTest, RefusesWhatIsNoTime) {
  for (const char* text : {"", "yesterday", "2026-10-18", "2026-02-29T00:00:00Z",
                           "2026-13-01T00:00:00Z", "2026-10-18T24:00:00Z", "2026-10-18T06:35:00",
                           "2026-10-18T06:35:00+2", "2026-1a-18T06:35:00Z"}) {
    const auto parsed = ParseTime(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, Code::kInvalid);
  }
}

TEST(FakeClockTest, MovesOnlyWhenTicked) {
  FakeClock clock(WallTime{1000});
  const MonoTime mono = clock.Mono();
  EXPECT_EQ(clock.Now().ms, 1000);
  clock.Tick(Millis(250));
  EXPECT_EQ(clock.Now().ms, 1250);
  EXPECT_EQ(clock.Mono() - mono, std::chrono::milliseconds(250));
  clock.StepWall(Millis(-3'600'000));
  EXPECT_EQ(clock.Mono() - mono, std::chrono::milliseconds(250));
}

TEST(SystemClockTest, MonoNeverGoesBack) {
  const SystemClock clock;
  const MonoTime a = clock.Mono();
  EXPECT_GE(clock.Mono(), a);
  EXPECT_GT(clock.Now().ms, 1'700'000'000'000);
}

}  // namespace
}  // namespace stoker
