// The project's text files in memory, as every check reads them, and what a check has to say.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stoker::house {

struct File {
  std::string path;  // from the root, with '/': "src/base/fd.h"
  std::string text;
};

// One thing that a check found. Warnings are shown but do not fail.
struct Finding {
  std::string file;
  int line = 1;
  std::string what;
  std::string advice;
  bool warning = false;

  std::string Line() const;  // "FILE:LINE: what (what to do)"
};

// All text files of the project, sorted by path. Build folders, installed packages and the demo's
// output are no part of it.
class Tree {
 public:
  explicit Tree(std::vector<File> files);
  static Tree Read(const std::string& root);

  const std::vector<File>& files() const { return files_; }
  const File* Find(std::string_view path) const;  // null where there is no such file
  bool HasFolder(std::string_view path) const;    // any file below it

 private:
  std::vector<File> files_;
};

bool IsCode(std::string_view path);       // .h .cc .cu .cuh
bool IsHeader(std::string_view path);     // .h .cuh
bool IsTest(std::string_view path);       // *_test.cc
bool ForTests(std::string_view path);     // also test_*.h beside them, and all of test/
bool IsGenerated(std::string_view text);  // says so in its first lines

// "base" for "src/base/fd.h"; empty outside src/.
std::string_view ModuleOf(std::string_view path);

std::string_view Trim(std::string_view text);
std::vector<std::string_view> Lines(std::string_view text);
int LineAt(std::string_view text, size_t position);  // from 1

struct Include {
  int line = 0;
  std::string path;
  bool quoted = false;  // "x", not <x>
};
std::vector<Include> Includes(std::string_view text);

// The same text with every comment and the inside of every literal turned into spaces: offsets and
// lines stay, false alarms go.
std::string MaskCode(std::string_view text);

bool IsWordChar(char c);
// Positions where `word` stands as a whole word.
std::vector<size_t> FindWord(std::string_view text, std::string_view word);

}  // namespace stoker::house
