// The figures of a job: what to draw, and the sentence under it. The drawing is in svg_chart.h.
#pragma once

#include <string>
#include <vector>

#include "report/notebook.h"

namespace stoker::report {

struct Figure {
  std::string svg;      // one picture, or several in a grid
  std::string caption;  // plain text
  bool grid = false;    // `svg` holds several small pictures
};

// Timeline of phases and checkpoints, then busy, watts, temperature and CPU over the same time.
std::vector<Figure> MachineFigures(const NotebookJob& job);
// The judging metric with its best, train and validation losses, and the other curves.
std::vector<Figure> LearningFigures(const NotebookJob& job);

}  // namespace stoker::report
