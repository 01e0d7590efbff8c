#include "report/svg_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace stoker::report {
namespace {

constexpr double kTop = 10;     // above the plot
constexpr double kBottom = 26;  // below it, for the ticks of x
constexpr double kTextHeight = 12;

std::string Number(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

std::string Safe(const std::string& text) { return EscapeHtml(Printable(text)); }

// Where values land in the picture.
struct Plot {
  double left, right, top, bottom;
  double x_from, x_to, y_from, y_to;
  double X(double x) const {
    const double range = x_to > x_from ? x_to - x_from : 1;
    return left + std::clamp((x - x_from) / range, -0.01, 1.01) * (right - left);
  }
  double Y(double y) const {
    const double range = y_to > y_from ? y_to - y_from : 1;
    return bottom - std::clamp((y - y_from) / range, -0.02, 1.02) * (bottom - top);
  }
};

std::string Open(int width, double height, const std::string& title) {
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n", width,
                     Number(height), Safe(title));
}

std::string Text(double x, double y, const char* anchor, const char* kind,
                 const std::string& text) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n",
                     Number(x), Number(y), anchor, kind, Safe(text));
}

std::string Rule(double x1, double y1, double x2, double y2, const char* kind) {
  return fmt::format("<path d=\"M{} {}L{} {}\" class=\"{}\"/>\n", Number(x1), Number(y1),
                     Number(x2), Number(y2), kind);
}

std::string Path(const std::vector<Point>& points, const Plot& plot) {
  std::string path;
  bool pen_down = false;
  for (const Point& p : points) {
    if (!std::isfinite(p.x) || !std::isfinite(p.y)) {
      pen_down = false;
      continue;
    }
    path += fmt::format("{}{} {}", pen_down ? 'L' : 'M', Number(plot.X(p.x)), Number(plot.Y(p.y)));
    pen_down = true;
  }
  return path;
}

// One closed outline for each unbroken stretch.
std::string BandPath(const std::vector<BandPoint>& points, const Plot& plot) {
  const auto usable = [](const BandPoint& p) {
    return std::isfinite(p.x) && std::isfinite(p.low) && std::isfinite(p.high);
  };
  std::string path;
  for (size_t i = 0; i < points.size();) {
    if (!usable(points[i])) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < points.size() && usable(points[end])) ++end;
    for (size_t k = i; k < end; ++k) {
      path += fmt::format("{}{} {}", k == i ? 'M' : 'L', Number(plot.X(points[k].x)),
                          Number(plot.Y(points[k].high)));
    }
    for (size_t k = end; k-- > i;) {
      path += fmt::format("L{} {}", Number(plot.X(points[k].x)), Number(plot.Y(points[k].low)));
    }
    path += "Z";
    i = end;
  }
  return path;
}

std::string Stroke(const std::string& path, const std::string& tone, const char* extra = "") {
  if (path.empty()) return "";
  return fmt::format("<path d=\"{}\" class=\"line{} tone-{}\"/>\n", path, extra, tone);
}
std::string Fill(const std::string& path, const std::string& tone) {
  if (path.empty()) return "";
  return fmt::format("<path d=\"{}\" class=\"band tone-{}\"/>\n", path, tone);
}

std::string Area(const Lane& lane, const Lanes& lanes, const Plot& plot) {
  std::vector<BandPoint> area;
  for (const Point& p : lane.line) area.push_back({p.x, p.y + (lanes.low - p.y), p.y});
  const std::string path = BandPath(area, plot);
  if (path.empty()) return "";
  return fmt::format("<path d=\"{}\" class=\"area tone-{}\"/>\n", path, lanes.tone);
}

std::string XAxisSvg(const Axis& axis, const Plot& plot, bool grid) {
  std::string out = Rule(plot.left, plot.bottom, plot.right, plot.bottom, "axis");
  double free_from = -1e9;
  for (const Tick& tick : axis.ticks) {
    const double x = plot.X(tick.at);
    if (grid) out += Rule(x, plot.top, x, plot.bottom, "grid");
    out += Rule(x, plot.bottom, x, plot.bottom + 4, "axis");
    // Labels that would run into each other are left out, their ticks are not.
    const double half = 3.2 * static_cast<double>(tick.label.size());
    if (x - half < free_from) continue;
    out += Text(x, plot.bottom + 16, "middle", "tick", tick.label);
    free_from = x + half + 6;
  }
  const double unit_x = std::max(plot.right, free_from - 6) + 8;
  if (!axis.unit.empty()) out += Text(unit_x, plot.bottom + 16, "start", "unit", axis.unit);
  return out;
}

std::string YAxisSvg(const Axis& axis, const Plot& plot) {
  std::string out;
  for (const Tick& tick : axis.ticks) {
    const double y = plot.Y(tick.at);
    out += Rule(plot.left, y, plot.right, y, "grid");
    const bool last = &tick == &axis.ticks.back();
    const std::string unit = last && !axis.unit.empty() ? " " + axis.unit : "";
    out += Text(plot.left - 7, y + 3.8, "end", "tick", tick.label + unit);
  }
  return out;
}

std::string ZoneSvg(const Zone& zone, const Plot& plot) {
  const double from = std::clamp(plot.X(zone.from), plot.left, plot.right);
  const double to = std::clamp(plot.X(zone.to), plot.left, plot.right);
  std::string out =
      fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"zone tone-{}\"/>\n",
                  Number(from), Number(plot.top), Number(std::max(1.0, to - from)),
                  Number(plot.bottom - plot.top), zone.tone);
  if (zone.label.empty()) return out;
  // Words go to the side with more room.
  const bool to_right = from - plot.left < plot.right - to || to - from > 120;
  return out + Text(to_right ? from + 5 : to - 5, plot.top + 13, to_right ? "start" : "end", "note",
                    zone.label);
}

// Labels at the ends of lines, pushed apart where they would overlap.
std::string EndLabels(const std::vector<Line>& lines, const Plot& plot) {
  struct Label {
    double y;
    const Line* line;
  };
  std::vector<Label> labels;
  for (const Line& line : lines) {
    if (line.label.empty()) continue;
    for (size_t i = line.points.size(); i-- > 0;) {
      if (!std::isfinite(line.points[i].y)) continue;
      labels.push_back({plot.Y(line.points[i].y), &line});
      break;
    }
  }
  std::sort(labels.begin(), labels.end(), [](const Label& a, const Label& b) { return a.y < b.y; });
  for (size_t i = 1; i < labels.size(); ++i) {
    labels[i].y = std::max(labels[i].y, labels[i - 1].y + kTextHeight);
  }
  std::string out;
  for (const Label& label : labels) {
    out += fmt::format("<text x=\"{}\" y=\"{}\" class=\"label tone-{}\">{}</text>\n",
                       Number(plot.right + 7), Number(label.y + 3.8), label.line->tone,
                       Safe(label.line->label));
  }
  return out;
}

std::string MarkSvg(const Mark& mark, const Plot& plot) {
  if (!std::isfinite(mark.x) || !std::isfinite(mark.y)) return "";
  const double x = plot.X(mark.x), y = plot.Y(mark.y);
  std::string out = fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"4.2\" class=\"mark tone-{}\"/>\n",
                                Number(x), Number(y), mark.tone);
  if (mark.label.empty()) return out;
  const double width = 6.2 * static_cast<double>(mark.label.size());
  const bool to_left = x - width - 10 > plot.left;
  const double text_y = y - 9 < plot.top + 8 ? y + 18 : y - 9;
  return out + fmt::format(
                   "<text x=\"{}\" y=\"{}\" text-anchor=\"{}\" class=\"label tone-{}\">{}</text>\n",
                   Number(to_left ? x - 7 : x + 7), Number(text_y), to_left ? "end" : "start",
                   mark.tone, Safe(mark.label));
}

struct Extremes {
  size_t low = 0, high = 0;
};
Extremes FindExtremes(const std::vector<Point>& points, size_t from, size_t to) {
  size_t low = from, high = from;
  for (size_t i = from; i < to; ++i) {
    if (points[i].y < points[low].y || std::isnan(points[low].y)) low = i;
    if (points[i].y > points[high].y || std::isnan(points[high].y)) high = i;
  }
  return {low, high};
}

}  // namespace

std::string ChartSvg(const Chart& chart) {
  const Plot plot{static_cast<double>(chart.left),
                  static_cast<double>(chart.width - chart.right),
                  kTop,
                  chart.height - kBottom,
                  chart.x.from,
                  chart.x.to,
                  chart.y.from,
                  chart.y.to};
  std::string out = Open(chart.width, chart.height, chart.title);
  for (const Zone& zone : chart.zones) out += ZoneSvg(zone, plot);
  out += YAxisSvg(chart.y, plot) + XAxisSvg(chart.x, plot, false);
  for (const Band& band : chart.bands) out += Fill(BandPath(band.points, plot), band.tone);
  for (const Line& line : chart.lines) {
    out += Stroke(Path(line.points, plot), line.tone, line.dashed ? " dashed" : "");
  }
  out += EndLabels(chart.lines, plot);
  for (const Mark& mark : chart.marks) out += MarkSvg(mark, plot);
  return out + "</svg>\n";
}

std::string LanesSvg(const Lanes& lanes) {
  const double bottom = kTop + static_cast<double>(lanes.lanes.size()) * lanes.lane_height;
  const Plot frame{static_cast<double>(lanes.left),
                   static_cast<double>(lanes.width - lanes.right),
                   kTop - 4,
                   bottom,
                   lanes.x.from,
                   lanes.x.to,
                   0,
                   1};
  std::string out = Open(lanes.width, bottom + kBottom, lanes.title);
  for (size_t i = 0; i < lanes.lanes.size(); ++i) {
    const Lane& lane = lanes.lanes[i];
    Plot plot = frame;
    plot.top = kTop + static_cast<double>(i) * lanes.lane_height;
    plot.bottom = plot.top + lanes.lane_height - 5;
    plot.y_from = lanes.low;
    plot.y_to = lanes.high;
    out += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"strip\"/>\n",
                       Number(plot.left), Number(plot.top), Number(plot.right - plot.left),
                       Number(plot.bottom - plot.top));
    if (lanes.filled) out += Area(lane, lanes, plot);
    out += Fill(BandPath(lane.band, plot), lanes.tone);
    out += Stroke(Path(lane.line, plot), lanes.tone);
    const double middle = (plot.top + plot.bottom) / 2 + 3.8;
    out += Text(plot.left - 7, middle, "end", "name", lane.label);
    out += Text(plot.right + 8, middle, "start", "value", lane.note);
  }
  out += XAxisSvg(lanes.x, frame, true);
  return out + "</svg>\n";
}

std::string TimelineSvg(const Timeline& timeline) {
  const double bottom = kTop + static_cast<double>(timeline.rows.size()) * timeline.row_height;
  const Plot plot{static_cast<double>(timeline.left),
                  static_cast<double>(timeline.width - timeline.right),
                  kTop - 4,
                  bottom,
                  timeline.x.from,
                  timeline.x.to,
                  0,
                  1};
  std::string out = Open(timeline.width, bottom + kBottom, timeline.title);
  out += XAxisSvg(timeline.x, plot, true);
  for (size_t i = 0; i < timeline.rows.size(); ++i) {
    const TimelineRow& row = timeline.rows[i];
    const double top = kTop + static_cast<double>(i) * timeline.row_height;
    const double room = timeline.row_height - 8;
    const double middle = top + room / 2;
    const double height = row.thin ? room / 2 : room;
    for (const Span& span : row.spans) {
      const double from = std::clamp(plot.X(span.from), plot.left, plot.right);
      const double to = std::clamp(plot.X(span.to), plot.left, plot.right);
      out += fmt::format(
          "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"span tone-{}\" "
          "fill-opacity=\"{:.2f}\"><title>{}</title></rect>\n",
          Number(from), Number(middle - height / 2), Number(std::max(0.4, to - from)),
          Number(height), span.tone, std::clamp(span.share, 0.25, 1.0), Safe(span.label));
    }
    for (const TimelineMark& event : row.events) {
      const double x = std::clamp(plot.X(event.at), plot.left, plot.right);
      const double r = event.large ? 6 : 3;
      out += fmt::format(
          "<path d=\"M{} {}l{} {}l-{} {}l-{} -{}Z\" class=\"mark tone-{}\"><title>{}"
          "</title></path>\n",
          Number(x), Number(middle - r), r, r, r, r, r, r, event.tone, Safe(event.label));
    }
    out += Text(plot.left - 7, middle + 3.8, "end", "name", row.label);
    out += Text(plot.right + 8, middle + 3.8, "start", "value", row.note);
  }
  return out + "</svg>\n";
}

std::vector<Point> Thin(const std::vector<Point>& points, size_t most) {
  if (points.size() <= most || most < 8) return points;
  const size_t stretches = most / 4;
  std::vector<Point> out;
  for (size_t s = 0; s < stretches; ++s) {
    const size_t from = s * points.size() / stretches;
    const size_t to = (s + 1) * points.size() / stretches;
    if (from >= to) continue;
    const Extremes extremes = FindExtremes(points, from, to);
    std::vector<size_t> keep = {from, extremes.low, extremes.high, to - 1};
    std::sort(keep.begin(), keep.end());
    keep.erase(std::unique(keep.begin(), keep.end()), keep.end());
    for (const size_t i : keep) out.push_back(points[i]);
  }
  return out;
}

}  // namespace stoker::report
