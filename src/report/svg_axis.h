// Axes of charts: nice ticks for numbers and for times, and their labels. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"

namespace stoker::report {

struct Tick {
  double at = 0;
  std::string label;
};

// A range with ticks inside it. `unit` stands once beside the axis.
struct Axis {
  double from = 0, to = 1;
  std::vector<Tick> ticks;
  std::string unit;
};

// About `about` ticks at 1, 2 or 5 times a power of ten; the range ends on ticks, so it may be
// wider than asked for. Values that are no numbers give the range 0 to 1.
Axis ValueAxis(double low, double high, int about, std::string unit);
// The same without widening the range: for epochs, which begin and end where they do.
Axis TightAxis(double low, double high, int about, std::string unit);
// Positions are milliseconds since 1970; ticks at whole seconds, minutes, hours or days of UTC,
// labelled by the clock and at midnight by the date. An empty window is one second wide.
Axis TimeAxis(WallTime from, WallTime to, int about);

}  // namespace stoker::report
