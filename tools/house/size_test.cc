#include "size.h"

#include <gtest/gtest.h>

namespace stoker::house {
namespace {

std::string Body(int lines) {
  std::string text = "{\n";
  for (int i = 0; i < lines - 2; ++i) text += "  f();\n";
  return text + "}\n";
}

TEST(Functions, AreFoundInNamespacesAndClasses) {
  const auto found = Functions(
      "namespace a {\n"
      "class CAPABILITY(\"mutex\") M : public N {\n"
      " public:\n"
      "  int size() const { return 1; }\n"
      "  explicit M(int x);\n"
      "};\n"
      "template <typename T = int>\n"
      "T Make(const T& x = {}) {\n"
      "  return [&] { if (x) { return x; } return x; }();\n"
      "}\n"
      "}  // namespace a\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "size");
  EXPECT_EQ(found[0].line, 4);
  EXPECT_EQ(found[0].lines, 1);
  EXPECT_EQ(found[1].name, "Make");
  EXPECT_EQ(found[1].line, 7);
  EXPECT_EQ(found[1].lines, 4);
}

TEST(Functions, KnowAMemberListFromABody) {
  const auto found = Functions(
      "A::A(int x)\n"
      "    : std::vector<int>(x), a_{x}, b_(2) {\n"
      "  f();\n"
      "}\n"
      "A::~A() = default;\n"
      "auto B::operator=(B&& b) noexcept -> B& {\n"
      "  return *this;\n"
      "}\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "A::A");
  EXPECT_EQ(found[0].lines, 4);
  EXPECT_EQ(found[1].name, "B::operator=");
  EXPECT_EQ(found[1].lines, 3);
}

TEST(Functions, AreNotTablesEnumsOrDirectives) {
  EXPECT_TRUE(Functions("enum class E : int {\n  kA,\n  kB,\n};\n"
                        "const Row kRows[] = {{F(1), 2}, {F(2), 3}};\n"
                        "constexpr std::array<int, 2> kTwo{1, 2};\n"
                        "#define LOOP(x) \\\n  while (x) { \\\n"
                        "struct S {\n  int a = 0;\n  std::string b{};\n};\n")
                  .empty());
}

TEST(Functions, NameATestByBothItsWords) {
  const auto found = Functions("TEST(Fd, ClosesItself) {\n  EXPECT_TRUE(\"}\");\n}\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "TEST(Fd, ClosesItself)");
  EXPECT_EQ(found[0].lines, 3);
}

TEST(Size, HoldsTheLimitsAndLeavesTestsAndGeneratedFilesOut) {
  std::string small;
  for (int i = 0; i < 19; ++i) small += "void F() " + Body(5);
  const Tree good({{"src/a/a.cc", small + "void G() " + Body(60)},
                   {"src/a/a_test.cc", "void T() " + Body(300)},
                   {"src/a/g.h", "// Written by gen; do not edit.\nvoid T() " + Body(2000)}});
  const SizeReport report = MeasureSize(good, {});
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(report.files, 1);
  EXPECT_EQ(report.functions, 20);
  EXPECT_EQ(report.function_median, 5);
  EXPECT_EQ(report.figures.function_p95, 5);
  EXPECT_EQ(report.function_max, 60);
  EXPECT_DOUBLE_EQ(report.figures.over_60_percent, 0);
}

TEST(Size, RefusesLongFunctionsAndFiles) {
  const Tree bad({{"src/a/a.cc", "void F() " + Body(61)}, {"test/t.cc", Body(901)}});
  std::string all;
  for (const Finding& finding : MeasureSize(bad, {}).findings) all += finding.Line() + "\n";
  EXPECT_NE(all.find("95 % of functions: lines is 61.0, allowed is 45.0"), std::string::npos);
  EXPECT_NE(all.find("functions over 60 lines: percent is 100.0"), std::string::npos);
  EXPECT_NE(all.find("test/t.cc:1: 901 lines, allowed are 900"), std::string::npos);
}

TEST(Ratchet, OnlyTightens) {
  const SizeFigures old = ParseRatchet("# why\nfunction_p95 40\nfile_p95 9999\n");
  EXPECT_EQ(old.function_p95, 40);
  EXPECT_EQ(old.file_p95, 450);  // never looser than the house
  const SizeFigures now{31, 0.2, 260, 512};
  const SizeFigures next = ParseRatchet(TightenedRatchet(now, old));
  EXPECT_EQ(next.function_p95, 35);
  EXPECT_DOUBLE_EQ(next.over_60_percent, 0.5);
  EXPECT_EQ(next.file_p95, 300);
  EXPECT_EQ(next.file_max, 600);
  const SizeFigures worse = ParseRatchet(TightenedRatchet({44, 2.9, 440, 890}, next));
  EXPECT_EQ(worse.function_p95, 35);
  EXPECT_EQ(worse.file_max, 600);
}

}  // namespace
}  // namespace stoker::house
