// How long functions and files are, against the limits of the house and the best figures so far.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tree.h"

namespace stoker::house {

struct Function {
  std::string name;
  int line = 1;   // where its head begins
  int lines = 0;  // head to closing brace
};

// Function bodies at namespace and class level, tests included; lambdas count to their function.
std::vector<Function> Functions(std::string_view text);

// The figures that a ratchet holds. Defaults are the limits of the house.
struct SizeFigures {
  int function_p95 = 45;
  double over_60_percent = 3.0;
  int file_p95 = 450;
  int file_max = 900;
};

struct SizeReport {
  int files = 0, functions = 0;
  long lines = 0;
  int function_median = 0, function_max = 0, file_median = 0;
  SizeFigures figures;
  std::vector<std::string> longest_functions, longest_files;  // "src/x.cc:12 Name 58"
  std::vector<Finding> findings;
};

// Product code counts for the figures; the limit on one file holds for tests too. Generated files
// are left out.
SizeReport MeasureSize(const Tree& tree, const SizeFigures& ratchet);
std::string SizeTable(const SizeReport& report, const SizeFigures& ratchet);

SizeFigures ParseRatchet(std::string_view text);
// The figures rounded up a little, never worse than `old`.
std::string TightenedRatchet(const SizeFigures& now, const SizeFigures& old);

}  // namespace stoker::house
