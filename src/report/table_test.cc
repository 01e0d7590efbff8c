#include "report/table.h"

#include <gtest/gtest.h>

#include "report/text.h"

namespace stoker::report {
namespace {

TEST(TableTest, ColumnsAreAlignedAndNoLineEndsInSpaces) {
  Table table({{"ID", true}, {"NAME"}, {"NOTE"}});
  table.Add({{"7"}, {"a"}, {""}});
  table.Add({{"128"}, {"long name"}, {"x"}});
  EXPECT_EQ(table.Render({80, false}),
            " ID  NAME       NOTE\n"
            "  7  a\n"
            "128  long name  x\n");
}

TEST(TableTest, ColumnsWithoutTextAreLeftOut) {
  Table table({{"A"}, {"B"}, {"C"}});
  table.Add({{"1"}, {""}, {"3"}});
  EXPECT_EQ(table.Render({80, false}), "A  C\n1  3\n");
}

TEST(TableTest, OnlyColumnsThatGiveAreCutToTheWidth) {
  Table table({{"ID"}, {"NAME", false, true}});
  table.Add({{"12345"}, {"a very long name that does not fit"}});
  EXPECT_EQ(table.Render({20, false}), "ID     NAME\n12345  a very long…\n");
}

TEST(TableTest, WideLettersTakeTwoColumns) {
  EXPECT_EQ(DisplayWidth("夜勤"), 4);
  EXPECT_EQ(DisplayWidth("e\xCC\x81"), 1);
  EXPECT_EQ(Fit("夜勤の火", 5), "夜勤…");
  EXPECT_EQ(Fit("夜勤", 6), "夜勤  ");
  EXPECT_EQ(Fit("12", 4, true), "  12");
  EXPECT_EQ(DisplayWidth("\xF0\x9F"), 2);  // torn: counted, not read past
}

TEST(TableTest, ColoursOnlyWhereAllowedAndAlwaysClosed) {
  EXPECT_EQ(Toned("x", Tone::kBad, {80, false}), "x");
  EXPECT_EQ(Toned("x", Tone::kBad, {80, true}), "\x1b[31mx\x1b[0m");
  EXPECT_EQ(Toned("", Tone::kBad, {80, true}), "");
}

TEST(TableTest, BarsFillByEighths) {
  EXPECT_EQ(Bar(0, 4), "····");
  EXPECT_EQ(Bar(1, 4), "████");
  EXPECT_EQ(Bar(7, 4), "████");
  EXPECT_EQ(Bar(0.5, 4), "██··");
  EXPECT_EQ(Bar(0.53125, 4), "██▏·");
}

TEST(TableTest, WrapsAtWords) {
  EXPECT_EQ(Wrap("one two three four", 9), (std::vector<std::string>{"one two", "three", "four"}));
  EXPECT_EQ(Wrap("abcdefghijklmnop", 8), (std::vector<std::string>{"abcdefgh", "ijklmnop"}));
}

}  // namespace
}  // namespace stoker::report
