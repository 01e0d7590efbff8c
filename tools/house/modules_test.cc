#include "modules.h"

#include <gtest/gtest.h>

namespace stoker::house {
namespace {

File Readme(const std::string& name, int rank, const std::string& may) {
  return {"src/" + name + "/README.md",
          "Does " + name + ".\n\nRank: " + std::to_string(rank) + "\nMay include: " + may + "\n"};
}

std::vector<std::string> Errors(const std::vector<Finding>& findings) {
  std::vector<std::string> lines;
  for (const Finding& finding : findings) {
    if (!finding.warning) lines.push_back(finding.Line());
  }
  return lines;
}

TEST(Ranks, AreHeldByAGoodTree) {
  const Tree tree(
      {Readme("base", 0, "nothing"),
       Readme("device", 1, "base"),
       {"src/base/fd.h", "#include <string>\n"},
       {"src/device/probe.cc", "#include \"device/probe.h\"\n#include \"base/fd.h\"\n"}});
  EXPECT_TRUE(CheckRanks(tree).empty());
}

TEST(Ranks, RefuseAnIncludeThatTheReadmeDoesNotName) {
  const Tree tree({Readme("base", 0, "nothing"),
                   Readme("ledger", 1, "base"),
                   Readme("jobs", 2, "base"),
                   {"src/jobs/a_test.cc", "\n#include \"ledger/l.h\"\n"}});
  const auto errors = Errors(CheckRanks(tree));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(
      errors[0],
      "src/jobs/a_test.cc:2: jobs may not include ledger (name it in src/jobs/README.md or do "
      "without)");
}

TEST(Ranks, RefuseSidewaysAndUpwardsEvenWhereTheReadmeNamesThem) {
  const Tree tree(
      {Readme("base", 0, "jobs"), Readme("jobs", 2, "base, vault"), Readme("vault", 2, "base")});
  const auto errors = Errors(CheckRanks(tree));
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_NE(errors[0].find("rank 0 may not include jobs, rank 2"), std::string::npos);
  EXPECT_NE(errors[1].find("rank 2 may not include vault, rank 2"), std::string::npos);
}

TEST(Ranks, RefuseAnIncludeThatNamesNoModule) {
  const Tree tree({Readme("base", 0, "nothing"), {"src/base/a.cc", "#include \"fd.h\"\n"}});
  const auto errors = Errors(CheckRanks(tree));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].find("does not begin with a module"), std::string::npos);
}

TEST(Ranks, WantAReadmeWithItsThreeLines) {
  const Tree tree({{"src/base/fd.h", ""}, {"src/x/README.md", "No rank here.\n"}});
  const auto errors = Errors(CheckRanks(tree));
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_NE(errors[0].find("src/base/README.md:1: the module has no README.md"), std::string::npos);
  EXPECT_NE(errors[1].find("src/x/README.md:1: the module does not say"), std::string::npos);
}

TEST(Ranks, OnlyNoteANameThatNothingUses) {
  const Tree tree({Readme("base", 0, "nothing"),
                   Readme("ledger", 1, "base"),
                   Readme("jobs", 2, "base, ledger"),
                   {"src/jobs/a.cc", "#include \"base/b.h\"\n"}});
  const auto findings = CheckRanks(tree);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_TRUE(findings[0].warning);
  EXPECT_NE(findings[0].Line().find("names ledger, which nothing includes"), std::string::npos);
}

constexpr char kDocument[] =
    "# A\n<!-- modules: written by `house table --write` -->\nold\n<!-- /modules -->\nB\n";

TEST(Table, IsRenewedBetweenItsMarksAndThenHolds) {
  std::vector<File> files = {
      Readme("ledger", 1, "base"), Readme("base", 0, "nothing"), {"ARCHITECTURE.md", kDocument}};
  ASSERT_EQ(CheckTable(Tree(files)).size(), 1u);
  std::vector<Finding> findings;
  const std::string renewed = WithModuleTable(kDocument, ReadModules(Tree(files), findings));
  EXPECT_TRUE(findings.empty());
  EXPECT_LT(renewed.find("| 0 | [`base/`](src/base) | Does base. | nothing |"),
            renewed.find("| 1 | [`ledger/`](src/ledger) | Does ledger. | base |"));
  EXPECT_EQ(renewed.find("old"), std::string::npos);
  EXPECT_TRUE(renewed.ends_with("<!-- /modules -->\nB\n"));
  files[2].text = renewed;
  EXPECT_TRUE(CheckTable(Tree(files)).empty());
}

TEST(Table, SaysWhereItsMarksAreMissing) {
  const auto findings = CheckTable(Tree({File{"ARCHITECTURE.md", "# A\n"}}));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].Line().find("the module table is missing"), std::string::npos);
}

}  // namespace
}  // namespace stoker::house
