// Query results for a terminal. `width` is the terminal's columns; `color` allows ANSI colours.
// Hostile text (names, commands) is made printable.
#pragma once

#include <string>
#include <vector>

#include "explain/compare.h"
#include "explain/explain.h"
#include "query/views.h"

namespace stoker::report {

struct TextStyle {
  int width = 100;
  bool color = false;
};

std::string NowText(const query::Now& now, const TextStyle& style);  // the screen of `top`
std::string JobsText(const std::vector<query::JobView>& jobs, const TextStyle& style);
std::string JobText(const query::JobDetail& detail, const TextStyle& style);
std::string CheckpointsText(const std::vector<query::CheckpointView>& checkpoints,
                            const TextStyle& style);
std::string EventsText(const std::vector<ledger::Event>& events, const TextStyle& style);
std::string ExplainText(const explain::Explanation& explanation, const TextStyle& style);
// `parts` may be null.
std::string CompareText(const explain::Comparison& comparison, const explain::Decomposition* parts,
                        const TextStyle& style);

}  // namespace stoker::report
