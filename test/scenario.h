// Text tests of the built programs: a .scenario file is a list of commands, each followed by what a
// person would see. Grammar: test/scenarios/README.md.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace stoker::scenario {

struct Line {
  int number = 0;
  std::vector<std::string> words;  // quotes resolved: 'a b' and "a b" are one word
  std::string text;                // the line after its first word, untouched
};

// Lines without comments and blanks. kInvalid with file:line for an open quote.
Result<std::vector<Line>> ParseScenario(const std::string& path, const std::string& text);

// Value at a path such as jobs[0].best.value or jobs.length in a JSON text, as text; kNotFound
// where there is none.
Result<std::string> JsonAt(const std::string& json, const std::string& path);

struct Places {
  std::string bin;     // built programs
  std::string source;  // the checkout
  std::string data;    // real data for tests; may be absent
  std::string sim;     // the simulated NVML library
};

// Runs a scenario in a home and work folder of its own; the error names file:line and what was
// seen. `skipped` says why, where a `needs` line is not met.
Status RunScenario(const std::string& path, const Places& places, std::string& skipped);

}  // namespace stoker::scenario
