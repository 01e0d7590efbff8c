// The notebook of a night: one HTML file that opens without a network, figures as inline SVG.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "explain/explain.h"
#include "ledger/records.h"
#include "query/views.h"

namespace stoker::report {

struct NotebookJob {
  explain::Explanation explanation;
  std::vector<query::SeriesView> busy, power, temperature, cpu;
};

struct Notebook {
  WallTime written_at;
  std::optional<ledger::Box> box;
  bool simulated = false;
  std::vector<NotebookJob> jobs;
};

std::string NotebookHtml(const Notebook& notebook);

}  // namespace stoker::report
