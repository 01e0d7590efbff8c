#include "report/table.h"

#include <algorithm>
#include <cstdint>

#include "base/text.h"
#include "report/text.h"

namespace stoker::report {
namespace {

constexpr int kGap = 2;
constexpr int kLeastCut = 6;  // a column that gives keeps so many

struct Glyph {
  size_t bytes = 1;
  int columns = 1;
};

uint32_t Decode(std::string_view text, size_t at, size_t bytes) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
  if (bytes == 1) return byte(0);
  uint32_t code = byte(0) & (0x7F >> bytes);
  for (size_t i = 1; i < bytes; ++i) code = code << 6 | (byte(i) & 0x3F);
  return code;
}

int ColumnsOf(uint32_t c) {
  const auto in = [c](uint32_t from, uint32_t to) { return c >= from && c <= to; };
  if (in(0x300, 0x36F) || in(0x200B, 0x200F) || in(0xFE00, 0xFE0F)) return 0;
  const bool wide = in(0x1100, 0x115F) || in(0x2E80, 0xA4CF) || in(0xAC00, 0xD7A3) ||
                    in(0xF900, 0xFAFF) || in(0xFE30, 0xFE6F) || in(0xFF00, 0xFF60) ||
                    in(0xFFE0, 0xFFE6) || in(0x1F300, 0x1FAFF) || in(0x20000, 0x3FFFD);
  return wide ? 2 : 1;
}

Glyph GlyphAt(std::string_view text, size_t at) {
  const unsigned char first = static_cast<unsigned char>(text[at]);
  const size_t bytes = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (at + bytes > text.size()) return {1, 1};
  return {bytes, ColumnsOf(Decode(text, at, bytes))};
}

// The longest beginning of `text` that takes at most `columns`.
std::string_view Head(std::string_view text, int columns) {
  size_t at = 0;
  int used = 0;
  while (at < text.size()) {
    const Glyph glyph = GlyphAt(text, at);
    if (used + glyph.columns > columns) break;
    used += glyph.columns;
    at += glyph.bytes;
  }
  return text.substr(0, at);
}

const char* Escape(Tone tone) {
  switch (tone) {
    case Tone::kDim:
      return "\x1b[2m";
    case Tone::kBold:
      return "\x1b[1m";
    case Tone::kGood:
      return "\x1b[32m";
    case Tone::kNotice:
      return "\x1b[33m";
    case Tone::kBad:
      return "\x1b[31m";
    case Tone::kAccent:
      return "\x1b[36m";
    case Tone::kPlain:
      break;
  }
  return "";
}

}  // namespace

std::string Toned(std::string_view text, Tone tone, const TextStyle& style) {
  if (!style.color || tone == Tone::kPlain || text.empty()) return std::string(text);
  return std::string(Escape(tone)) + std::string(text) + "\x1b[0m";
}

int DisplayWidth(std::string_view text) {
  int columns = 0;
  for (size_t at = 0; at < text.size();) {
    const Glyph glyph = GlyphAt(text, at);
    columns += glyph.columns;
    at += glyph.bytes;
  }
  return columns;
}

std::string Fit(std::string_view text, int columns, bool right) {
  if (columns <= 0) return "";
  std::string out(text);
  if (DisplayWidth(text) > columns) {
    std::string_view head = Head(text, columns - 1);
    while (head.ends_with(' ')) head.remove_suffix(1);
    out = std::string(head) + "…";
  }
  const std::string pad(static_cast<size_t>(std::max(0, columns - DisplayWidth(out))), ' ');
  return right ? pad + out : out + pad;
}

std::vector<std::string> Wrap(std::string_view text, int columns) {
  columns = std::max(columns, 8);
  std::vector<std::string> lines(1);
  for (std::string_view word : Split(text, ' ')) {
    while (DisplayWidth(word) > columns) {
      if (!lines.back().empty()) lines.emplace_back();
      const std::string_view head = Head(word, columns);
      lines.back() = head;
      word.remove_prefix(head.size());
    }
    if (word.empty()) continue;
    std::string& line = lines.back();
    if (line.empty()) {
      line = word;
    } else if (DisplayWidth(line) + 1 + DisplayWidth(word) <= columns) {
      line += " " + std::string(word);
    } else {
      lines.emplace_back(word);
    }
  }
  return lines;
}

std::string Bar(double ratio, int columns) {
  static constexpr const char* kParts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int eighths = static_cast<int>(std::clamp(ratio, 0.0, 1.0) * columns * 8 + 0.5);
  std::string out;
  for (int i = 0; i < eighths / 8; ++i) out += "█";
  out += kParts[eighths % 8];
  const int used = eighths / 8 + (eighths % 8 > 0 ? 1 : 0);
  for (int i = used; i < columns; ++i) out += "·";
  return out;
}

std::vector<int> Table::Widths(int columns) const {
  std::vector<int> widths(columns_.size(), 0);
  for (size_t c = 0; c < columns_.size(); ++c) {
    for (const auto& row : rows_) {
      if (c < row.size()) widths[c] = std::max(widths[c], DisplayWidth(row[c].text));
    }
    if (widths[c] > 0) widths[c] = std::max(widths[c], DisplayWidth(columns_[c].title));
  }
  int total = -kGap;
  for (const int width : widths) total += width > 0 ? width + kGap : 0;
  // The widest column that may give does so first, a column at a time.
  while (total > columns) {
    size_t widest = columns_.size();
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (!columns_[c].gives || widths[c] <= kLeastCut) continue;
      if (widest == columns_.size() || widths[c] > widths[widest]) widest = c;
    }
    if (widest == columns_.size()) break;
    --widths[widest];
    --total;
  }
  return widths;
}

std::string Table::Render(const TextStyle& style, int indent) const {
  const std::vector<int> widths = Widths(style.width - indent);
  const std::string margin(static_cast<size_t>(indent), ' ');
  std::string out;
  const auto add_line = [&](const auto& cell_at) {
    std::string line = margin;
    std::string held;  // spaces wait, so that no line ends in them
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (widths[c] == 0) continue;
      const auto [text, tone] = cell_at(c);
      std::string fitted = Fit(text, widths[c], columns_[c].right);
      const size_t end = fitted.find_last_not_of(' ') + 1;
      const std::string tail = fitted.substr(end);
      fitted.resize(end);
      if (!fitted.empty()) line += held + Toned(fitted, tone, style), held.clear();
      held += tail + std::string(kGap, ' ');
    }
    out += line + "\n";
  };
  const bool titled = std::any_of(columns_.begin(), columns_.end(),
                                  [](const Column& c) { return !c.title.empty(); });
  if (titled) add_line([&](size_t c) { return Cell{columns_[c].title, Tone::kDim}; });
  for (const auto& row : rows_) {
    add_line([&](size_t c) { return c < row.size() ? row[c] : Cell{}; });
  }
  return out;
}

}  // namespace stoker::report
