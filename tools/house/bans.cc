#include "bans.h"

#include <algorithm>
#include <initializer_list>
#include <string>

namespace stoker::house {
namespace {

// How a word counts as used.
enum class Use {
  kWord,  // anywhere in code
  kCall,  // a call of the C function, not of a member or of another namespace's
  kNew,   // an expression, not "operator new" or "= delete"
};

struct Ban {
  Use use;
  std::initializer_list<std::string_view> words;
  std::initializer_list<std::string_view>
      allowed;  // path prefixes; "*_test.cc": all that is for tests
  std::string_view advice;
};

const Ban kBans[] = {
    {Use::kCall,
     {"getenv", "secure_getenv", "setenv", "unsetenv", "putenv"},
     {"src/app/", "src/base/", "sim/", "test/", "tools/", "bench/", "fuzz/", "*_test.cc"},
     "only app/ reads the environment: take it as a parameter"},
    {Use::kWord,
     {"environ"},
     {"src/app/", "src/base/", "sim/", "test/", "tools/"},
     "only app/ reads the environment: take it as a parameter"},
    {Use::kCall, {"system", "popen"}, {}, "no shell from strings: base/process.h"},
    {Use::kWord,
     {"std::cout", "std::cerr", "std::clog"},
     {"src/app/", "tools/"},
     "write to the stream you were given, or base/log.h"},
    {Use::kCall,
     {"printf", "fprintf", "vprintf", "vfprintf", "puts", "fputs", "putchar", "perror"},
     {"src/app/", "src/base/", "sim/", "tools/", "bench/", "fuzz/"},
     "write to the stream you were given, or base/log.h"},
    {Use::kWord,
     {"system_clock::now", "steady_clock::now", "high_resolution_clock"},
     // Asio's timers know this clock alone.
     {"src/base/", "src/web/server.cc", "sim/", "bench/", "fuzz/", "tools/", "test/", "*_test.cc"},
     "ask the Clock you were given: base/clock.h"},
    {Use::kWord,
     {"sleep_for", "sleep_until"},
     {"src/base/", "sim/", "test/"},
     "wait on a Clock, a channel or a condition"},
    {Use::kCall,
     {"sleep", "usleep", "nanosleep"},
     {"src/base/", "sim/"},
     "wait on a Clock, a channel or a condition"},
    {Use::kNew, {"new", "delete"}, {"test/", "*_test.cc"}, "std::make_unique, or a container"},
    {Use::kCall,
     {"open", "openat", "creat", "close", "rename", "unlink", "unlinkat", "fork", "vfork", "kill",
      "execv", "execve", "execvp", "waitpid", "dup2"},
     {"src/base/", "src/app/", "sim/", "tools/", "test/", "fuzz/", "bench/", "*_test.cc"},
     "the objects of base/ own this: fd.h, file.h, durable_file.h, process.h"},
    {Use::kWord, {"using namespace"}, {}, "name what you use"},
};

// In any text, comments included. Written in two parts so that this file may pass.
constexpr std::string_view kNotes[] = {
    "TO"
    "DO",
    "FIX"
    "ME",
    "XX"
    "X",
    "HA"
    "CK"};
constexpr std::string_view kPlaces[] = {
    "/wo"
    "rk/",
    "/ro"
    "ot/"};
constexpr size_t kColumns = 100;

bool Allowed(const Ban& ban, std::string_view path) {
  return std::any_of(ban.allowed.begin(), ban.allowed.end(), [&](std::string_view prefix) {
    return prefix == "*_test.cc" ? ForTests(path) : path.starts_with(prefix);
  });
}

std::string_view Before(std::string_view code, size_t at) {
  const size_t last = code.substr(0, at).find_last_not_of(" \t\r\n");
  return last == code.npos ? std::string_view() : code.substr(0, last + 1);
}

std::string_view LastWord(std::string_view text) {
  size_t begin = text.size();
  while (begin > 0 && IsWordChar(text[begin - 1])) --begin;
  return text.substr(begin);
}

char After(std::string_view code, size_t at) {
  const size_t next = code.find_first_not_of(" \t\r\n", at);
  return next == code.npos ? '\0' : code[next];
}

// True for kill(...), ::kill(...) and std::getenv(...); false for x.kill(...), Job::kill(...) and
// the declaration `Status kill(...)`.
bool IsCall(std::string_view code, size_t at, size_t length) {
  if (After(code, at + length) != '(') return false;
  std::string_view before = Before(code, at);
  if (before.ends_with("::")) {
    before = before.substr(0, before.size() - 2);
    const std::string_view scope = LastWord(before);
    return scope.empty() ? !before.ends_with(">") : scope == "std" || scope == "return";
  }
  if (before.ends_with(".") || before.ends_with("->")) return false;
  const std::string_view word = LastWord(before);
  if (!word.empty()) return word == "return" || word == "else" || word == "do";
  return !before.ends_with(">") && !before.ends_with("*") && !before.ends_with("&") &&
         !before.ends_with("~");
}

// `std::unique_ptr<T>(new T(...))`, the one way to a private constructor, and `: state_(new
// State{...})`, the one to a hidden aggregate: owned at once.
bool OwnedAtOnce(std::string_view before) {
  if (!before.ends_with("(")) return false;
  const size_t begin = before.find_last_of(";{}");
  const std::string_view statement = before.substr(begin == before.npos ? 0 : begin);
  return statement.find("unique_ptr<") != statement.npos || before.ends_with("_(");
}

bool IsNew(std::string_view code, size_t at) {
  const std::string_view before = Before(code, at);
  if (code.substr(at).starts_with("new") && OwnedAtOnce(before)) return false;
  if (before.ends_with("=") && code.substr(at).starts_with("delete")) return false;
  const std::string_view word = LastWord(before);
  const std::string_view line = code.substr(code.rfind('\n', at) + 1);
  return word != "operator" && !Trim(line).starts_with("#");
}

bool Uses(const Ban& ban, std::string_view code, size_t at, size_t length) {
  switch (ban.use) {
    case Use::kWord:
      return true;
    case Use::kCall:
      return IsCall(code, at, length);
    case Use::kNew:
      return IsNew(code, at);
  }
  return true;
}

class BanCheck {
 public:
  explicit BanCheck(const File& file) : file_(file), lines_(Lines(file.text)) {}

  std::vector<Finding> Run() {
    Looks();
    if (IsCode(file_.path)) Code();
    return std::move(findings_);
  }

 private:
  void Say(int line, std::string what, std::string_view advice) {
    findings_.push_back({file_.path, line, std::move(what), std::string(advice)});
  }

  void Code() {
    const std::string code = MaskCode(file_.text);
    for (const Ban& ban : kBans) {
      if (Allowed(ban, file_.path)) continue;
      for (std::string_view word : ban.words) {
        for (size_t at : FindWord(code, word)) {
          const int line = LineAt(code, at);
          if (!Uses(ban, code, at, word.size()) || Excused(line, word)) continue;
          Say(line, std::string(word) + " is not for this folder", ban.advice);
        }
      }
    }
    for (size_t at : FindWord(code, "GTEST_SKIP")) {
      const size_t close = code.find(')', at);
      if (close != code.npos && After(code, close + 1) == '<') continue;
      Say(LineAt(code, at), "a test is skipped without a word", "GTEST_SKIP() << why");
    }
  }

  bool Excused(int line, std::string_view word) const {
    return lines_[line - 1].find("house: allow " + std::string(word) + ":") != std::string::npos;
  }

  void Looks() {
    const bool code = IsCode(file_.path);
    for (size_t i = 0; i < lines_.size(); ++i) {
      const std::string_view line = lines_[i];
      const int number = static_cast<int>(i) + 1;
      if (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) {
        Say(number, "the line ends with a space", "take it away");
      }
      if (code && line.find('\t') != line.npos) Say(number, "a tab", "use spaces");
      if (code && Columns(line) > kColumns && !IsGenerated(file_.text)) {
        Say(number, std::to_string(Columns(line)) + " columns", "100 is the width: scripts/format");
      }
      for (std::string_view note : kNotes) {
        if (FindWord(line, note).empty()) continue;
        Say(number, "\"" + std::string(note) + "\"", "do it, or leave it out");
      }
      for (std::string_view place : kPlaces) {
        const size_t at = line.find(place);
        if (at == line.npos || (at > 0 && (IsWordChar(line[at - 1]) || line[at - 1] == '.')))
          continue;
        Say(number, "a path of one machine: " + std::string(place),
            "name it from the root of the project");
      }
    }
  }

  static size_t Columns(std::string_view line) {
    return static_cast<size_t>(std::count_if(line.begin(), line.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
  }

  const File& file_;
  const std::vector<std::string_view> lines_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> CheckBans(const Tree& tree) {
  std::vector<Finding> findings;
  for (const File& file : tree.files()) {
    if (file.path == "LICENSE") continue;
    auto found = BanCheck(file).Run();
    findings.insert(findings.end(), found.begin(), found.end());
  }
  return findings;
}

}  // namespace stoker::house
