#include "explain/turn.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

namespace stoker::explain {
namespace {

using Values = std::vector<double>;

Values Walk(size_t n, std::mt19937& random) {
  std::normal_distribution<double> step(0, 1);
  Values y(n, 0);
  for (size_t i = 1; i < n; ++i) y[i] = y[i - 1] + step(random);
  return y;
}

// A loss that falls to `turn` of the run, then rises to `rise`, under noise.
Values Overfit(size_t n, double turn, double rise, double noise, std::mt19937& random) {
  std::normal_distribution<double> scatter(0, noise);
  Values y;
  for (size_t i = 0; i < n; ++i) {
    const double t = static_cast<double>(i) / static_cast<double>(n - 1);
    const double trend = t < turn ? std::pow(1 - t / turn, 2) : rise * (t - turn) / (1 - turn);
    y.push_back(1 + trend + scatter(random));
  }
  return y;
}

double Alarms(size_t runs, const std::function<Values()>& make) {
  size_t found = 0;
  for (size_t i = 0; i < runs; ++i) found += FindTurn(make()).has_value() ? 1 : 0;
  return static_cast<double>(found) / static_cast<double>(runs);
}

TEST(TurnTest, FindsWhereALossTurned) {
  std::mt19937 random(7);
  const auto turn = FindTurn(Overfit(600, 0.66, 0.15, 0.006, random));
  ASSERT_TRUE(turn.has_value());
  EXPECT_NEAR(static_cast<double>(turn->at), 396, 25);
  EXPECT_LE(turn->first, turn->at);
  EXPECT_GE(turn->last, turn->at);
  EXPECT_GT(turn->strength, 20);
}

TEST(TurnTest, FindsItInShortRunsToo) {
  std::mt19937 random(8);
  const auto turn = FindTurn(Overfit(30, 0.5, 0.5, 0.02, random));
  ASSERT_TRUE(turn.has_value());
  EXPECT_NEAR(static_cast<double>(turn->at), 15, 3);
}

TEST(TurnTest, TheTruthLiesInTheBandItNames) {
  std::mt19937 random(9);
  int inside = 0;
  for (int i = 0; i < 50; ++i) {
    const auto turn = FindTurn(Overfit(200, 0.6, 0.4, 0.02, random));
    ASSERT_TRUE(turn.has_value());
    inside += turn->first <= 121 && 117 <= turn->last ? 1 : 0;
  }
  EXPECT_GE(inside, 40);
}

TEST(TurnTest, NoiseAloneIsNoTurn) {
  std::mt19937 random(1);
  std::normal_distribution<double> scatter(0, 1);
  for (const size_t n : {12, 20, 40, 100, 300}) {
    EXPECT_LE(Alarms(200,
                     [&] {
                       Values y(n);
                       for (double& v : y) v = scatter(random);
                       return y;
                     }),
              0.005)
        << n;
  }
}

TEST(TurnTest, ALossThatFlattensUnderNoiseIsNoTurn) {
  std::mt19937 random(2);
  for (const size_t n : {12, 20, 40, 100, 300}) {
    EXPECT_LE(Alarms(200, [&] { return Overfit(n, 0.6, 0, 0.05, random); }), 0.005) << n;
  }
}

TEST(TurnTest, ARandomWalkSeldomLooksLikeATurn) {
  std::mt19937 random(3);
  for (const size_t n : {12, 20, 40, 100, 300}) {
    EXPECT_LE(Alarms(200, [&] { return Walk(n, random); }), 0.07) << n;
  }
}

TEST(TurnTest, TooFewPointsOrNumbersBeyondArithmeticSayNothing) {
  EXPECT_FALSE(FindTurn({}).has_value());
  EXPECT_FALSE(FindTurn({3, 2, 1, 0, 1, 2, 3, 4, 5, 6, 7}).has_value());
  EXPECT_FALSE(FindTurn(Values(100, 0.5)).has_value());
  Values huge;
  for (int i = 0; i < 100; ++i) {
    huge.push_back(std::abs(i - 50) * std::numeric_limits<double>::max() / 60);
  }
  EXPECT_FALSE(FindTurn(huge).has_value());
}

TEST(SmoothTest, KeepsAStraightLineToItsEnds) {
  Values y;
  for (int i = 0; i < 20; ++i) y.push_back(2 * i + 1);
  const Values smoothed = Smooth(y, 4);
  for (int i = 0; i < 20; ++i) EXPECT_NEAR(smoothed[i], y[i], 1e-9);
}

TEST(FlatTest, SaysFromWhereACurveStaysAtItsEnd) {
  EXPECT_EQ(FlatSince({5, 4, 3, 1.01, 1, 1.02, 1}, 0.05), 3u);
  EXPECT_EQ(FlatSince({}, 0.05), 0u);
}

}  // namespace
}  // namespace stoker::explain
