// Charts as inline SVG: pure functions from data to text. Colours come from the page's style sheet
// by class ("tone-busy", "tone-val", …), so that light and dark need one picture. All text is
// escaped; values that are no numbers leave gaps. Every plot of one width has the same margins, so
// that time axes above each other line up.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/svg_axis.h"

namespace stoker::report {

struct Point {
  double x = 0, y = 0;  // y NaN: the line breaks here
};
struct BandPoint {
  double x = 0, low = 0, high = 0;
};

struct Line {
  std::string tone;
  std::string label;  // written at the line's end; may be empty
  std::vector<Point> points;
  bool dashed = false;
};
struct Band {
  std::string tone;
  std::vector<BandPoint> points;
};
// A shaded stretch of the x axis with words at its top.
struct Zone {
  double from = 0, to = 0;
  std::string tone, label;
};
struct Mark {
  double x = 0, y = 0;
  std::string tone, label;
};

struct Chart {
  int width = 880, height = 240;
  int left = 58, right = 96;
  std::string title;  // for readers that do not see; not drawn
  Axis x, y;
  std::vector<Zone> zones;
  std::vector<Band> bands;
  std::vector<Line> lines;
  std::vector<Mark> marks;
};
std::string ChartSvg(const Chart& chart);

// Strips above each other over one time axis: one line with its envelope each.
struct Lane {
  std::string label;  // to the left
  std::string note;   // to the right
  std::vector<Point> line;
  std::vector<BandPoint> band;
};
struct Lanes {
  int width = 880, lane_height = 30;
  int left = 58, right = 96;
  std::string title, tone;
  Axis x;
  double low = 0, high = 1;  // of every strip
  bool filled = false;       // shaded down to `low`, where that is zero
  std::vector<Lane> lanes;
};
std::string LanesSvg(const Lanes& lanes);

// Bars and marks over a time axis.
struct Span {
  double from = 0, to = 0;
  std::string tone, label;
  double share = 1;  // of its time that it was really so: a bar of many short stretches is paler
};
struct TimelineMark {
  double at = 0;
  std::string tone, label;
  bool large = false;
};
struct TimelineRow {
  std::string label, note;
  std::vector<Span> spans;
  std::vector<TimelineMark> events;
  bool thin = false;  // a flatter bar
};
struct Timeline {
  int width = 880, row_height = 26;
  int left = 58, right = 96;
  std::string title;
  Axis x;
  std::vector<TimelineRow> rows;
};
std::string TimelineSvg(const Timeline& timeline);

// At most about `most` points that look the same: of each stretch its first, lowest, highest and
// last.
std::vector<Point> Thin(const std::vector<Point>& points, size_t most);

}  // namespace stoker::report
