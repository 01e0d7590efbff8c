#include "ledger/rans.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "ledger/int_codec.h"

namespace stoker::ledger {
namespace {

constexpr int kBits = 12;  // frequencies add up to 4096
constexpr uint32_t kTotal = 1u << kBits;
constexpr uint32_t kLow = 1u << 23;  // the state stays in [kLow, 256 * kLow)

using Frequencies = std::array<uint32_t, 256>;

// Shares of kTotal, at least one for each byte that occurs.
Frequencies SharesOf(std::string_view bytes) {
  std::array<uint64_t, 256> counts{};
  for (const char c : bytes) ++counts[static_cast<uint8_t>(c)];
  Frequencies shares{};
  int64_t left = kTotal;
  for (size_t i = 0; i < 256; ++i) {
    if (counts[i] == 0) continue;
    shares[i] = static_cast<uint32_t>(std::max<uint64_t>(1, counts[i] * kTotal / bytes.size()));
    left -= shares[i];
  }
  // What rounding left over, or took too much, falls on the largest shares, where it costs least.
  while (left != 0) {
    uint32_t& largest = *std::max_element(shares.begin(), shares.end());
    const int64_t change = left > 0 ? left : std::max<int64_t>(left, -int64_t{largest} / 2);
    largest = static_cast<uint32_t>(largest + change);
    left -= change;
  }
  return shares;
}

void PutShares(const Frequencies& shares, std::string& out) {
  PutVarint(out, static_cast<uint64_t>(std::count_if(shares.begin(), shares.end(),
                                                     [](uint32_t f) { return f > 0; })));
  size_t before = 0;
  for (size_t i = 0; i < 256; ++i) {
    if (shares[i] == 0) continue;
    PutVarint(out, i - before);
    PutVarint(out, shares[i]);
    before = i;
  }
}

bool TakeShares(ByteReader& in, Frequencies& shares) {
  shares.fill(0);
  const uint64_t count = in.Varint();
  uint64_t symbol = 0, total = 0;
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    const uint64_t gap = in.Varint();
    const uint64_t share = in.Varint();
    if (gap > 255 || (i > 0 && gap == 0) || share == 0 || share > kTotal) return false;
    symbol += gap;
    total += share;
    if (symbol > 255 || total > kTotal) return false;
    shares[symbol] = static_cast<uint32_t>(share);
  }
  return in.ok() && total == kTotal;
}

}  // namespace

std::string RansEncode(std::string_view bytes) {
  const Frequencies shares = SharesOf(bytes);
  std::array<uint32_t, 256> starts{};
  for (size_t i = 1; i < 256; ++i) starts[i] = starts[i - 1] + shares[i - 1];
  std::string out;
  PutShares(shares, out);
  std::string coded;  // from the last byte to the first
  uint32_t state = kLow;
  for (size_t i = bytes.size(); i-- > 0;) {
    const auto symbol = static_cast<uint8_t>(bytes[i]);
    const uint64_t most = (uint64_t{kLow >> kBits} << 8) * shares[symbol];
    while (state >= most) {
      coded.push_back(static_cast<char>(state));
      state >>= 8;
    }
    state = (state / shares[symbol] << kBits) + state % shares[symbol] + starts[symbol];
  }
  for (int i = 0; i < 4; ++i) coded.push_back(static_cast<char>(state >> (8 * i)));
  out.append(coded.rbegin(), coded.rend());
  return out;
}

bool RansDecode(std::string_view coded, size_t size, std::string& out) {
  ByteReader in(coded);
  Frequencies shares;
  if (!TakeShares(in, shares)) return false;
  struct Slot {
    uint8_t symbol;
    uint16_t share;
    uint16_t offset;  // within the symbol's share
  };
  std::array<Slot, kTotal> slots;
  size_t next = 0;
  for (size_t symbol = 0; symbol < 256; ++symbol) {
    for (uint32_t i = 0; i < shares[symbol]; ++i) {
      slots[next++] = {static_cast<uint8_t>(symbol), static_cast<uint16_t>(shares[symbol]),
                       static_cast<uint16_t>(i)};
    }
  }
  const std::string_view tail = in.Rest();
  if (tail.size() < 4) return false;
  uint32_t state = 0;
  size_t at = 0;
  while (at < 4) state = state << 8 | static_cast<uint8_t>(tail[at++]);
  if (state < kLow || state >> 31 != 0) return false;
  out.resize(size);
  for (char& c : out) {
    const Slot slot = slots[state & (kTotal - 1)];
    c = static_cast<char>(slot.symbol);
    state = slot.share * (state >> kBits) + slot.offset;
    while (state < kLow) {
      if (at == tail.size()) return false;
      state = state << 8 | static_cast<uint8_t>(tail[at++]);
    }
  }
  return state == kLow && at == tail.size();
}

}  // namespace stoker::ledger
