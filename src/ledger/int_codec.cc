#include "ledger/int_codec.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "ledger/rans.h"

namespace stoker::ledger {
namespace {

// First byte of a column. A line needs no symbols; the others come in two codings each.
enum Transforming : uint8_t { kLine = 0, kCentred = 1, kDelta = 2, kDeltaDelta = 3 };
constexpr uint8_t kBytesCoding = 4;  // added to the transform: varints instead of tokens and bits
// How a run of bytes is packed.
enum Packing : uint8_t { kAsIs = 0, kZstd = 1, kRange = 2 };
// Below this the table of the range coder eats what it gains.
constexpr size_t kWorthRanging = 96;
// Level 3 of zstd: higher levels gain under 1 % on columns of a few kilobytes and cost three times.
constexpr int kLevel = 3;
// Every frame begins with these four bytes, so they are not stored.
constexpr std::string_view kFrameMagic("\x28\xb5\x2f\xfd", 4);

uint64_t ZigZag(int64_t v) {
  return (static_cast<uint64_t>(v) << 1) ^ static_cast<uint64_t>(v >> 63);
}
int64_t UnZigZag(uint64_t u) { return static_cast<int64_t>((u >> 1) ^ (~(u & 1) + 1)); }

// Differences wrap: decoding wraps back, so that any two integers round-trip.
int64_t Minus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

uint64_t Magnitude(int64_t v) {
  return v < 0 ? ~static_cast<uint64_t>(v) + 1 : static_cast<uint64_t>(v);
}

// A symbol below 16 is its own token. Of a larger one the token holds the width and the two bits
// below the leading one, and the rest is stored as it is: the token alone carries the shape of a
// distribution, so entropy coding it comes near the entropy of the whole.
constexpr uint64_t kExact = 16;
constexpr int kExactWidth = 4;

struct Token {
  uint8_t token;
  int rest_bits;
};

Token TokenOf(uint64_t symbol) {
  if (symbol < kExact) return {static_cast<uint8_t>(symbol), 0};
  const int width = std::bit_width(symbol);
  const auto top = static_cast<int>((symbol >> (width - 3)) & 3);
  return {static_cast<uint8_t>(kExact + static_cast<uint64_t>(4 * (width - kExactWidth - 1) + top)),
          width - 3};
}

int RestBits(uint8_t token) {
  return token < kExact ? 0 : (token - static_cast<int>(kExact)) / 4 + kExactWidth + 1 - 3;
}

uint64_t SymbolOf(uint8_t token, uint64_t rest) {
  if (token < kExact) return token;
  const auto top = static_cast<uint64_t>(4 + (token - kExact) % 4);
  return top << RestBits(token) | rest;
}

// Bits that the symbols need as tokens and rest.
double EstimateBits(const std::vector<uint64_t>& symbols) {
  std::array<uint32_t, 256> histogram{};
  double bits = 0;
  for (const uint64_t symbol : symbols) {
    const Token t = TokenOf(symbol);
    ++histogram[t.token];
    bits += t.rest_bits;
  }
  const auto total = static_cast<double>(symbols.size());
  for (const uint32_t n : histogram) {
    if (n > 0) bits += n * std::log2(total / n);
  }
  return bits;
}

// A value in the middle of all, from a few of them.
int64_t Middle(std::span<const int64_t> v) {
  std::array<int64_t, 255> some;
  const size_t count = std::min(v.size(), some.size());
  for (size_t i = 0; i < count; ++i) some[i] = v[i * v.size() / count];
  const auto middle = some.begin() + static_cast<ptrdiff_t>(count / 2);
  std::nth_element(some.begin(), middle, some.begin() + static_cast<ptrdiff_t>(count));
  return *middle;
}

int64_t UsualDifference(std::span<const int64_t> v, uint64_t step) {
  std::array<int64_t, 255> some;
  const size_t count = std::min(v.size() - 1, some.size());
  for (size_t i = 0; i < count; ++i) {
    const size_t at = 1 + i * (v.size() - 1) / count;
    some[i] = Minus(v[at], v[at - 1]) / static_cast<int64_t>(step);
  }
  return Middle(std::span<const int64_t>(some.data(), count));
}

bool IsLine(std::span<const int64_t> v) {
  if (v.size() < 2) return true;
  const int64_t step = Minus(v[1], v[0]);
  for (size_t i = 2; i < v.size(); ++i) {
    if (Minus(v[i], v[i - 1]) != step) return false;
  }
  return true;
}

uint64_t CommonStep(std::span<const int64_t> v, int64_t least, int64_t most) {
  const uint64_t range = static_cast<uint64_t>(most) - static_cast<uint64_t>(least);
  if (range > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return 1;
  uint64_t step = 0;
  for (size_t i = 1; i < v.size() && step != 1; ++i) {
    step = std::gcd(step, Magnitude(v[i] - v[i - 1]));
  }
  return step;
}

}  // namespace

uint8_t ByteReader::Byte() {
  if (!ok_ || bytes_.empty()) {
    ok_ = false;
    return 0;
  }
  const auto byte = static_cast<uint8_t>(bytes_.front());
  bytes_.remove_prefix(1);
  return byte;
}

uint64_t ByteReader::Varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const uint8_t byte = Byte();
    if (shift == 63 && byte > 1) break;
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return ok_ ? value : 0;
  }
  ok_ = false;
  return 0;
}

int64_t ByteReader::Signed() { return UnZigZag(Varint()); }

std::string_view ByteReader::Take(uint64_t size) {
  if (!ok_ || size > bytes_.size()) {
    ok_ = false;
    return {};
  }
  const std::string_view out = bytes_.substr(0, size);
  bytes_.remove_prefix(size);
  return out;
}

void PutVarint(std::string& out, uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

void PutSigned(std::string& out, int64_t value) { PutVarint(out, ZigZag(value)); }

struct IntCodec::Zstd {
  Zstd() {
    STOKER_CHECK(pack && unpack);
    ZSTD_CCtx_setParameter(pack.get(), ZSTD_c_compressionLevel, kLevel);
    ZSTD_CCtx_setParameter(pack.get(), ZSTD_c_contentSizeFlag, 0);
  }
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> pack{ZSTD_createCCtx(), &ZSTD_freeCCtx};
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> unpack{ZSTD_createDCtx(), &ZSTD_freeDCtx};
};

struct IntCodec::Plan {
  Transforming transform = kCentred;
  int64_t base = 0;   // a middle value for kCentred, else the first
  uint64_t step = 1;  // every difference is a multiple of it
  int64_t usual = 0;  // a middle difference, in steps; for kDelta
};

IntCodec::IntCodec() : zstd_(std::make_unique<Zstd>()) {}
IntCodec::~IntCodec() = default;

void IntCodec::Transform(std::span<const int64_t> v, const Plan& plan, std::vector<uint64_t>& out) {
  out.clear();
  const auto step = static_cast<int64_t>(plan.step);
  if (plan.transform == kCentred) {
    for (const int64_t x : v) out.push_back(ZigZag(Minus(x, plan.base) / step));
    return;
  }
  int64_t before = plan.usual;
  for (size_t i = 1; i < v.size(); ++i) {
    const int64_t delta = step == 1 ? Minus(v[i], v[i - 1]) : Minus(v[i], v[i - 1]) / step;
    out.push_back(ZigZag(Minus(delta, before)));
    if (plan.transform == kDeltaDelta) before = delta;
  }
}

void IntCodec::Encode(std::span<const int64_t> v, std::string& out, Aim aim) {
  aim_ = aim;
  if (v.empty()) return;
  if (IsLine(v)) {
    out.push_back(static_cast<char>(kLine));
    PutSigned(out, v[0]);
    PutSigned(out, v.size() > 1 ? Minus(v[1], v[0]) : 0);
    return;
  }
  const auto [least, most] = std::minmax_element(v.begin(), v.end());
  Plan best{kCentred, Middle(v), CommonStep(v, *least, *most)};
  Transform(v, best, symbols_);
  double best_bits = EstimateBits(symbols_);
  for (const Transforming transform : {kDelta, kDeltaDelta}) {
    const Plan plan{transform, v[0], best.step,
                    transform == kDelta ? UsualDifference(v, best.step) : 0};
    Transform(v, plan, trial_);
    const double bits = EstimateBits(trial_);
    if (bits >= best_bits) continue;
    best = plan;
    best_bits = bits;
    symbols_.swap(trial_);
  }
  std::string tokens, bytes;
  EncodeTokens(tokens);
  EncodeBytes(bytes);
  const bool as_bytes = bytes.size() < tokens.size();
  out.push_back(static_cast<char>(best.transform + (as_bytes ? kBytesCoding : 0)));
  PutSigned(out, best.base);
  PutVarint(out, best.step);
  if (best.transform == kDelta) PutSigned(out, best.usual);
  out += as_bytes ? bytes : tokens;
}

// The tokens packed, then all the rests.
void IntCodec::EncodeTokens(std::string& out) {
  raw_.clear();
  packed_.clear();
  uint64_t pending = 0;
  int filled = 0;
  const auto put = [&](uint64_t value, int width) {
    pending |= value << filled;
    filled += width;
    while (filled >= 8) {
      packed_.push_back(static_cast<char>(pending));
      pending >>= 8;
      filled -= 8;
    }
  };
  for (const uint64_t symbol : symbols_) {
    const Token t = TokenOf(symbol);
    raw_.push_back(static_cast<char>(t.token));
    const uint64_t rest = symbol & ((uint64_t{1} << t.rest_bits) - 1);
    const int low = std::min(t.rest_bits, 32);
    put(rest & ((uint64_t{1} << low) - 1), low);
    if (t.rest_bits > 32) put(rest >> 32, t.rest_bits - 32);
  }
  if (filled > 0) packed_.push_back(static_cast<char>(pending));
  PutPacked(raw_, out);
  out += packed_;
}

void IntCodec::EncodeBytes(std::string& out) {
  raw_.clear();
  for (const uint64_t u : symbols_) PutVarint(raw_, u);
  PutVarint(out, raw_.size());
  PutPacked(raw_, out);
}

// The smallest of the bytes as they are, a frame of zstd without its magic, and the range coder;
// the latter only where it gains something, as it is slower to read.
void IntCodec::PutPacked(std::string_view raw, std::string& out) {
  frame_.resize(ZSTD_compressBound(raw.size()));
  const size_t size =
      ZSTD_compress2(zstd_->pack.get(), frame_.data(), frame_.size(), raw.data(), raw.size());
  std::string_view best = raw;
  Packing packing = kAsIs;
  if (!ZSTD_isError(size) && size - kFrameMagic.size() < best.size()) {
    best = std::string_view(frame_).substr(kFrameMagic.size(), size - kFrameMagic.size());
    packing = kZstd;
  }
  std::string ranged;
  if (aim_ == Aim::kSize && best.size() >= kWorthRanging) {
    ranged = RansEncode(raw);
    if (ranged.size() + ranged.size() / 16 < best.size()) {
      best = ranged;
      packing = kRange;
    }
  }
  out.push_back(static_cast<char>(packing));
  if (packing != kAsIs) PutVarint(out, best.size());
  out += best;
}

bool IntCodec::TakePacked(ByteReader& in, size_t raw_size, std::string& out) {
  const uint8_t packing = in.Byte();
  if (packing == kAsIs) {
    out = in.Take(raw_size);
    return in.ok();
  }
  const std::string_view packed = in.Take(in.Varint());
  if (!in.ok()) return false;
  if (packing == kRange) {
    if (!RansDecode(packed, raw_size, out)) in.Fail();
    return in.ok();
  }
  if (packing != kZstd) in.Fail();
  frame_.assign(kFrameMagic);
  frame_ += packed;
  out.resize(raw_size);
  const size_t got = ZSTD_decompressDCtx(zstd_->unpack.get(), out.data(), out.size(), frame_.data(),
                                         frame_.size());
  if (ZSTD_isError(got) || got != raw_size) in.Fail();
  return in.ok();
}

bool IntCodec::DecodeTokens(ByteReader& in, size_t count) {
  if (!TakePacked(in, count, raw_)) return false;
  uint64_t total_bits = 0;
  for (const char c : raw_) total_bits += static_cast<uint64_t>(RestBits(static_cast<uint8_t>(c)));
  packed_ = in.Take((total_bits + 7) / 8);
  if (!in.ok()) return false;
  packed_.append(16, '\0');  // so that whole words can be loaded at the end
  symbols_.resize(count);
  uint64_t position = 0;
  const auto load = [&](uint64_t bit) {
    uint64_t word;
    std::memcpy(&word, packed_.data() + bit / 8, sizeof word);
    return word >> (bit % 8);
  };
  for (size_t i = 0; i < count; ++i) {
    const auto token = static_cast<uint8_t>(raw_[i]);
    if (token < kExact) {
      symbols_[i] = token;
      continue;
    }
    const int rest = RestBits(token);
    uint64_t value = load(position);
    if (rest > 56) value = (value & 0xffffffff) | (load(position + 32) << 32);
    symbols_[i] = SymbolOf(token, value & ((uint64_t{1} << rest) - 1));
    position += static_cast<uint64_t>(rest);
  }
  return true;
}

bool IntCodec::DecodeBytes(ByteReader& in, size_t count) {
  const uint64_t raw_size = in.Varint();
  if (raw_size > count * 10) in.Fail();
  if (!in.ok() || !TakePacked(in, raw_size, raw_)) return false;
  ByteReader raw(raw_);
  symbols_.resize(count);
  for (uint64_t& symbol : symbols_) symbol = raw.Varint();
  if (!raw.at_end()) in.Fail();
  return in.ok();
}

bool IntCodec::Decode(ByteReader& in, size_t count, std::vector<int64_t>& out) {
  out.clear();
  if (count == 0) return in.ok();
  const uint8_t mode = in.Byte();
  auto value = static_cast<uint64_t>(in.Signed());
  if (mode == kLine) {
    const auto step = static_cast<uint64_t>(in.Signed());
    if (!in.ok()) return false;
    out.resize(count);
    for (size_t i = 0; i < count; ++i) out[i] = static_cast<int64_t>(value + i * step);
    return true;
  }
  const uint64_t step = in.Varint();
  const bool as_bytes = mode > kBytesCoding;
  const int transform = as_bytes ? mode - kBytesCoding : mode;
  if (transform < kCentred || transform > kDeltaDelta) in.Fail();
  const auto usual = static_cast<uint64_t>(transform == kDelta ? in.Signed() : 0);
  const size_t symbols = transform == kCentred ? count : count - 1;
  if (!in.ok() || !(as_bytes ? DecodeBytes(in, symbols) : DecodeTokens(in, symbols))) return false;
  out.resize(count);
  if (transform == kCentred) {
    for (size_t i = 0; i < count; ++i) {
      out[i] = static_cast<int64_t>(value + static_cast<uint64_t>(UnZigZag(symbols_[i])) * step);
    }
    return true;
  }
  out[0] = static_cast<int64_t>(value);
  uint64_t delta = 0;
  for (size_t i = 1; i < count; ++i) {
    const auto change = static_cast<uint64_t>(UnZigZag(symbols_[i - 1]));
    delta = (transform == kDelta ? usual : delta) + change;
    value += delta * step;
    out[i] = static_cast<int64_t>(value);
  }
  return true;
}

}  // namespace stoker::ledger
