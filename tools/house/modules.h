// Modules by their README.md: the ranks hold, and the table in ARCHITECTURE.md says the same.
#pragma once

#include <string>
#include <vector>

#include "tree.h"

namespace stoker::house {

struct Module {
  std::string name;
  std::string sentence;  // the first paragraph, one sentence
  int rank = -1;         // -1: the README does not say
  int may_line = 1;      // where "May include:" stands
  std::vector<std::string> may_include;
};

// One for each folder of src/, in order of rank, then name; findings where a README lacks its
// lines.
std::vector<Module> ReadModules(const Tree& tree, std::vector<Finding>& findings);

// Every #include "module/..." in src/, tests too, against the README lines and the ranks.
std::vector<Finding> CheckRanks(const Tree& tree);

std::string ModuleTable(const std::vector<Module>& modules);
// ARCHITECTURE.md with the table between its two marks renewed; `document` as it was where the
// marks are missing.
std::string WithModuleTable(const std::string& document, const std::vector<Module>& modules);
std::vector<Finding> CheckTable(const Tree& tree);

}  // namespace stoker::house
