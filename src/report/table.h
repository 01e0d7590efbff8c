// Text in columns for a terminal: widths by what is shown, tones as ANSI colours where allowed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stoker::report {

struct TextStyle;

enum class Tone { kPlain, kDim, kBold, kGood, kNotice, kBad, kAccent };

// `text` in `tone`, or as it is where colours are off or the text is empty.
std::string Toned(std::string_view text, Tone tone, const TextStyle& style);

// Terminal columns of UTF-8 text: wide characters take two, combining ones none.
int DisplayWidth(std::string_view text);
// Cut to `columns` with an ellipsis, or padded with spaces (to the left where `right`).
std::string Fit(std::string_view text, int columns, bool right = false);
// Whole words on lines of at most `columns`; words longer than a line are cut.
std::vector<std::string> Wrap(std::string_view text, int columns);
// "█████▌    " for a ratio of 0 to 1.
std::string Bar(double ratio, int columns);

struct Column {
  std::string title;
  bool right = false;  // numbers
  bool gives = false;  // may be cut where the line is too long
};
struct Cell {
  std::string text;
  Tone tone = Tone::kPlain;
};

// Columns in which no row has text are left out.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void Add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }
  std::string Render(const TextStyle& style, int indent = 0) const;

 private:
  std::vector<int> Widths(int columns) const;
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace stoker::report
