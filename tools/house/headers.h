// Every header compiles alone. One that its own foo.cc includes first is proved by the build; the
// others are given to the compiler here, once per content.
#pragma once

#include <string>
#include <vector>

#include "tree.h"

namespace stoker::house {

struct HeaderOptions {
  std::string root = ".";
  std::string cache = "build/house/headers";  // one empty file for each content that compiled
  std::string compiler = "g++";
  std::vector<std::string> flags;  // further ones, such as -isystem of LibTorch
  bool torch = false;              // headers that need LibTorch are checked too
  int jobs = 2;
};

// Headers that no build proves, sorted; with `torch` false those that need LibTorch are left out.
std::vector<std::string> LooseHeaders(const Tree& tree, bool torch);

// A number that changes when the header or one of ours below it does.
std::string HeaderKey(const Tree& tree, const std::string& path, const HeaderOptions& options);

std::vector<Finding> CheckHeaders(const Tree& tree, const HeaderOptions& options);

}  // namespace stoker::house
