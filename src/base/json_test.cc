#include "base/json.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/log.h"

namespace stoker {
namespace {

TEST(JsonTest, SaysWhereItIsWrong) {
  const auto bad = ParseJson("{\n\"a\": 1,\n}", "box.json");
  EXPECT_EQ(bad.error().Line(), "box.json: not valid JSON at line 3, byte 11");
  EXPECT_FALSE(ParseJson(""));
  EXPECT_FALSE(ParseJson("{} x"));
}

TEST(JsonTest, RefusesDepthAndSize) {
  EXPECT_FALSE(ParseJson(std::string(100'000, '[')));
  EXPECT_TRUE(ParseJson(std::string(60, '[') + std::string(60, ']')));
  EXPECT_FALSE(ParseJson("[1,2,3]", "x", 4));
}

TEST(JsonTest, GettersAnswerOnlyForTheRightType) {
  const Json json =
      *ParseJson(R"({"s":"x","i":3,"f":1.5,"b":true,"n":null,"big":18446744073709551615})");
  EXPECT_EQ(JsonString(json, "s"), "x");
  EXPECT_EQ(JsonInt(json, "i"), 3);
  EXPECT_EQ(JsonNumber(json, "i"), 3.0);
  EXPECT_EQ(JsonInt(json, "f"), std::nullopt);
  EXPECT_EQ(JsonInt(json, "big"), std::nullopt);
  EXPECT_EQ(JsonBool(json, "b"), true);
  EXPECT_EQ(JsonString(json, "n"), std::nullopt);
  EXPECT_EQ(JsonString(json, "none"), std::nullopt);
}

TEST(JsonTest, DumpsAnythingAsValidJson) {
  Json json;
  json["z"] = "\xff";
  json["a"] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(DumpJson(json), "{\"z\":\"\uFFFD\",\"a\":null}");
}

TEST(LogTest, RepeatsAreSwallowedAndCounted) {
  auto pipe = MakePipe();
  FakeClock clock(WallTime{0});
  auto log = MakeFdLogger(std::move(pipe->write), LogLevel::kInfo, clock);
  log->Write(LogLevel::kDebug, "m", "never");
  for (int i = 0; i < 3; ++i) log->Warn("m", "bad {}", "thing\n");
  clock.Tick(Millis(61'000));
  log->Warn("m", "bad {}", "thing\n");
  log.reset();
  char text[4096];
  const size_t size = *ReadSome(pipe->read, text, sizeof text, "");
  EXPECT_EQ(std::string(text, size),
            "1970-01-01T00:00:00.000Z warn  m bad thing\\n\n"
            "1970-01-01T00:01:01.000Z warn  m bad thing\\n (2 more such lines in between)\n");
}

}  // namespace
}  // namespace stoker
