// Layout: u64 header length, JSON {"name": {"dtype", "shape", "data_offsets": [begin, end]}}, data.
// The header is parsed as a stream of tokens, so that a hostile one cannot grow a tree in memory.
#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "vault/formats.h"

namespace stoker::vault {
namespace {

constexpr int64_t kMaxHeader = 100'000'000;  // the format's own limit
constexpr size_t kMaxString = 16 << 20;      // one name or one metadata value
constexpr size_t kMaxTensors = 2'000'000;

struct Range {
  int64_t begin = 0, end = 0;
};

int BitsOf(std::string_view dtype) {
  static constexpr std::pair<std::string_view, int> kBits[] = {
      {"F64", 64},    {"F32", 32}, {"F16", 16}, {"BF16", 16},   {"I64", 64},
      {"I32", 32},    {"I16", 16}, {"I8", 8},   {"U64", 64},    {"U32", 32},
      {"U16", 16},    {"U8", 8},   {"BOOL", 8}, {"F8_E5M2", 8}, {"F8_E4M3", 8},
      {"F8_E8M0", 8}, {"C64", 64}, {"F4", 4},   {"F6_E2M3", 6}, {"F6_E3M2", 6}};
  for (const auto& [name, bits] : kBits) {
    if (name == dtype) return bits;
  }
  return 0;  // a newer type: only its offsets can be checked
}

// Takes the tokens of the header and keeps nothing but the tensors' ranges.
class HeaderReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  const std::string& problem() const { return problem_; }
  std::vector<Range>& ranges() { return ranges_; }

  bool null() override { return Refuse(); }
  bool boolean(bool) override { return Refuse(); }
  bool number_float(number_float_t, const string_t&) override { return Refuse(); }
  bool number_integer(number_integer_t) override { return Refuse(); }  // negative ones only
  bool binary(binary_t&) override { return Refuse(); }
  bool number_unsigned(number_unsigned_t value) override {
    if (array_ == Array::kNone) return Refuse();
    if (array_ == Array::kShape) {
      if (++dimensions_ > 64 || __builtin_mul_overflow(elements_, value, &elements_)) {
        return Fail("a tensor's shape is too large");
      }
      return true;
    }
    if (offsets_.size() == 2 || value > static_cast<uint64_t>(INT64_MAX)) return Refuse();
    offsets_.push_back(static_cast<int64_t>(value));
    return true;
  }
  bool string(string_t& value) override {
    if (array_ != Array::kNone) return Refuse();
    if (depth_ == 2 && in_metadata_) return true;
    if (depth_ != 2 || key_ != "dtype") return Refuse();
    dtype_ = value;
    return true;
  }
  bool start_object(std::size_t) override {
    if (++depth_ > 2 || array_ != Array::kNone) return Refuse();
    if (depth_ == 2) {
      dtype_.clear();
      offsets_.clear();
      elements_ = 1;
      dimensions_ = 0;
      has_shape_ = false;
    }
    return true;
  }
  bool key(string_t& value) override {
    if (depth_ == 1) in_metadata_ = value == "__metadata__";
    key_ = value;
    return true;
  }
  bool end_object() override {
    const bool tensor = depth_-- == 2 && !in_metadata_;
    return !tensor || TakeTensor();
  }
  bool start_array(std::size_t) override {
    if (depth_ != 2 || in_metadata_ || array_ != Array::kNone) return Refuse();
    if (key_ == "shape") {
      array_ = Array::kShape;
      has_shape_ = true;
    } else if (key_ == "data_offsets") {
      array_ = Array::kOffsets;
    } else {
      return Refuse();
    }
    return true;
  }
  bool end_array() override {
    array_ = Array::kNone;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return Fail("the header is not valid JSON");
  }

 private:
  enum class Array { kNone, kShape, kOffsets };

  bool Fail(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
    return false;
  }
  bool Refuse() { return Fail("the header does not have the format's shape"); }

  bool TakeTensor() {
    if (dtype_.empty() || !has_shape_ || offsets_.size() != 2) return Refuse();
    if (offsets_[0] > offsets_[1]) return Fail("a tensor ends before it begins");
    if (ranges_.size() >= kMaxTensors) return Fail("too many tensors");
    const int bits = BitsOf(dtype_);
    const auto bytes = static_cast<uint64_t>(offsets_[1] - offsets_[0]);
    uint64_t total_bits = 0;
    if (__builtin_mul_overflow(elements_, static_cast<uint64_t>(bits), &total_bits)) {
      return Fail("a tensor's shape is too large");
    }
    if (bits != 0 && (total_bits % 8 != 0 || total_bits / 8 != bytes)) {
      return Fail("a tensor's shape and size differ");
    }
    ranges_.push_back({offsets_[0], offsets_[1]});
    return true;
  }

  int depth_ = 0;
  Array array_ = Array::kNone;
  bool in_metadata_ = false, has_shape_ = false;
  std::string key_, dtype_, problem_;
  std::vector<int64_t> offsets_;
  uint64_t elements_ = 1;
  int dimensions_ = 0;
  std::vector<Range> ranges_;
};

// Feeds the parser from the file; stops early at a string too long to keep, or when reading fails.
class HeaderChars {
 public:
  HeaderChars(const FileBytes& file, int64_t from, int64_t to) : cursor_(file, from, to) { More(); }
  bool done() const { return at_ == window_.size(); }
  char current() const { return window_[at_]; }
  void Next() {
    const char c = window_[at_];
    if (in_string_) {
      in_string_ = escaped_ || c != '"';
      escaped_ = !escaped_ && c == '\\';
      if (++length_ > kMaxString) return Stop();
    } else if (c == '"') {
      in_string_ = true;
      length_ = 0;
    }
    if (++at_ == window_.size()) More();
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  void Stop() {
    window_ = {};
    at_ = 0;
  }
  void More() {
    Stop();
    Result<std::string_view> more = cursor_.Some(Cursor::kWindow);
    if (more) {
      window_ = *more;
    } else {
      error_ = more.error();
    }
  }

  Cursor cursor_;
  std::string_view window_;
  size_t at_ = 0, length_ = 0;
  bool in_string_ = false, escaped_ = false;
  std::optional<Error> error_;
};

class CharIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;
  explicit CharIterator(HeaderChars* chars) : chars_(chars) {}
  char operator*() const { return chars_->current(); }
  CharIterator& operator++() {
    chars_->Next();
    return *this;
  }
  bool operator==(const CharIterator& other) const { return done() == other.done(); }
  bool operator!=(const CharIterator& other) const { return !(*this == other); }

 private:
  bool done() const { return chars_ == nullptr || chars_->done(); }
  HeaderChars* chars_;
};

}  // namespace

Result<Verdict> CheckSafetensors(const FileBytes& file) {
  const auto broken = [](std::string why) { return NotWhole("safetensors", std::move(why)); };
  if (file.size() < 8) return broken("shorter than its first number");
  STOKER_ASSIGN(const std::string first, file.ReadAt(0, 8));
  const uint64_t header = Little(first, 0, 8);
  if (header < 2 || header > static_cast<uint64_t>(kMaxHeader)) {
    return broken("the header's length makes no sense");
  }
  const int64_t data_at = 8 + static_cast<int64_t>(header);
  if (data_at > file.size()) return broken("cut off within the header");

  HeaderChars chars(file, 8, data_at);
  HeaderReader reader;
  const bool parsed =
      nlohmann::json::sax_parse(CharIterator(&chars), CharIterator(nullptr), &reader);
  if (chars.error()) return *chars.error();
  if (!parsed) return broken(reader.problem());

  std::vector<Range>& ranges = reader.ranges();
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  int64_t at = 0;
  for (const Range& range : ranges) {
    if (range.begin != at) return broken("the tensors overlap or leave a gap");
    at = range.end;
  }
  const int64_t data = file.size() - data_at;
  if (data < at) return broken("cut off within the tensors");
  if (data > at) return broken("longer than its tensors");
  return Whole("safetensors");
}

}  // namespace stoker::vault
