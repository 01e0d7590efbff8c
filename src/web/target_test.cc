#include "web/target.h"

#include <gtest/gtest.h>

namespace stoker::web {
namespace {

TEST(Target, SplitsPathAndParameters) {
  const auto target = ParseTarget("/api/v1/jobs/7?state=running%2Cfailed&limit=5&");
  ASSERT_TRUE(target) << target.error().Line();
  EXPECT_EQ(target->segments, (std::vector<std::string>{"api", "v1", "jobs", "7"}));
  EXPECT_EQ(target->parameters.at("state"), "running,failed");
  EXPECT_EQ(target->parameters.at("limit"), "5");
  EXPECT_EQ(target->parameters.size(), 2u);
  EXPECT_TRUE(ParseTarget("/")->segments.empty());
}

TEST(Target, PlusStaysAPlusSoThatTimesMayHaveAnOffset) {
  const auto target = ParseTarget("/x?from=2026-10-18T08:35:00+02:00");
  ASSERT_TRUE(target);
  const auto time = ParseTimeParameter(target->parameters.at("from"), "from", WallTime{0});
  ASSERT_TRUE(time) << time.error().Line();
  EXPECT_EQ(FormatTime(*time), "2026-10-18T06:35:00.000Z");
}

TEST(Target, RefusesWhatIsNoPath) {
  for (const char* bad :
       {"", "x", "http://evil.example/", "*", "/..", "/../etc/passwd", "/a/%2e%2e/b", "/a/./b",
        "/%", "/%2", "/%zz", "/%00", "/a%0d%0aSet-Cookie:x", "/\x01", "/x?a=1&a=2", "/x?%=1"}) {
    const auto target = ParseTarget(bad);
    ASSERT_FALSE(target) << bad;
    EXPECT_EQ(target.error().code, Code::kInvalid) << bad;
    EXPECT_EQ(target.error().Line().find('\n'), std::string::npos) << bad;
  }
  EXPECT_FALSE(ParseTarget("/" + std::string(5000, 'a')));
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "/a";
  EXPECT_FALSE(ParseTarget(deep));
  std::string many = "/?";
  for (int i = 0; i < 200; ++i) many += "a" + std::to_string(i) + "=1&";
  EXPECT_FALSE(ParseTarget(many));
}

// An encoded slash is part of a name, not a way into another folder.
TEST(Target, EncodedSlashStaysInItsSegment) {
  const auto target = ParseTarget("/a%2fb/c");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->segments, (std::vector<std::string>{"a/b", "c"}));
}

TEST(Target, TimesMayBeRelative) {
  const WallTime now{1'790'000'000'000};
  EXPECT_EQ(ParseTimeParameter("now", "to", now)->ms, now.ms);
  EXPECT_EQ(ParseTimeParameter("-1h", "from", now)->ms, now.ms - 3'600'000);
  EXPECT_EQ(ParseTimeParameter("-1h30m", "from", now)->ms, now.ms - 5'400'000);
  for (const char* bad : {"", "-", "1h", "yesterday", "-99999999999999999d", "--1h", "-nan"}) {
    const auto time = ParseTimeParameter(bad, "from", now);
    ASSERT_FALSE(time) << bad;
    EXPECT_NE(time.error().Line().find("from"), std::string::npos);
    EXPECT_NE(time.error().advice, "");
  }
}

TEST(Target, NumbersAreBounded) {
  EXPECT_EQ(*ParseIntParameter("12", "points", 1, 100), 12);
  for (const char* bad : {"", "0", "101", "-1", "1.5", "12x", "99999999999999999999"}) {
    EXPECT_FALSE(ParseIntParameter(bad, "points", 1, 100)) << bad;
  }
}

}  // namespace
}  // namespace stoker::web
