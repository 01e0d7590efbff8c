#include "tree.h"

#include <gtest/gtest.h>

namespace stoker::house {
namespace {

TEST(MaskCode, BlanksCommentsAndLiteralsAndKeepsEveryOffset) {
  const std::string text =
      "int a = 1;  // new kill(\n"
      "/* delete\n new */ int b = 2;\n"
      "const char* s = \"new \\\" delete\"; char c = '\"'; int big = 1'000'000;\n";
  const std::string masked = MaskCode(text);
  ASSERT_EQ(masked.size(), text.size());
  EXPECT_EQ(masked.find("new"), std::string::npos);
  EXPECT_EQ(masked.find("delete"), std::string::npos);
  EXPECT_NE(masked.find("int b = 2;"), std::string::npos);
  EXPECT_NE(masked.find("int big = 1'000'000;"), std::string::npos);
  EXPECT_EQ(Lines(masked).size(), Lines(text).size());
}

TEST(MaskCode, BlanksRawStringsToTheirOwnEnd) {
  const std::string masked = MaskCode("auto s = R\"x(new \" )\" delete)x\"; int after = 3;");
  EXPECT_EQ(masked.find("new"), std::string::npos);
  EXPECT_EQ(masked.find("delete"), std::string::npos);
  EXPECT_NE(masked.find("int after = 3;"), std::string::npos);
}

TEST(MaskCode, SurvivesTextThatEndsInTheMiddle) {
  for (const char* text : {"\"abc", "'a", "/* x", "// y", "R\"(z", "R\"", "\"\\", "'"}) {
    EXPECT_EQ(MaskCode(text).size(), std::string_view(text).size()) << text;
  }
}

TEST(Includes, SeesBothKindsAndNoCommentedOnes) {
  const auto found = Includes(
      "#include <map>\n"
      "// #include \"no/no.h\"\n"
      "#  include \"base/fd.h\"  // why\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].path, "map");
  EXPECT_FALSE(found[0].quoted);
  EXPECT_EQ(found[1].path, "base/fd.h");
  EXPECT_EQ(found[1].line, 3);
  EXPECT_TRUE(found[1].quoted);
}

TEST(FindWord, WantsWholeWords) {
  EXPECT_EQ(FindWord("renew new newer", "new").size(), 1u);
  EXPECT_EQ(FindWord("std::cout << x", "std::cout").size(), 1u);
}

TEST(Tree, FindsFilesByTheirWholePath) {
  const Tree tree({{"src/b/x.h", "2"}, {"src/a/x.h", "1"}});
  ASSERT_NE(tree.Find("src/a/x.h"), nullptr);
  EXPECT_EQ(tree.Find("src/a/x.h")->text, "1");
  EXPECT_EQ(tree.Find("src/a/x"), nullptr);
  EXPECT_TRUE(tree.HasFolder("src/b"));
  EXPECT_FALSE(tree.HasFolder("src/c"));
  EXPECT_EQ(ModuleOf("src/base/sub/fd.h"), "base");
  EXPECT_EQ(ModuleOf("sim/fd.h"), "");
}

TEST(Finding, IsOneLineWithItsAdvice) {
  EXPECT_EQ((Finding{"a.h", 3, "bad", "mend it"}).Line(), "a.h:3: bad (mend it)");
}

}  // namespace
}  // namespace stoker::house
