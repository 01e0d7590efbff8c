#include "results.h"

#include <gtest/gtest.h>

#include "json.h"

namespace stoker::house {
namespace {

constexpr char kResult[] = R"({
  "tests": 3, "name": "AllTests",
  "testsuites": [{"name": "Fd", "tests": 3, "testsuite": [
    {"name": "Closes", "file": "\/any\/src\/base\/fd_test.cc", "line": 4, "status": "RUN",
     "result": "COMPLETED", "classname": "Fd"},
    {"name": "Waits", "file": "..\/..\/src\/base\/fd_test.cc", "status": "RUN",
     "result": "SKIPPED", "classname": "Fd"},
    {"name": "Breaks", "file": "\/any\/src\/base\/fd_test.cc", "status": "RUN",
     "result": "COMPLETED", "failures": [{"failure": "no\n\u00b0", "type": ""}]},
    {"name": "DISABLED_Off", "file": "\/any\/src\/base\/other_test.cc", "status": "NOTRUN",
     "result": "SUPPRESSED"}]}]})";

TEST(Results, AreReadAsGoogleTestWritesThem) {
  std::vector<Finding> findings;
  const auto cases = ReadCases({"r.json", kResult}, findings);
  EXPECT_TRUE(findings.empty());
  ASSERT_EQ(cases.size(), 3u);  // what did not run is no case
  EXPECT_EQ(cases[0].name, "Fd.Closes");
  EXPECT_EQ(cases[0].file, "/any/src/base/fd_test.cc");
  EXPECT_TRUE(cases[1].skipped);
  EXPECT_TRUE(cases[2].failed);
}

TEST(Results, ThatAreCutShortAreSaidToBe) {
  std::vector<Finding> findings;
  const std::string text = kResult;
  for (size_t cut : {size_t{0}, size_t{40}, text.size() / 2, text.size() - 1}) {
    findings.clear();
    EXPECT_TRUE(ReadCases({"r.json", text.substr(0, cut)}, findings).empty());
    EXPECT_EQ(findings.size(), 1u);
  }
}

TEST(TestsRan, CountsAndFailsWhereAFileRanNothing) {
  std::vector<Finding> findings;
  const auto cases = ReadCases({"r.json", kResult}, findings);
  const Tree tree({{"src/base/fd_test.cc", ""},
                   {"src/base/other_test.cc", ""},
                   {"src/base/new_test.cc", ""},
                   {"src/train/loop_test.cc", ""}});
  const TestReport report =
      CheckTestsRan(tree, {"/any/src/base/fd_test.cc", "/any/src/base/other_test.cc"}, cases);
  EXPECT_EQ(report.LastLine(), "1 passed, 1 failed, 1 skipped");
  EXPECT_EQ(report.skipped_names, std::vector<std::string>{"Fd.Waits"});
  EXPECT_EQ(report.not_built, std::vector<std::string>{"src/train/loop_test.cc"});
  ASSERT_EQ(report.findings.size(), 2u);
  EXPECT_TRUE(report.findings[0].Line().starts_with("src/base/new_test.cc:1: is not built"));
  EXPECT_TRUE(report.findings[1].Line().starts_with("src/base/other_test.cc:1: ran no case"));
}

TEST(TestsRan, DoesNotTakeOneFileForAnother) {
  const Tree tree({File{"src/base/fd_test.cc", ""}});
  const std::vector<std::string> compiled = {"/any/src/base/fd_test.cc"};
  const auto report =
      CheckTestsRan(tree, compiled, {{"/any/src/base/big_fd_test.cc", "A.B", "", false, false}});
  EXPECT_EQ(report.findings.size(), 1u);
}

TEST(TestsRan, WantsEveryScenario) {
  const Tree tree({{"test/scenarios/full-disk.scenario", ""},
                   {"test/scenarios/kill.scenario", ""},
                   {"test/scenarios/port.scenario", ""}});
  const auto report =
      CheckTestsRan(tree, {},
                    {{"/any/test/s_test.cc", "All/Scenario.Holds/full_disk", "", false, false},
                     {"/any/test/scenarios/port.scenario", "Scenario.port", "", true, false}});
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_TRUE(report.findings[0].Line().starts_with("test/scenarios/kill.scenario:1: no test ran"));
}

TEST(Json, RefusesWhatIsNoJson) {
  for (const char* bad : {"", "{", "[1,]", "{\"a\" 1}", "\"x", "tru", "[1] 2"}) {
    EXPECT_FALSE(ReadJson(bad).has_value()) << bad;
  }
  EXPECT_FALSE(ReadJson(std::string(100000, '[')).has_value());
  const auto value = ReadJson(R"({"a": [1, -2.5e3, true, null, "x\ty"], "b": {}})");
  ASSERT_TRUE(value.has_value());
  ASSERT_EQ(value->Get("a")->items.size(), 5u);
  EXPECT_EQ(value->Get("a")->items[4].text, "x\ty");
}

}  // namespace
}  // namespace stoker::house
