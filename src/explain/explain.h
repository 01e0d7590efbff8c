// Says where a job's time, power and accuracy went. Pure: plain data in, findings out; every
// finding carries its numbers and what it cannot tell.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "query/views.h"

namespace stoker::explain {

struct Finding {
  std::string id;        // "best-and-after", "overfit", "idle-cards", …
  std::string severity;  // info, notice, warning
  std::string text;      // one or two sentences with the figures in them
  std::vector<std::pair<std::string, double>> numbers;  // "after_best_epochs": 188
  std::string cannot_tell;  // what these numbers do not show; may be empty
};

struct Explanation {
  query::JobDetail detail;
  query::JobUse use;
  std::vector<Finding> findings;  // most important first
};

Explanation Explain(query::JobDetail detail, query::JobUse use);

}  // namespace stoker::explain
