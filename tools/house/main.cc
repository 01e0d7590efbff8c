// house: the checks that keep this project in order. Needs a C++20 compiler and nothing else.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "bans.h"
#include "headers.h"
#include "modules.h"
#include "results.h"
#include "size.h"
#include "tree.h"

namespace stoker::house {
namespace {

constexpr char kRatchet[] = "tools/house/size.ratchet";
constexpr char kHelp[] =
    "house [--root DIR] CHECK: prints what breaks the rules and exits 1\n"
    "  ranks                 includes point to lower ranks, as each module's README.md says\n"
    "  table [--write]       the module table of ARCHITECTURE.md is that of the READMEs\n"
    "  size [--write]        how long functions and files are; --write tightens the ratchet\n"
    "  bans                  words that only some folders may use, and plain looks\n"
    "  headers [--jobs N] [--compiler C] [--torch INCLUDE_DIR]...\n"
    "                        every header compiles alone\n"
    "  tests-ran BUILD_DIR   every test file and scenario ran a case; counts them\n";

struct Arguments {
  std::string root = ".";
  std::string check;
  std::string build_dir;
  bool write = false;
  HeaderOptions headers;
};

bool Parse(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool more = i + 1 < argc;
    if (word == "--root" && more) {
      arguments.root = argv[++i];
    } else if (word == "--write") {
      arguments.write = true;
    } else if (word == "--jobs" && more) {
      arguments.headers.jobs = std::max(1, std::atoi(argv[++i]));
    } else if (word == "--compiler" && more) {
      arguments.headers.compiler = argv[++i];
    } else if (word == "--torch" && more) {
      arguments.headers.torch = true;
      arguments.headers.flags.insert(arguments.headers.flags.end(), {"-isystem", argv[++i]});
    } else if (arguments.check.empty() && word.front() != '-') {
      arguments.check = word;
    } else if (arguments.build_dir.empty() && word.front() != '-') {
      arguments.build_dir = word;
    } else {
      return false;
    }
  }
  return !arguments.check.empty();
}

int Tell(const std::vector<Finding>& findings, const std::string& good) {
  int errors = 0;
  for (const Finding& finding : findings) {
    std::printf("%s\n", finding.Line().c_str());
    errors += finding.warning ? 0 : 1;
  }
  if (errors == 0 && !good.empty()) std::printf("%s\n", good.c_str());
  return errors == 0 ? 0 : 1;
}

bool Write(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.flush();
  if (!out) std::printf("%s:1: cannot be written: %s\n", path.c_str(), std::strerror(errno));
  return out.good();
}

int Table(const Tree& tree, const Arguments& arguments) {
  if (arguments.write) {
    std::vector<Finding> findings;
    const File* document = tree.Find("ARCHITECTURE.md");
    if (document) {
      const std::string text = WithModuleTable(document->text, ReadModules(tree, findings));
      if (text != document->text && !Write(arguments.root + "/ARCHITECTURE.md", text)) return 1;
      return Tell(findings, "ARCHITECTURE.md holds the table");
    }
  }
  return Tell(CheckTable(tree), "the module table is that of the READMEs");
}

int Size(const Tree& tree, const Arguments& arguments) {
  const File* file = tree.Find(kRatchet);
  const SizeFigures ratchet = file ? ParseRatchet(file->text) : SizeFigures();
  const SizeReport report = MeasureSize(tree, ratchet);
  std::printf("%s", SizeTable(report, ratchet).c_str());
  if (arguments.write && report.findings.empty() &&
      !Write(arguments.root + "/" + kRatchet, TightenedRatchet(report.figures, ratchet))) {
    return 1;
  }
  return Tell(report.findings, "");
}

int TestsRan(const Tree& tree, const Arguments& arguments) {
  if (arguments.build_dir.empty()) {
    std::printf("house tests-ran needs the build folder: build/release\n");
    return 2;
  }
  const TestReport report = CheckBuildFolder(tree, arguments.build_dir);
  for (const std::string& name : report.skipped_names) std::printf("skipped: %s\n", name.c_str());
  for (const std::string& path : report.not_built) {
    std::printf("not built here: %s\n", path.c_str());
  }
  const int code = Tell(report.findings, "");
  std::printf("%s\n", report.LastLine().c_str());
  return code != 0 || report.failed > 0 || report.passed == 0 ? 1 : 0;
}

int Run(Arguments arguments) {
  const Tree tree = Tree::Read(arguments.root);
  const std::string& check = arguments.check;
  if (check == "ranks") return Tell(CheckRanks(tree), "includes point to lower ranks only");
  if (check == "table") return Table(tree, arguments);
  if (check == "size") return Size(tree, arguments);
  if (check == "bans") return Tell(CheckBans(tree), "no banned words");
  if (check == "tests-ran") return TestsRan(tree, arguments);
  if (check == "headers") {
    arguments.headers.root = arguments.root;
    return Tell(CheckHeaders(tree, arguments.headers), "every header compiles alone");
  }
  std::printf("%s", kHelp);
  return 2;
}

}  // namespace
}  // namespace stoker::house

int main(int argc, char** argv) {
  stoker::house::Arguments arguments;
  if (!stoker::house::Parse(argc, argv, arguments)) {
    std::printf("%s", stoker::house::kHelp);
    return argc == 2 && std::strcmp(argv[1], "--help") == 0 ? 0 : 2;
  }
  return stoker::house::Run(std::move(arguments));
}
