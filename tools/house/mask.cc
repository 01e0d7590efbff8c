#include "tree.h"

namespace stoker::house {
namespace {

// Walks once over the text; each Skip function blanks one comment or literal and moves behind it.
class Masker {
 public:
  explicit Masker(std::string_view text) : text_(text), out_(text) {}

  std::string Run() {
    while (at_ < text_.size()) {
      if (Starts("//")) {
        Line();
      } else if (Starts("/*")) {
        Block();
      } else if (text_[at_] == '"' && IsRaw()) {
        RawString();
      } else if (text_[at_] == '"' || (text_[at_] == '\'' && !IsDigitSeparator())) {
        Literal(text_[at_]);
      } else {
        ++at_;
      }
    }
    return std::move(out_);
  }

 private:
  bool Starts(std::string_view mark) const { return text_.substr(at_).starts_with(mark); }

  void Blank(size_t begin, size_t end) {
    for (size_t i = begin; i < end && i < out_.size(); ++i) {
      if (out_[i] != '\n') out_[i] = ' ';
    }
  }

  // A comment of the first kind goes on in the next line after a backslash.
  void Line() {
    const size_t begin = at_;
    while (at_ < text_.size() && (text_[at_] != '\n' || text_[at_ - 1] == '\\')) ++at_;
    Blank(begin, at_);
  }

  void Block() {
    const size_t end = text_.find("*/", at_ + 2);
    const size_t stop = end == text_.npos ? text_.size() : end + 2;
    Blank(at_, stop);
    at_ = stop;
  }

  void Literal(char quote) {
    const size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
      at_ += text_[at_] == '\\' ? 2 : 1;
    }
    if (at_ > text_.size()) at_ = text_.size();
    Blank(begin, at_);
    if (at_ < text_.size() && text_[at_] == quote) ++at_;
  }

  size_t TokenStart() const {
    size_t start = at_;
    while (start > 0 && (IsWordChar(text_[start - 1]) || text_[start - 1] == '\'')) --start;
    return start;
  }

  bool IsRaw() const {
    const std::string_view prefix = text_.substr(TokenStart(), at_ - TokenStart());
    return prefix == "R" || prefix == "u8R" || prefix == "LR" || prefix == "uR" || prefix == "UR";
  }

  bool IsDigitSeparator() const {
    const size_t start = TokenStart();
    return start < at_ && text_[start] >= '0' && text_[start] <= '9';
  }

  void RawString() {
    const size_t open = text_.find('(', at_);
    if (open == text_.npos) {
      ++at_;
      return;
    }
    const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    const size_t end = text_.find(close, open);
    const size_t stop = end == text_.npos ? text_.size() : end;
    Blank(at_ + 1, stop);
    if (end != text_.npos) Blank(end, end + close.size() - 1);
    at_ = end == text_.npos ? text_.size() : end + close.size();
  }

  std::string_view text_;
  std::string out_;
  size_t at_ = 0;
};

}  // namespace

std::string MaskCode(std::string_view text) { return Masker(text).Run(); }

}  // namespace stoker::house
