#include "runlog/run_event.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "base/file.h"
#include "base/text.h"

namespace stoker::runlog {
namespace {

TEST(ParseLine, TakesTheShortestEpochLine) {
  const auto event = ParseLine(R"({"kind":"epoch","epoch":1,"metrics":{"val/acc":0.5}})");
  ASSERT_TRUE(event) << event.error().Line();
  EXPECT_EQ(event->kind, Kind::kEpoch);
  EXPECT_EQ(event->epoch, 1.0);
  EXPECT_FALSE(event->at);
  EXPECT_EQ(event->metrics.at("val/acc"), 0.5);
}

TEST(ParseLine, TakesNonFiniteNumbersAsPythonWritesThem) {
  const auto event = ParseLine(
      R"({"kind":"step","step":3,"metrics":{"a":NaN,"b":-Infinity,"c":"inf","NaN":"it \" NaN"}})");
  ASSERT_TRUE(event) << event.error().Line();
  EXPECT_TRUE(std::isnan(event->metrics.at("a")));
  EXPECT_EQ(event->metrics.at("b"), -INFINITY);
  EXPECT_EQ(event->metrics.at("c"), INFINITY);
  EXPECT_EQ(event->metrics.count("NaN"), 0u);
}

TEST(ParseLine, TakesMetricsNestedOrBesideTheEpoch) {
  const auto nested =
      ParseLine(R"({"kind":"epoch","metrics":{"val":{"acc":1,"x":null,"y":"no"}}})");
  ASSERT_TRUE(nested);
  EXPECT_EQ(nested->metrics, (std::map<std::string, double>{{"val/acc", 1}}));
  const auto beside = ParseLine(R"({"kind":"epoch","epoch":2,"val_acc":0.25,"tag":"x"})");
  ASSERT_TRUE(beside);
  EXPECT_EQ(beside->metrics, (std::map<std::string, double>{{"val_acc", 0.25}}));
}

TEST(ParseLine, ReadsEveryFormOfTimeAndForgivesTheRest) {
  const auto at = [](const std::string& value) {
    const auto event = ParseLine(R"({"kind":"note","text":"x","at":)" + value + "}");
    return event && event->at ? event->at->ms : -1;
  };
  EXPECT_EQ(at(R"("2026-12-01T02:44:08.123Z")"), 1796093048123);
  EXPECT_EQ(at("1796093048.123"), 1796093048123);
  EXPECT_EQ(at("1796093048123"), 1796093048123);
  EXPECT_EQ(at(R"("yesterday")"), -1);
  EXPECT_EQ(at("-5"), -1);
}

TEST(ParseLine, SaysWhatIsWrongWithALine) {
  for (const char* line :
       {"", "   ", "{", "[1]", "7", "null", R"({"epoch":1})", R"({"kind":"epoch"})",
        R"({"kind":"phase"})", R"({"kind":"phase","phase":"train","edge":"middle"})",
        R"({"kind":"checkpoint","path":""})", R"({"kind":"wait","wait_s":"x"})",
        R"({"kind":"throughput","unit":"photo"})", R"({"kind":"epoch","metrics":[1]})",
        R"({"kind":"note","text":5})", "{\"kind\":\"note\",\"text\":\"\xff\"}",
        R"({"kind":"epoch","epoch":1e999})"}) {
    const auto event = ParseLine(line);
    ASSERT_FALSE(event) << line;
    EXPECT_EQ(event.error().code, Code::kInvalid) << line;
    EXPECT_FALSE(event.error().what.empty());
  }
  EXPECT_EQ(ParseLine(R"({"kind":"weather"})").error().code, Code::kUnsupported);
  EXPECT_FALSE(ParseLine(std::string(2 << 20, 'x')));
  EXPECT_FALSE(ParseLine(std::string(100000, '[')));
}

TEST(ParseLine, SurvivesEveryPrefixOfALine) {
  const std::string line = R"({"at":"2026-12-01T02:44:08.123Z","kind":"epoch","epoch":1,)"
                           R"("metrics":{"a\u00e9":-Infinity}})";
  for (size_t n = 0; n < line.size(); ++n) EXPECT_FALSE(ParseLine(line.substr(0, n))) << n;
  EXPECT_TRUE(ParseLine(line));
}

TEST(FormatLine, KeepsEverythingThatParseLineReads) {
  RunEvent event;
  event.kind = Kind::kEpoch;
  event.at = WallTime{1796093048123};
  event.epoch = 2.5;
  event.step = 7;
  event.metrics = {{"val/loss", NAN}, {"val/acc", 0.1}, {"n", 3}};
  const std::string line = FormatLine(event);
  EXPECT_EQ(line, R"({"at":"2026-12-01T02:44:08.123Z","kind":"epoch","epoch":2.5,"step":7,)"
                  R"("metrics":{"n":3,"val/acc":0.1,"val/loss":"NaN"}})"
                  "\n");
  const auto back = ParseLine(Trim(line));
  ASSERT_TRUE(back);
  EXPECT_TRUE(std::isnan(back->metrics.at("val/loss")));
  EXPECT_EQ(back->at, event.at);
  EXPECT_EQ(back->step, event.step);
}

TEST(FormatLine, WritesAPlanFromItsFields) {
  RunEvent event;
  event.kind = Kind::kPlan;
  event.epochs_planned = 600;
  event.best_metric = "val/accuracy";
  event.best_higher = true;
  event.plan_json = R"({"batch":64})";
  const auto back = ParseLine(Trim(FormatLine(event)));
  ASSERT_TRUE(back) << back.error().Line();
  EXPECT_EQ(back->epochs_planned, 600);
  EXPECT_EQ(back->best_metric, "val/accuracy");
  EXPECT_EQ(back->best_higher, true);
  EXPECT_NE(back->plan_json.find("\"batch\":64"), std::string::npos);
}

TEST(FormatDocument, ItsExampleIsWhatWeReadAndWrite) {
  const char* source = std::getenv("STOKER_SOURCE");
  if (source == nullptr) GTEST_SKIP() << "STOKER_SOURCE is not set";
  const auto text = ReadFile(JoinPath(source, "docs/formats/run-log.md"));
  ASSERT_TRUE(text);
  const size_t begin = text->find("```jsonl\n");
  ASSERT_NE(begin, std::string::npos);
  const size_t end = text->find("```", begin + 9);
  int lines = 0;
  for (const std::string_view line :
       Split(std::string_view(*text).substr(begin + 9, end - begin - 9), '\n')) {
    if (line.empty()) continue;
    const auto event = ParseLine(line);
    ASSERT_TRUE(event) << line << ": " << event.error().Line();
    if (event->at && event->kind != Kind::kPlan) {
      EXPECT_EQ(FormatLine(*event), std::string(line) + "\n");
    }
    ++lines;
  }
  EXPECT_EQ(lines, 11);
}

}  // namespace
}  // namespace stoker::runlog
