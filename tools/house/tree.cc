#include "tree.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace stoker::house {
namespace {

namespace fs = std::filesystem;

// Folders that hold the project; anything else at the root is somebody's own.
constexpr std::string_view kFolders[] = {"src",     "sim",  "test", "bench", "fuzz", "tools",
                                         "scripts", "docs", "ui",   "cmake", ".ci"};
constexpr std::string_view kTextSuffixes[] = {
    ".h",    ".cc",  ".cu", ".cuh",  ".md", ".txt",      ".cmake", ".json", ".js",
    ".html", ".css", ".sh", ".toml", ".py", ".scenario", ".mjs",   ".in"};

bool IsText(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name == "package-lock.json") return false;  // written by npm
  if (!path.has_extension() || name.front() == '.') return true;
  return std::find(std::begin(kTextSuffixes), std::end(kTextSuffixes), path.extension().string()) !=
         std::end(kTextSuffixes);
}

void Add(const fs::path& root, const fs::path& path, std::vector<File>& files) {
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (text.find('\0') != std::string::npos) return;  // no text after all
  files.push_back({path.lexically_relative(root).generic_string(), std::move(text)});
}

}  // namespace

std::string Finding::Line() const {
  std::string out = file + ":" + std::to_string(line) + ": " + (warning ? "note: " : "") + what;
  if (!advice.empty()) out += " (" + advice + ")";
  return out;
}

Tree::Tree(std::vector<File> files) : files_(std::move(files)) {
  std::sort(files_.begin(), files_.end(),
            [](const File& a, const File& b) { return a.path < b.path; });
}

Tree Tree::Read(const std::string& root) {
  static const std::set<std::string> kSkip = {"node_modules", "build", "__pycache__", "corpus"};
  std::vector<File> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(root, ignored)) {
    if (entry.is_regular_file() && IsText(entry.path())) Add(root, entry.path(), files);
  }
  for (std::string_view folder : kFolders) {
    fs::recursive_directory_iterator walk(fs::path(root) / folder, ignored), end;
    for (; walk != end; walk.increment(ignored)) {
      if (walk->is_directory() && kSkip.contains(walk->path().filename().string())) {
        walk.disable_recursion_pending();
      } else if (walk->is_regular_file() && IsText(walk->path())) {
        Add(root, walk->path(), files);
      }
    }
  }
  return Tree(std::move(files));
}

const File* Tree::Find(std::string_view path) const {
  auto at = std::lower_bound(files_.begin(), files_.end(), path,
                             [](const File& file, std::string_view p) { return file.path < p; });
  return at != files_.end() && at->path == path ? &*at : nullptr;
}

bool Tree::HasFolder(std::string_view path) const {
  const std::string prefix = std::string(path) + "/";
  return std::any_of(files_.begin(), files_.end(),
                     [&](const File& file) { return file.path.starts_with(prefix); });
}

bool IsHeader(std::string_view path) { return path.ends_with(".h") || path.ends_with(".cuh"); }

bool IsCode(std::string_view path) {
  return IsHeader(path) || path.ends_with(".cc") || path.ends_with(".cu");
}

bool IsTest(std::string_view path) { return path.ends_with("_test.cc"); }

bool ForTests(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return IsTest(path) || path.starts_with("test/") || (IsHeader(path) && name.starts_with("test_"));
}

bool IsGenerated(std::string_view text) {
  const std::string_view head = text.substr(0, 400);
  return head.find("do not edit") != head.npos || head.find("DO NOT EDIT") != head.npos;
}

std::string_view ModuleOf(std::string_view path) {
  if (!path.starts_with("src/")) return {};
  path.remove_prefix(4);
  const size_t slash = path.find('/');
  return slash == path.npos ? std::string_view() : path.substr(0, slash);
}

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == text.npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

int LineAt(std::string_view text, size_t position) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + position, '\n'));
}

std::vector<Include> Includes(std::string_view text) {
  std::vector<Include> includes;
  const std::string masked = MaskCode(text);
  const auto plain = Lines(text), code = Lines(masked);
  for (size_t i = 0; i < code.size(); ++i) {
    std::string_view line = Trim(code[i]);
    if (!line.starts_with("#")) continue;
    if (!Trim(line.substr(1)).starts_with("include")) continue;
    const size_t open = plain[i].find_first_of("\"<");
    if (open == plain[i].npos) continue;
    const bool quoted = plain[i][open] == '"';
    const size_t close = plain[i].find(quoted ? '"' : '>', open + 1);
    if (close == plain[i].npos) continue;
    includes.push_back({static_cast<int>(i) + 1,
                        std::string(plain[i].substr(open + 1, close - open - 1)), quoted});
  }
  return includes;
}

bool IsWordChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::vector<size_t> FindWord(std::string_view text, std::string_view word) {
  std::vector<size_t> found;
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool starts = at == 0 || !IsWordChar(text[at - 1]) || !IsWordChar(word.front());
    const bool ends = end == text.size() || !IsWordChar(text[end]) || !IsWordChar(word.back());
    if (starts && ends) found.push_back(at);
  }
  return found;
}

}  // namespace stoker::house
