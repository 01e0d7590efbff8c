#include "base/text.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stoker {
namespace {

TEST(TextTest, PrintableKeepsWordsAndDefusesControls) {
  EXPECT_EQ(Printable("Grüße, 世界"), "Grüße, 世界");
  EXPECT_EQ(Printable("a\nb\t\x1b]0;x\x07"), "a\\nb\\t\\x1b]0;x\\x07");
  EXPECT_EQ(Printable("\xff\xc0\x80"), "\\xff\\xc0\\x80");
  EXPECT_EQ(Printable("a\u202Egpj.exe"), "a\uFFFDgpj.exe");
}

TEST(TextTest, NumbersAsPeopleReadThem) {
  EXPECT_EQ(FormatBytes(1.8e9), "1.8 GB");
  EXPECT_EQ(FormatBytes(512), "512 B");
  EXPECT_EQ(FormatBytes(999'999), "1.0 MB");
  EXPECT_EQ(FormatDuration(Seconds(69'018)), "19 h 10 min");
  EXPECT_EQ(FormatDuration(Seconds(218)), "3 min 38 s");
  EXPECT_EQ(FormatDuration(Seconds(0.12)), "120 ms");
  EXPECT_EQ(FormatDuration(Seconds(4.25)), "4.2 s");
  EXPECT_EQ(FormatDuration(Seconds(59.99)), "1 min");
  EXPECT_EQ(FormatDuration(Seconds(3.7 * 86400)), "3 d 17 h");
  EXPECT_EQ(FormatEnergy(Joules(228'940'189)), "63.6 kWh");
  EXPECT_EQ(FormatEnergy(Joules(940)), "940 J");
  EXPECT_EQ(FormatCount(1'030), "1,030");
  EXPECT_EQ(FormatCount(1'530'156), "1.53 M");
}

TEST(TextTest, ParsesWholeNumbersOnly) {
  EXPECT_EQ(ParseInt("42"), 42);
  EXPECT_EQ(ParseInt("42 "), std::nullopt);
  EXPECT_EQ(ParseDouble("1e-3"), 0.001);
  EXPECT_EQ(ParseDouble("1,5"), std::nullopt);
  EXPECT_EQ(ParseDouble(""), std::nullopt);
  EXPECT_TRUE(std::isnan(*ParseDouble("nan")));
}

TEST(TextTest, ParsesDurations) {
  EXPECT_EQ(ParseDuration("1h30m")->count(), 5400);
  EXPECT_EQ(ParseDuration("90s")->count(), 90);
  for (const char* bad : {"", "90", "1x", "-1s", "s"}) EXPECT_FALSE(ParseDuration(bad)) << bad;
}

TEST(TextTest, SuggestsWhatWasMeant) {
  const std::vector<std::string> words = {"jobs", "job", "explain", "restore"};
  EXPECT_EQ(Suggest("expalin", words), "explain");
  EXPECT_EQ(Suggest("jbos", words), "jobs");
  EXPECT_EQ(Suggest("zzzzzz", words), std::nullopt);
}

TEST(TextTest, EllipsisCountsColumnsNotBytes) {
  EXPECT_EQ(Ellipsize("äöü", 3), "äöü");
  EXPECT_EQ(Ellipsize("äöüß", 3), "äö…");
}

TEST(TextTest, EscapesHtml) {
  EXPECT_EQ(EscapeHtml("<a b='\"&'>"), "&lt;a b=&#39;&quot;&amp;&#39;&gt;");
}

}  // namespace
}  // namespace stoker
