#include "report/svg_chart.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace stoker::report {
namespace {

size_t Count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}
bool Has(const std::string& text, const std::string& part) { return Count(text, part) > 0; }

Chart Simple() {
  Chart chart;
  chart.width = 300;
  chart.height = 136;  // a plot of 100
  chart.left = 50;
  chart.right = 50;  // a plot of 200
  chart.title = "Loss by epoch";
  chart.x = TightAxis(0, 10, 5, "epoch");
  chart.y = ValueAxis(0, 10, 5, "W");
  chart.lines = {{"val", "val", {{0, 0}, {10, 10}}}};
  return chart;
}

TEST(ChartTest, ValuesLandWhereTheAxesSay) {
  const std::string svg = ChartSvg(Simple());
  EXPECT_TRUE(Has(svg, "viewBox=\"0 0 300 136\""));
  EXPECT_TRUE(Has(svg, "d=\"M50 110L250 10\" class=\"line tone-val\"")) << svg;
  EXPECT_TRUE(Has(svg, ">epoch</text>"));
  EXPECT_TRUE(Has(svg, ">10 W</text>"));
  EXPECT_TRUE(Has(svg, "aria-label=\"Loss by epoch\""));
}

TEST(ChartTest, LinesBreakWhereThereIsNoValue) {
  Chart chart = Simple();
  chart.lines[0].points = {{0, 1}, {2, 2}, {3, NAN}, {4, 2}, {5, INFINITY}, {6, 2}};
  const std::string svg = ChartSvg(chart);
  const size_t at = svg.find("class=\"line");
  const size_t d = svg.rfind("d=\"", at);
  EXPECT_EQ(Count(svg.substr(d, at - d), "M"), 3u);
  EXPECT_FALSE(Has(svg, "nan"));
  EXPECT_FALSE(Has(svg, "inf"));
}

TEST(ChartTest, TextIsEscaped) {
  Chart chart = Simple();
  chart.title = "\"><script>alert(1)</script>";
  chart.lines[0].label = "<b>&";
  chart.marks = {{5, 5, "best", "</svg>"}};
  chart.zones = {{2, 3, "after", "<i>"}};
  const std::string svg = ChartSvg(chart);
  EXPECT_FALSE(Has(svg, "<script"));
  EXPECT_FALSE(Has(svg, "<b>"));
  EXPECT_FALSE(Has(svg, "<i>"));
  EXPECT_EQ(Count(svg, "</svg>"), 1u);
}

TEST(ChartTest, LabelsOfLinesThatEndTogetherAreApart) {
  Chart chart = Simple();
  chart.lines = {{"val", "one", {{0, 5}, {10, 5}}}, {"judge", "two", {{0, 5}, {10, 5.1}}}};
  const std::string svg = ChartSvg(chart);
  const auto y_of = [&](const char* label) {
    const size_t at = svg.find(std::string(">") + label);
    const size_t y = svg.rfind("y=\"", at) + 3;
    return std::stod(svg.substr(y));
  };
  EXPECT_GE(std::abs(y_of("one") - y_of("two")), 12);
}

TEST(ChartTest, ValuesBeyondTheAxesStayInThePicture) {
  Chart chart = Simple();
  chart.lines[0].points = {{-1e9, -1e9}, {1e9, 1e9}};
  EXPECT_TRUE(Has(ChartSvg(chart), "M48 112L252 8"));
}

TEST(LanesTest, AStripForEachCardWithItsEnvelope) {
  Lanes lanes;
  lanes.tone = "busy";
  lanes.x = TimeAxis(WallTime{0}, WallTime{10'000}, 5);
  lanes.high = 100;
  lanes.filled = true;
  lanes.lanes = {{"GPU 0", "86 %", {{0, 80}, {10'000, 90}}, {{0, 70, 90}, {10'000, 85, 95}}},
                 {"GPU 1", "0 %", {}, {}}};
  const std::string svg = LanesSvg(lanes);
  EXPECT_EQ(Count(svg, "class=\"strip\""), 2u);
  EXPECT_EQ(Count(svg, "class=\"band tone-busy\""), 1u);
  EXPECT_EQ(Count(svg, "class=\"area tone-busy\""), 1u);
  EXPECT_TRUE(Has(svg, ">GPU 1</text>"));
  EXPECT_TRUE(Has(svg, ">86 %</text>"));
}

TEST(TimelineTest, BarsAndMarks) {
  Timeline timeline;
  timeline.x = TimeAxis(WallTime{0}, WallTime{10'000}, 5);
  TimelineRow row;
  row.label = "phase";
  row.spans = {{0, 4000, "train", "train"}, {5000, 5000, "validate", "<x>"}};
  row.events = {{7000, "best", "best.pt", true}};
  timeline.rows = {row};
  const std::string svg = TimelineSvg(timeline);
  EXPECT_EQ(Count(svg, "class=\"span"), 2u);
  EXPECT_TRUE(Has(svg, "<title>best.pt</title>"));
  EXPECT_FALSE(Has(svg, "<x>"));
}

TEST(ThinTest, KeepsEndsAndExtremes) {
  std::vector<Point> points;
  for (int i = 0; i < 100'000; ++i) points.push_back({static_cast<double>(i), std::sin(i / 500.0)});
  points[54'321].y = 99;
  const auto thin = Thin(points, 1000);
  EXPECT_LE(thin.size(), 1000u);
  EXPECT_EQ(thin.front().x, 0);
  EXPECT_EQ(thin.back().x, 99'999);
  EXPECT_TRUE(std::any_of(thin.begin(), thin.end(), [](const Point& p) { return p.y == 99; }));
  EXPECT_TRUE(std::is_sorted(thin.begin(), thin.end(),
                             [](const Point& a, const Point& b) { return a.x < b.x; }));
  EXPECT_EQ(Thin({{1, 2}}, 1000).size(), 1u);
}

}  // namespace
}  // namespace stoker::report
