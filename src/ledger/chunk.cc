#include "ledger/chunk.h"

#include <algorithm>
#include <array>

namespace stoker::ledger {
namespace {

enum Kind : uint8_t { kTick = 1, kTimes = 2, kColumn = 3, kTier = 4 };
constexpr size_t kCheckBytes = 4;
constexpr uint64_t kMaxSeries = uint64_t{1} << 62;
constexpr auto kLastAbsence = static_cast<uint8_t>(Absence::kNotYet);

// FNV-1a: one changed byte always changes it. Against decay, not against forgery.
uint32_t CheckWord(std::string_view bytes) {
  uint32_t hash = 2166136261u;
  for (const char c : bytes) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619u;
  return hash;
}

std::string Begin(Kind kind) { return std::string(1, static_cast<char>(kind)); }

std::string Finish(std::string body) {
  const uint32_t check = CheckWord(body);
  for (size_t i = 0; i < kCheckBytes; ++i) body.push_back(static_cast<char>(check >> (8 * i)));
  return body;
}

Error Damaged(std::string what) {
  return Corrupt(std::move(what), "samples",
                 "other samples are not affected; restore the ledger from a copy to have these");
}

// The bytes between the kind and the check word.
Result<std::string_view> Open(std::string_view bytes, Kind kind) {
  if (bytes.size() < 1 + kCheckBytes) return Damaged("a piece of samples is cut short");
  const std::string_view body = bytes.substr(0, bytes.size() - kCheckBytes);
  uint32_t check = 0;
  for (size_t i = 0; i < kCheckBytes; ++i) {
    check |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[body.size() + i])) << (8 * i);
  }
  if (check != CheckWord(body)) return Damaged("a piece of samples does not match its check word");
  if (static_cast<uint8_t>(body[0]) != kind)
    return Damaged("a piece of samples is of another kind");
  return body.substr(1);
}

Result<size_t> TakeCount(ByteReader& in) {
  const uint64_t count = in.Varint();
  if (!in.ok() || count > kMaxInPiece) return Damaged("a piece of samples claims too many");
  return static_cast<size_t>(count);
}

Error Nonsense() { return Damaged("a piece of samples does not decode"); }

}  // namespace

std::string ChunkCodec::EncodeTick(std::span<const TickEntry> entries) {
  std::string out = Begin(kTick);
  PutVarint(out, entries.size());
  int64_t before = 0;
  for (const TickEntry& e : entries) {
    const bool absent = e.absence != Absence::kNone;
    PutVarint(out, static_cast<uint64_t>(e.series - before) << 1 | (absent ? 1 : 0));
    before = e.series;
    if (absent) {
      out.push_back(static_cast<char>(e.absence));
    } else {
      PutSigned(out, e.value);
    }
  }
  return Finish(std::move(out));
}

Result<std::vector<TickEntry>> ChunkCodec::DecodeTick(std::string_view bytes) {
  STOKER_ASSIGN(const std::string_view body, Open(bytes, kTick));
  ByteReader in(body);
  STOKER_ASSIGN(const size_t count, TakeCount(in));
  if (count > body.size()) return Nonsense();
  std::vector<TickEntry> out;
  out.reserve(count);
  uint64_t series = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t head = in.Varint();
    series += head >> 1;
    if (head < 2 || series > kMaxSeries) in.Fail();  // ids begin at 1 and ascend
    TickEntry entry{static_cast<int64_t>(series), 0, Absence::kNone};
    if ((head & 1) != 0) {
      const uint8_t absence = in.Byte();
      if (absence == 0 || absence > kLastAbsence) in.Fail();
      entry.absence = static_cast<Absence>(absence);
    } else {
      entry.value = in.Signed();
    }
    if (!in.ok()) return Nonsense();
    out.push_back(entry);
  }
  if (!in.at_end()) return Nonsense();
  return out;
}

std::string ChunkCodec::EncodeTimes(std::span<const int64_t> times_ms) {
  std::string out = Begin(kTimes);
  PutVarint(out, times_ms.size());
  ints_.Encode(times_ms, out);
  return Finish(std::move(out));
}

Result<std::vector<int64_t>> ChunkCodec::DecodeTimes(std::string_view bytes) {
  STOKER_ASSIGN(const std::string_view body, Open(bytes, kTimes));
  ByteReader in(body);
  STOKER_ASSIGN(const size_t count, TakeCount(in));
  std::vector<int64_t> out;
  if (!ints_.Decode(in, count, out) || !in.at_end()) return Nonsense();
  if (!std::is_sorted(out.begin(), out.end())) return Damaged("a timeline runs backwards");
  return out;
}

std::string ChunkCodec::EncodeColumn(std::span<const int64_t> values,
                                     std::span<const Absence> absences) {
  std::string out = Begin(kColumn);
  PutVarint(out, values.size());
  scratch_.clear();
  for (size_t i = 0; i < values.size();) {
    size_t end = i;
    while (end < values.size() && absences[end] == absences[i]) ++end;
    PutVarint(out, end - i);
    out.push_back(static_cast<char>(absences[i]));
    if (absences[i] == Absence::kNone) {
      scratch_.insert(scratch_.end(), values.begin() + static_cast<ptrdiff_t>(i),
                      values.begin() + static_cast<ptrdiff_t>(end));
    }
    i = end;
  }
  ints_.Encode(scratch_, out);
  return Finish(std::move(out));
}

Result<Column> ChunkCodec::DecodeColumn(std::string_view bytes) {
  STOKER_ASSIGN(const std::string_view body, Open(bytes, kColumn));
  ByteReader in(body);
  STOKER_ASSIGN(const size_t count, TakeCount(in));
  Column out;
  size_t present = 0;
  while (out.absences.size() < count) {
    const uint64_t run = in.Varint();
    const uint8_t absence = in.Byte();
    if (!in.ok() || run == 0 || run > count - out.absences.size() || absence > kLastAbsence) {
      return Nonsense();
    }
    out.absences.insert(out.absences.end(), run, static_cast<Absence>(absence));
    if (absence == 0) present += run;
  }
  if (present == count) {
    if (!ints_.Decode(in, present, out.values) || !in.at_end()) return Nonsense();
    return out;
  }
  if (!ints_.Decode(in, present, scratch_) || !in.at_end()) return Nonsense();
  out.values.reserve(count);
  size_t next = 0;
  for (const Absence absence : out.absences) {
    out.values.push_back(absence == Absence::kNone ? scratch_[next++] : 0);
  }
  return out;
}

// A page over a week reads thousands of buckets: speed before size. Seven columns; the last three
// are relative to the least value, where they are small.
std::string ChunkCodec::EncodeTier(std::span<const TierBucket> buckets) {
  std::string out = Begin(kTier);
  PutVarint(out, buckets.size());
  const auto put = [&](auto&& column) {
    scratch_.clear();
    for (const TierBucket& b : buckets) scratch_.push_back(static_cast<int64_t>(column(b)));
    ints_.Encode(scratch_, out, IntCodec::Aim::kSpeed);
  };
  const auto u = [](int64_t v) { return static_cast<uint64_t>(v); };
  put([&](const TierBucket& b) { return b.index; });
  put([&](const TierBucket& b) { return b.count; });
  put([&](const TierBucket& b) { return b.absent; });
  put([&](const TierBucket& b) { return b.min; });
  put([&](const TierBucket& b) { return u(b.max) - u(b.min); });
  put([&](const TierBucket& b) { return u(b.last) - u(b.min); });
  put([&](const TierBucket& b) { return u(b.mean16) - u(b.min) * 16; });
  return Finish(std::move(out));
}

Result<std::vector<TierBucket>> ChunkCodec::DecodeTier(std::string_view bytes) {
  STOKER_ASSIGN(const std::string_view body, Open(bytes, kTier));
  ByteReader in(body);
  STOKER_ASSIGN(const size_t count, TakeCount(in));
  std::vector<TierBucket> out(count);
  const auto take = [&](auto&& store) {
    if (!ints_.Decode(in, count, scratch_)) return;
    for (size_t i = 0; i < count; ++i) store(out[i], static_cast<uint64_t>(scratch_[i]));
  };
  const auto s = [](uint64_t v) { return static_cast<int64_t>(v); };
  const auto u = [](int64_t v) { return static_cast<uint64_t>(v); };
  take([&](TierBucket& b, uint64_t v) { b.index = s(v); });
  take([&](TierBucket& b, uint64_t v) { b.count = s(v); });
  take([&](TierBucket& b, uint64_t v) { b.absent = s(v); });
  take([&](TierBucket& b, uint64_t v) { b.min = s(v); });
  take([&](TierBucket& b, uint64_t v) { b.max = s(u(b.min) + v); });
  take([&](TierBucket& b, uint64_t v) { b.last = s(u(b.min) + v); });
  take([&](TierBucket& b, uint64_t v) { b.mean16 = s(u(b.min) * 16 + v); });
  if (!in.at_end()) return Nonsense();
  constexpr int64_t kMost = int64_t{1} << 40;
  int64_t before = -1;
  for (const TierBucket& b : out) {
    if (b.index <= before || b.index > kMost) return Damaged("a tier runs backwards");
    if (b.count < 0 || b.absent < 0 || b.count > kMost || b.absent > kMost) return Nonsense();
    before = b.index;
  }
  return out;
}

}  // namespace stoker::ledger
