#include <algorithm>

#include "size.h"

namespace stoker::house {
namespace {

// Preprocessor lines hold braces that need not match.
std::string MaskDirectives(std::string text) {
  bool in_directive = false;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = text.find('\n', begin);
    if (end == text.npos) end = text.size();
    const std::string_view line(text.data() + begin, end - begin);
    in_directive = in_directive || Trim(line).starts_with("#");
    const bool goes_on = in_directive && !line.empty() && line.back() == '\\';
    if (in_directive) std::fill(text.begin() + begin, text.begin() + end, ' ');
    in_directive = goes_on;
    begin = end + 1;
  }
  return text;
}

size_t SkipBraces(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '{') ++depth;
    if (text[i] == '}' && --depth == 0) return i;
  }
  return text.size() - 1;
}

// "template <...> void F()" without its first part.
std::string_view WithoutTemplate(std::string_view head) {
  head = Trim(head);
  while (head.starts_with("template")) {
    int depth = 0;
    size_t i = head.find('<');
    if (i == head.npos) break;
    for (; i < head.size(); ++i) {
      if (head[i] == '<') ++depth;
      if (head[i] == '>' && --depth == 0) break;
    }
    head = Trim(head.substr(std::min(i + 1, head.size())));
  }
  return head;
}

std::string_view FirstWord(std::string_view head) {
  size_t end = 0;
  while (end < head.size() && IsWordChar(head[end])) ++end;
  return head.substr(0, end);
}

bool OpensScope(std::string_view head) {
  std::string_view word = FirstWord(head);
  if (word == "inline" || word == "typedef" || word == "static") {
    word = FirstWord(Trim(head.substr(word.size())));
  }
  return word == "namespace" || word == "class" || word == "struct" || word == "union" ||
         (word == "extern" && head.find('(') == head.npos);
}

// A head with parameters and no "=" before them: not a variable, an enum or a list.
bool IsFunctionHead(std::string_view head) {
  const size_t open = head.find('(');
  if (open == head.npos || FirstWord(head) == "enum") return false;
  const std::string_view before = head.substr(0, open);
  return before.find('=') == before.npos || before.find("operator") != before.npos;
}

// True inside ": a_{1}, b_(2)": a brace after a name is then a member's, not the body.
bool InMemberList(std::string_view head) {
  int depth = 0;
  bool had_parameters = false;
  for (size_t i = 0; i < head.size(); ++i) {
    if (head[i] == '(') ++depth;
    if (head[i] == ')' && --depth == 0) had_parameters = true;
    if (head[i] != ':' || depth != 0 || !had_parameters) continue;
    const bool twice = (i + 1 < head.size() && head[i + 1] == ':') || head[i - 1] == ':';
    if (!twice) return IsWordChar(head.back()) || head.back() == '>';
  }
  return false;
}

std::string NameOf(std::string_view head) {
  const size_t open = head.find('(');
  if (head.starts_with("TEST")) return std::string(head.substr(0, head.find(')') + 1));
  size_t begin = open;
  while (begin > 0 && (IsWordChar(head[begin - 1]) || head[begin - 1] == ':' ||
                       head[begin - 1] == '~' || head[begin - 1] == '=')) {
    --begin;
  }
  return std::string(head.substr(begin, open - begin));
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(MaskDirectives(MaskCode(text))) {}

  std::vector<Function> Run() {
    for (at_ = 0; at_ < text_.size(); ++at_) {
      switch (text_[at_]) {
        case '(':
          ++parens_;
          break;
        case ')':
          --parens_;
          break;
        case ';':
        case '}':
          if (parens_ <= 0) NewHead();
          break;
        case ':':
          if (IsAccess(Trim(Head()))) NewHead();
          break;
        case '{':
          Brace();
          break;
        default:
          break;
      }
    }
    return std::move(functions_);
  }

 private:
  std::string_view Head() const { return std::string_view(text_).substr(head_, at_ - head_); }
  static bool IsAccess(std::string_view word) {
    return word == "public" || word == "private" || word == "protected";
  }
  void NewHead() {
    head_ = at_ + 1;
    parens_ = 0;
  }

  void Brace() {
    const std::string_view head = WithoutTemplate(Head());
    if (parens_ <= 0 && OpensScope(head)) {
      NewHead();
    } else if (parens_ <= 0 && IsFunctionHead(head) && !InMemberList(head)) {
      const size_t start = text_.find_first_not_of(" \t\r\n", head_);
      const size_t end = SkipBraces(text_, at_);
      const int line = LineAt(text_, start);
      functions_.push_back({NameOf(head), line, LineAt(text_, end) - line + 1});
      at_ = end;
      NewHead();
    } else {
      at_ = SkipBraces(text_, at_);
    }
  }

  std::string text_;
  size_t at_ = 0, head_ = 0;
  int parens_ = 0;
  std::vector<Function> functions_;
};

}  // namespace

std::vector<Function> Functions(std::string_view text) { return Scanner(text).Run(); }

}  // namespace stoker::house
