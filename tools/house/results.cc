#include "results.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "json.h"

namespace stoker::house {
namespace {

namespace fs = std::filesystem;

std::string Slurp(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// "/any/where/src/base/fd_test.cc" and "../../src/base/fd_test.cc" are both src/base/fd_test.cc.
bool Names(std::string_view seen, std::string_view path) {
  return seen == path || (seen.ends_with(path) && seen[seen.size() - path.size() - 1] == '/');
}

// "src/train" for "src/train/loop_test.cc": what CMake leaves out, it leaves out by folder.
std::string_view FolderOf(std::string_view path) {
  const size_t first = path.find('/');
  const size_t second = path.find('/', first + 1);
  return path.substr(0, second == path.npos ? first : second);
}

// "bad_night" for "test/scenarios/bad-night.scenario", as a case's name may spell it.
std::string Plain(std::string_view text) {
  std::string out(text);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return !IsWordChar(c); }, '_');
  return out;
}

bool RanScenario(std::string_view path, const std::vector<TestCase>& cases) {
  std::string_view stem = path.substr(path.rfind('/') + 1);
  stem.remove_suffix(std::string_view(".scenario").size());
  return std::any_of(cases.begin(), cases.end(), [&](const TestCase& one) {
    if (Names(one.file, path)) return true;
    const std::string name = one.name.substr(one.name.rfind('/') + 1);
    return Plain(name) == Plain(stem) || one.param.find(stem) != std::string::npos;
  });
}

bool Ran(std::string_view path, const std::vector<TestCase>& cases) {
  return std::any_of(cases.begin(), cases.end(),
                     [&](const TestCase& one) { return Names(one.file, path); });
}

bool FolderBuilt(std::string_view folder, const std::vector<std::string>& compiled) {
  const std::string inside = "/" + std::string(folder) + "/";
  return std::any_of(compiled.begin(), compiled.end(), [&](const std::string& source) {
    return source.find(inside) != std::string::npos;
  });
}

}  // namespace

std::string TestReport::LastLine() const {
  return std::to_string(passed) + " passed, " + std::to_string(failed) + " failed, " +
         std::to_string(skipped) + " skipped";
}

std::vector<TestCase> ReadCases(const File& result, std::vector<Finding>& findings) {
  std::vector<TestCase> cases;
  const auto json = ReadJson(result.text);
  const JsonValue* suites = json ? json->Get("testsuites") : nullptr;
  if (!suites) {
    findings.push_back({result.path, 1, "is no test result", "run the tests again"});
    return cases;
  }
  for (const JsonValue& suite : suites->items) {
    const JsonValue* members = suite.Get("testsuite");
    if (!members) continue;
    for (const JsonValue& one : members->items) {
      const std::string outcome = one.Text("result");
      if (one.Text("status") != "RUN" || (outcome != "COMPLETED" && outcome != "SKIPPED")) continue;
      const JsonValue* failures = one.Get("failures");
      cases.push_back({one.Text("file"), suite.Text("name") + "." + one.Text("name"),
                       one.Text("value_param"), outcome == "SKIPPED",
                       failures && !failures->items.empty()});
    }
  }
  return cases;
}

TestReport CheckTestsRan(const Tree& tree, const std::vector<std::string>& compiled,
                         const std::vector<TestCase>& cases) {
  TestReport report;
  for (const TestCase& one : cases) {
    ++(one.failed ? report.failed : one.skipped ? report.skipped : report.passed);
    if (one.skipped && !one.failed) report.skipped_names.push_back(one.name);
  }
  for (const File& file : tree.files()) {
    const std::string& path = file.path;
    if (path.starts_with("test/scenarios/") && path.ends_with(".scenario")) {
      if (RanScenario(path, cases)) continue;
      report.findings.push_back({path, 1, "no test ran this scenario", "see test/CMakeLists.txt"});
    } else if (IsTest(path) && !Ran(path, cases)) {
      const bool built = std::any_of(compiled.begin(), compiled.end(),
                                     [&](const std::string& s) { return Names(s, path); });
      if (!built && !FolderBuilt(FolderOf(path), compiled)) {
        report.not_built.push_back(path);
      } else {
        report.findings.push_back(
            {path, 1, built ? "ran no case" : "is not built",
             built ? "its program crashed, or has no TEST" : "see CMakeLists.txt"});
      }
    }
  }
  return report;
}

TestReport CheckBuildFolder(const Tree& tree, const std::string& build_dir) {
  std::vector<Finding> findings;
  std::vector<std::string> compiled;
  const std::string commands = build_dir + "/compile_commands.json";
  if (const auto json = ReadJson(Slurp(commands))) {
    for (const JsonValue& one : json->items) compiled.push_back(one.Text("file"));
  } else {
    findings.push_back({commands, 1, "cannot be read", "run scripts/build"});
  }
  std::vector<TestCase> cases;
  std::vector<fs::path> results;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(build_dir + "/test/results", ignored)) {
    if (entry.path().extension() == ".json") results.push_back(entry.path());
  }
  std::sort(results.begin(), results.end());
  for (const fs::path& path : results) {
    const auto more = ReadCases({path.string(), Slurp(path)}, findings);
    cases.insert(cases.end(), more.begin(), more.end());
  }
  TestReport report = CheckTestsRan(tree, compiled, cases);
  report.findings.insert(report.findings.begin(), findings.begin(), findings.end());
  return report;
}

}  // namespace stoker::house
