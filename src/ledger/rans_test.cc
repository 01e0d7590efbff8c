#include "ledger/rans.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

namespace stoker::ledger {
namespace {

std::string Noise(std::mt19937_64& random, size_t size, double width) {
  std::normal_distribution<double> noise(0, width);
  std::string out;
  for (size_t i = 0; i < size; ++i) {
    out.push_back(static_cast<char>(std::lround(std::abs(noise(random)))));
  }
  return out;
}

TEST(RansTest, RoundTripsFromOneByteToAll) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    const std::string bytes =
        Noise(random, 1 + random() % 5000, static_cast<double>(random() % 120));
    std::string back;
    ASSERT_TRUE(RansDecode(RansEncode(bytes), bytes.size(), back)) << round;
    ASSERT_TRUE(back == bytes) << round;
  }
  std::string all;
  for (int i = 0; i < 256 * 20; ++i) all.push_back(static_cast<char>(i * 7));
  std::string back;
  ASSERT_TRUE(RansDecode(RansEncode(all), all.size(), back));
  EXPECT_TRUE(back == all);
}

TEST(RansTest, OneCommonByteAmongManyRareOnes) {
  std::string bytes(60'000, 'a');
  for (int i = 0; i < 256; ++i) bytes[static_cast<size_t>(i) * 200] = static_cast<char>(i);
  std::string back;
  ASSERT_TRUE(RansDecode(RansEncode(bytes), bytes.size(), back));
  EXPECT_TRUE(back == bytes);
}

TEST(RansTest, CostsAboutTheEntropy) {
  std::mt19937_64 random(8);
  std::string bits;
  for (int i = 0; i < 8000; ++i) bits.push_back(random() % 10 == 0 ? 1 : 0);  // 0.469 bits each
  EXPECT_LT(RansEncode(bits).size(), 8000 * 0.469 / 8 * 1.05 + 16);
}

TEST(RansTest, DamageIsRefusedOrGivesOtherBytesAndNeverHarms) {
  std::mt19937_64 random(9);
  const std::string bytes = Noise(random, 800, 6);
  const std::string whole = RansEncode(bytes);
  std::string out;
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(RansDecode(std::string_view(whole).substr(0, size), bytes.size(), out)) << size;
  }
  EXPECT_FALSE(RansDecode(whole + "x", bytes.size(), out));
  EXPECT_FALSE(RansDecode(whole, bytes.size() - 1, out));
  EXPECT_FALSE(RansDecode(whole, bytes.size() + 1, out));
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = whole;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    if (damaged != whole && RansDecode(damaged, bytes.size(), out)) {
      EXPECT_TRUE(out != bytes);
    }
  }
}

}  // namespace
}  // namespace stoker::ledger
