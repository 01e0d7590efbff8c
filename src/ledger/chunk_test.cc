#include "ledger/chunk.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace stoker::ledger {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// A body with the check word that the format page asks for: FNV-1a of 32 bits, little-endian.
std::string Checked(std::string body) {
  uint32_t hash = 2166136261u;
  for (const char c : body) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619u;
  for (int i = 0; i < 4; ++i) body.push_back(static_cast<char>(hash >> (8 * i)));
  return body;
}

std::string Bytes(std::initializer_list<int> bytes) {
  std::string out;
  for (const int b : bytes) out.push_back(static_cast<char>(b));
  return out;
}

Column ColumnOf(std::vector<int64_t> values) {
  Column column;
  column.absences.assign(values.size(), Absence::kNone);
  column.values = std::move(values);
  return column;
}

void ExpectRoundTrip(const Column& column) {
  ChunkCodec codec;
  const auto back = codec.DecodeColumn(codec.EncodeColumn(column.values, column.absences));
  ASSERT_TRUE(back) << back.error().Line();
  EXPECT_EQ(*back, column);
}

TEST(ChunkTest, EmptyAndSingle) {
  ExpectRoundTrip(ColumnOf({}));
  for (const int64_t v : {int64_t{0}, int64_t{-1}, kLeast, kMost}) ExpectRoundTrip(ColumnOf({v}));
}

TEST(ChunkTest, ExtremesThatOverflowTheirDifferences) {
  ExpectRoundTrip(ColumnOf({kLeast, kMost, kLeast, 0, kMost, kMost, kLeast}));
  ExpectRoundTrip(ColumnOf({kMost, kLeast, kMost}));
  ExpectRoundTrip(ColumnOf({0, kLeast, 0, kLeast, 1}));
  ExpectRoundTrip(ColumnOf({kLeast, -1, kMost - 1, 1, kLeast + 2}));
}

TEST(ChunkTest, EveryAbsenceSurvives) {
  Column column = ColumnOf({600'000, 0, 0, 590'000, 0, 0, 0, 580'000, 0});
  column.absences = {Absence::kNone, Absence::kTimeout,     Absence::kTimeout,
                     Absence::kNone, Absence::kUnsupported, Absence::kDenied,
                     Absence::kLost, Absence::kNone,        Absence::kNotYet};
  ExpectRoundTrip(column);
  column.absences.assign(column.values.size(), Absence::kError);
  column.values.assign(column.values.size(), 0);
  ExpectRoundTrip(column);
}

TEST(ChunkTest, RandomColumnsRoundTrip) {
  std::mt19937_64 random(301);
  for (int round = 0; round < 400; ++round) {
    const size_t size = random() % 600;
    const int bits = static_cast<int>(random() % 64);
    const int64_t step = static_cast<int64_t>(random() % 5000) + 1;
    const int shape = static_cast<int>(random() % 5);
    Column column;
    int64_t level = static_cast<int64_t>(random());
    if (shape != 0) level >>= 16;
    for (size_t i = 0; i < size; ++i) {
      const auto noise = static_cast<int64_t>(random() >> bits);
      if (shape == 0) level = noise;                              // anything
      if (shape == 1) level += noise % 1000 * step;               // a counter
      if (shape == 2) level = 600'000 + noise % 1000 * 10;        // a gauge of steps
      if (shape == 3 && random() % 50 == 0) level = noise % 100;  // rarely another
      if (shape == 4) level += 1000;                              // a line
      const bool absent = random() % 20 == 0;
      column.values.push_back(absent ? 0 : level);
      column.absences.push_back(absent ? static_cast<Absence>(1 + random() % 6) : Absence::kNone);
    }
    SCOPED_TRACE(round);
    ExpectRoundTrip(column);
  }
}

TEST(ChunkTest, ConstantHourTakesAFewBytes) {
  ChunkCodec codec;
  const Column column = ColumnOf(std::vector<int64_t>(3600, 600'000));
  EXPECT_LT(codec.EncodeColumn(column.values, column.absences).size(), 20u);
}

TEST(ChunkTest, NoisyWattsCostAboutTheirEntropy) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(0, 8);  // steps of 10 mW: about 5.05 bits of entropy
  std::vector<int64_t> values;
  for (int i = 0; i < 3600; ++i) values.push_back(440'000 + 10 * std::lround(noise(random)));
  const Column column = ColumnOf(values);
  ChunkCodec codec;
  EXPECT_LT(codec.EncodeColumn(column.values, column.absences).size(), 3600u * 6 / 8);
}

TEST(ChunkTest, TimesRoundTripAndMustNotRunBackwards) {
  ChunkCodec codec;
  std::vector<int64_t> times;
  std::mt19937_64 random(5);
  int64_t at = 1'790'000'000'000;
  for (int i = 0; i < 3600; ++i) times.push_back(at += 998 + static_cast<int64_t>(random() % 5));
  const std::string bytes = codec.EncodeTimes(times);
  EXPECT_LT(bytes.size(), 3600u);
  EXPECT_EQ(codec.DecodeTimes(bytes).value(), times);
  const std::vector<int64_t> backwards{2000, 1000};
  const auto refused = codec.DecodeTimes(codec.EncodeTimes(backwards));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kCorrupt);
}

TEST(ChunkTest, TickRoundTrips) {
  ChunkCodec codec;
  const std::vector<TickEntry> tick{{1, 440'610, Absence::kNone},
                                    {2, 0, Absence::kLost},
                                    {700, -5, Absence::kNone},
                                    {701, kLeast, Absence::kNone}};
  EXPECT_EQ(codec.DecodeTick(codec.EncodeTick(tick)).value(), tick);
  EXPECT_TRUE(codec.DecodeTick(codec.EncodeTick({})).value().empty());
}

TEST(ChunkTest, TierRoundTrips) {
  ChunkCodec codec;
  std::vector<TierBucket> tier;
  std::mt19937_64 random(9);
  for (int i = 0; i < 1440; ++i) {
    if (i % 7 == 0) continue;  // hours without samples
    const auto low = static_cast<int64_t>(random() % 1000);
    tier.push_back(TierBucket{i, low, low + 90, low + 5, low * 16 + 700, 60, i % 3});
  }
  tier.push_back(TierBucket{2000, 0, 0, 0, 0, 0, 60});
  EXPECT_EQ(codec.DecodeTier(codec.EncodeTier(tier)).value(), tier);
}

TEST(ChunkTest, AnyChangedByteIsFound) {
  ChunkCodec codec;
  std::vector<int64_t> values;
  std::mt19937_64 random(11);
  for (int i = 0; i < 200; ++i) values.push_back(static_cast<int64_t>(random() % 500));
  const Column column = ColumnOf(values);
  const std::string whole = codec.EncodeColumn(column.values, column.absences);
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
    const auto refused = codec.DecodeColumn(damaged);
    ASSERT_FALSE(refused) << i;
    EXPECT_EQ(refused.error().code, Code::kCorrupt);
    EXPECT_FALSE(refused.error().advice.empty());
  }
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(codec.DecodeColumn(std::string_view(whole).substr(0, size)));
  }
}

TEST(ChunkTest, HandMadeDamageBehindAGoodCheckWordIsRefused) {
  ChunkCodec codec;
  const std::vector<std::pair<const char*, std::string>> columns{
      {"nothing", Bytes({3})},
      {"another kind", Bytes({2, 0})},
      {"an unknown kind", Bytes({9, 0})},
      {"a count of 2^40", Bytes({3, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1})},
      {"a varint without end", Bytes({3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255})},
      {"a run of none", Bytes({3, 2, 0, 0})},
      {"a run past the count", Bytes({3, 2, 3, 1})},
      {"an absence nobody knows", Bytes({3, 2, 2, 7})},
      {"no values", Bytes({3, 2, 2, 0})},
      {"an unknown transform", Bytes({3, 2, 2, 0, 7, 0, 1, 0})},
      {"an unknown packing", Bytes({3, 2, 2, 0, 1, 0, 1, 9, 1, 1, 1})},
      {"bits that are missing", Bytes({3, 2, 2, 0, 1, 0, 1, 0, 255, 255, 1})},
      {"a frame that is none", Bytes({3, 2, 2, 0, 1, 0, 1, 1, 3, 1, 2, 3})},
      {"shares that do not add up", Bytes({3, 2, 2, 0, 1, 0, 1, 2, 7, 1, 0, 5, 0, 128, 0, 0})},
      {"more varints than samples", Bytes({3, 2, 2, 0, 5, 0, 1, 21, 0})},
      {"bytes after the end", Bytes({3, 2, 2, 0, 0, 0, 0, 0})},
  };
  for (const auto& [what, body] : columns) {
    const auto refused = codec.DecodeColumn(Checked(body));
    ASSERT_FALSE(refused) << what;
    EXPECT_EQ(refused.error().code, Code::kCorrupt) << what;
  }
  EXPECT_FALSE(codec.DecodeTick(Checked(Bytes({1, 200, 1}))));
  EXPECT_FALSE(codec.DecodeTick(Checked(Bytes({1, 1, 3, 0}))));   // absent for no reason
  EXPECT_FALSE(codec.DecodeTick(Checked(Bytes({1, 1, 3, 99}))));  // a reason nobody knows
  EXPECT_FALSE(codec.DecodeTier(
      Checked(Bytes({4, 2, 0, 1, 0, 0, 2, 0, 0, 0, 0, 0,
                     0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}))));  // the same bucket twice
}

// What libFuzzer does at leisure (fuzz/chunk_fuzz.cc), a little of it always.
TEST(ChunkTest, RandomBodiesBehindAGoodCheckWordNeverHarm) {
  std::mt19937_64 random(1234);
  ChunkCodec codec;
  std::vector<int64_t> values;
  for (int i = 0; i < 100; ++i) values.push_back(static_cast<int64_t>(random() % 100'000));
  const Column column = ColumnOf(values);
  const std::string whole = codec.EncodeColumn(column.values, column.absences);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string body = whole.substr(0, whole.size() - 4);
    for (size_t n = 1 + random() % 4; n > 0; --n) {
      body[random() % body.size()] = static_cast<char>(random());
    }
    if (random() % 3 == 0) body.resize(random() % body.size() + 1);
    body[0] = static_cast<char>(1 + random() % 4);
    const std::string bytes = Checked(body);
    refused += codec.DecodeColumn(bytes) ? 0 : 1;
    refused += codec.DecodeTick(bytes) ? 0 : 1;
    refused += codec.DecodeTimes(bytes) ? 0 : 1;
    refused += codec.DecodeTier(bytes) ? 0 : 1;
  }
  EXPECT_GT(refused, 9000);
}

}  // namespace
}  // namespace stoker::ledger
