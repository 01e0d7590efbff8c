// A data set as people keep it: one folder a class. Either DIR/{train,val,test}/CLASS/*.jpg, or
// DIR/CLASS/*.jpg, which is then split here, the same way on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stoker::photo {

struct PhotoFile {
  std::string path;
  int label = 0;  // index into Folder::classes
};

struct Folder {
  std::string root;
  std::string name;                  // last part of the root's path
  std::vector<std::string> classes;  // sorted
  std::vector<PhotoFile> train;      // in order of class, then name
  std::vector<PhotoFile> val;
  std::vector<PhotoFile> test;     // may be empty
  bool val_was_cut = false;        // no val folder: every fifth training photo judges instead
  std::vector<std::string> notes;  // what a person should know: a class without photos, ...
};

// kNotFound where `root` is absent; kInvalid where it holds no photo or fewer than two classes.
// Opens no photo.
Result<Folder> OpenFolder(const std::string& root);

// By name only: .jpg, .jpeg, .jpe in any case.
bool HasJpegName(std::string_view name);
// Names that split folders carry: train, val (or valid, validation), test; empty for others.
std::string_view SplitName(std::string_view folder_name);

// A number that depends on the text alone, the same on every machine and in every version.
uint64_t StableHash(std::string_view text);

}  // namespace stoker::photo
