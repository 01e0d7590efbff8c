#include "headers.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

namespace stoker::house {
namespace {

namespace fs = std::filesystem;

// "base/fd.h" from src/, "sim/box.h" from the root, "tree.h" from the includer's own folder.
const File* Resolve(const Tree& tree, const File& from, const std::string& include) {
  if (const File* file = tree.Find("src/" + include)) return file;
  if (const File* file = tree.Find(include)) return file;
  return tree.Find(from.path.substr(0, from.path.rfind('/') + 1) + include);
}

// The header and all of ours that it reaches.
std::set<const File*> Closure(const Tree& tree, const File& header) {
  std::set<const File*> seen = {&header};
  std::vector<const File*> open = {&header};
  while (!open.empty()) {
    const File* file = open.back();
    open.pop_back();
    for (const Include& include : Includes(file->text)) {
      const File* next = include.quoted ? Resolve(tree, *file, include.path) : nullptr;
      if (next && seen.insert(next).second) open.push_back(next);
    }
  }
  return seen;
}

bool NeedsTorch(const Tree& tree, const File& header) {
  for (const File* file : Closure(tree, header)) {
    for (const Include& include : Includes(file->text)) {
      for (std::string_view prefix : {"torch/", "ATen/", "c10/", "cuda"}) {
        if (!include.quoted && include.path.starts_with(prefix)) return true;
      }
    }
  }
  return false;
}

bool ProvedByBuild(const Tree& tree, const File& header) {
  const std::string stem = header.path.substr(0, header.path.rfind('.'));
  const File* source = tree.Find(stem + ".cc");
  if (!source) return false;
  const auto includes = Includes(source->text);
  return !includes.empty() && Resolve(tree, *source, includes.front().path) == &header;
}

void Mix(uint64_t& hash, std::string_view text) {
  for (unsigned char c : text) hash = (hash ^ c) * 0x100000001b3ULL;
  hash = (hash ^ 0xFF) * 0x100000001b3ULL;  // "ab","c" is not "a","bc"
}

pid_t Start(const std::vector<std::string>& words, const std::string& output) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, output.c_str(),
                                   O_CREAT | O_TRUNC | O_WRONLY, 0644);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? pid : -1;
}

// Runs up to `jobs` compilers at a time.
class Compilers {
 public:
  Compilers(const HeaderOptions& options, std::vector<Finding>& findings)
      : options_(options), findings_(findings) {}
  ~Compilers() {
    while (!running_.empty()) Wait();
  }

  void Check(const std::string& header, const std::string& stamp) {
    while (static_cast<int>(running_.size()) >= options_.jobs) Wait();
    std::vector<std::string> words = {options_.compiler,
                                      "-std=c++20",
                                      "-fsyntax-only",
                                      "-Wall",
                                      "-Wextra",
                                      "-Werror",
                                      "-I" + options_.root + "/src",
                                      "-I" + options_.root};
    words.insert(words.end(), options_.flags.begin(), options_.flags.end());
    for (const char* word : {"-x", "c++", "/dev/null", "-include"}) words.emplace_back(word);
    words.push_back(options_.root + "/" + header);
    const pid_t pid = Start(words, stamp + ".err");
    if (pid > 0) {
      running_[pid] = {header, stamp};
    } else {
      findings_.push_back({header, 1, options_.compiler + " does not start", "run scripts/setup"});
    }
  }

 private:
  struct One {
    std::string header, stamp;
  };

  void Wait() {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, 0);
    const auto at = running_.find(pid);
    if (at == running_.end()) {
      if (pid < 0) running_.clear();
      return;
    }
    const One one = at->second;
    running_.erase(at);
    std::ifstream in(one.stamp + ".err");
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    std::error_code ignored;
    fs::remove(one.stamp + ".err", ignored);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      std::ofstream(one.stamp).put('\n');
      return;
    }
    const size_t at_error = text.find("error: ");
    const std::string first =
        at_error == text.npos ? ""
                              : text.substr(at_error + 7, text.find('\n', at_error) - at_error - 7);
    findings_.push_back(
        {one.header, 1, "does not compile alone: " + first, "include what it uses"});
  }

  const HeaderOptions& options_;
  std::vector<Finding>& findings_;
  std::map<pid_t, One> running_;
};

}  // namespace

std::vector<std::string> LooseHeaders(const Tree& tree, bool torch) {
  std::vector<std::string> headers;
  for (const File& file : tree.files()) {
    const bool ours = file.path.starts_with("src/") || file.path.starts_with("sim/") ||
                      file.path.starts_with("tools/");
    if (!ours || !IsHeader(file.path) || ProvedByBuild(tree, file)) continue;
    if (torch || !NeedsTorch(tree, file)) headers.push_back(file.path);
  }
  return headers;
}

std::string HeaderKey(const Tree& tree, const std::string& path, const HeaderOptions& options) {
  uint64_t hash = 0xcbf29ce484222325ULL;
  Mix(hash, options.compiler);
  for (const std::string& flag : options.flags) Mix(hash, flag);
  Mix(hash, path);
  std::map<std::string, const File*> sorted;
  for (const File* file : Closure(tree, *tree.Find(path))) sorted[file->path] = file;
  for (const auto& [name, file] : sorted) Mix(hash, file->text);
  std::string key;
  for (int shift = 60; shift >= 0; shift -= 4) key += "0123456789abcdef"[(hash >> shift) & 15];
  return key;
}

std::vector<Finding> CheckHeaders(const Tree& tree, const HeaderOptions& options) {
  std::vector<Finding> findings;
  std::error_code ignored;
  fs::create_directories(options.cache, ignored);
  {
    Compilers compilers(options, findings);  // waits for the last of them at the end of the block
    for (const std::string& header : LooseHeaders(tree, options.torch)) {
      const std::string stamp = options.cache + "/" + HeaderKey(tree, header, options);
      if (!fs::exists(stamp, ignored)) compilers.Check(header, stamp);
    }
  }
  return findings;
}

}  // namespace stoker::house
