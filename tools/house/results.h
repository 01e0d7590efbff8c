// What the test programs say they ran, against what the tree holds.
#pragma once

#include <string>
#include <vector>

#include "tree.h"

namespace stoker::house {

struct TestCase {
  std::string file;   // as the compiler saw it: absolute, or from the build folder
  std::string name;   // "Suite.Case"
  std::string param;  // how a parameterised case prints its parameter
  bool skipped = false;
  bool failed = false;
};

struct TestReport {
  int passed = 0, failed = 0, skipped = 0;
  std::vector<std::string> skipped_names;
  std::vector<std::string> not_built;  // test files of modules left out of this configuration
  std::vector<Finding> findings;

  std::string LastLine() const;  // "N passed, N failed, N skipped"
};

// The cases in one GoogleTest JSON result; a finding where the file is damaged.
std::vector<TestCase> ReadCases(const File& result, std::vector<Finding>& findings);

// Holds that every *_test.cc and every test/scenarios/*.scenario ran a case. `compiled` are the
// sources of compile_commands.json: a module of which nothing was compiled may lack its tests.
TestReport CheckTestsRan(const Tree& tree, const std::vector<std::string>& compiled,
                         const std::vector<TestCase>& cases);

// The same from a build folder on disk.
TestReport CheckBuildFolder(const Tree& tree, const std::string& build_dir);

}  // namespace stoker::house
