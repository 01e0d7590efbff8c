// One test a .scenario file, and the runner's own tests.
#include "scenario.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.h"

namespace stoker::scenario {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

Places FindPlaces() {
  Places places{.bin = Variable("STOKER_BIN"),
                .source = Variable("STOKER_SOURCE"),
                .data = Variable("STOKER_DATA"),
                .sim = Variable("STOKER_SIM_NVML")};
  if (places.data.empty()) places.data = CleanPath("../shared/data", places.source);
  return places;
}

class ScenarioFile : public testing::Test {
 public:
  explicit ScenarioFile(std::string path) : path_(std::move(path)) {}
  void TestBody() override {
    std::string skipped;
    const Status held = RunScenario(path_, FindPlaces(), skipped);
    if (!skipped.empty()) GTEST_SKIP() << skipped;
    EXPECT_TRUE(held) << held.error().Line();
  }

 private:
  const std::string path_;
};

TEST(ScenarioRunner, ReadsWordsQuotesAndComments) {
  const auto lines = ParseScenario("x", "# comment\n\nstoker run -- sh -c 'exit 3'\n  exit 3\n");
  ASSERT_TRUE(lines);
  ASSERT_EQ(lines->size(), 2u);
  EXPECT_EQ((*lines)[0].words.back(), "exit 3");
  EXPECT_EQ((*lines)[1].text, "3");
  EXPECT_FALSE(ParseScenario("x", "stoker 'open\n"));
}

TEST(ScenarioRunner, FindsValuesByPath) {
  const std::string json = R"({"jobs":[{"state":"failed","n":3}]})";
  EXPECT_EQ(*JsonAt(json, "jobs[0].state"), "failed");
  EXPECT_EQ(*JsonAt(json, "jobs[0].n"), "3");
  EXPECT_EQ(*JsonAt(json, "jobs.length"), "1");
  EXPECT_FALSE(JsonAt(json, "jobs[1].state"));
  EXPECT_FALSE(JsonAt("no json", "a"));
}

}  // namespace
}  // namespace stoker::scenario

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  using stoker::scenario::ScenarioFile;
  const std::string dir = stoker::scenario::Variable("STOKER_SOURCE") + "/test/scenarios";
  const auto entries = stoker::ListDir(dir);
  if (!entries) return 1;
  for (const auto& entry : *entries) {
    if (!entry.name.ends_with(".scenario")) continue;
    const std::string path = dir + "/" + entry.name;
    testing::RegisterTest("Scenario", entry.name.c_str(), nullptr, nullptr, path.c_str(), 1,
                          [path]() -> testing::Test* { return new ScenarioFile(path); });
  }
  return RUN_ALL_TESTS();
}
