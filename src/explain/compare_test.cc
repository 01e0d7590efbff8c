#include "explain/compare.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stoker::explain {
namespace {

const Finding* Find(const Comparison& c, const std::string& id) {
  for (const Finding& f : c.findings) {
    if (f.id == id) return &f;
  }
  return nullptr;
}

double Number(const Finding& finding, const std::string& name) {
  for (const auto& [key, value] : finding.numbers) {
    if (key == name) return value;
  }
  ADD_FAILURE() << finding.id << " has no number " << name;
  return NAN;
}

bool Says(const Finding& finding, const std::string& words) {
  return finding.text.find(words) != std::string::npos;
}

// A published night: one card in 409 s an epoch at 344 W, eight in 64 s at 220 W each; 462 steps of
// 8 x 32 images.
Side OneCard() {
  Side side{.job = 1, .name = "one", .cards = 1, .unit = "image"};
  side.epoch_s = 409;
  side.epoch_error_s = 0.5;
  side.units_per_s = 462 * 256 / 409.0;
  side.power_w = 344;
  side.busy_ratio = 0.71;
  return side;
}
Side EightCards() {
  Side side{.job = 2, .name = "eight", .cards = 8, .unit = "image"};
  side.epoch_s = 64;
  side.epoch_error_s = 0.5;
  side.steps_per_epoch = 462;
  side.units_per_s = 462 * 256 / 64.0;
  side.power_w = 8 * 220;
  side.busy_ratio = 0.75;
  return side;
}

TEST(CompareTest, EightCardsAgainstOne) {
  const Comparison c = Compare({OneCard(), EightCards()});
  const Finding* scaling = Find(c, "scaling");
  ASSERT_NE(scaling, nullptr);
  EXPECT_NEAR(Number(*scaling, "speed_up"), 6.39, 0.005);
  EXPECT_NEAR(Number(*scaling, "speed_up_least"), 6.33, 0.005);
  EXPECT_NEAR(Number(*scaling, "speed_up_most"), 6.45, 0.005);
  EXPECT_NEAR(Number(*scaling, "efficiency_ratio"), 0.799, 0.0005);
  EXPECT_NEAR(Number(*scaling, "ideal_epoch_s"), 51.1, 0.05);
  EXPECT_NEAR(Number(*scaling, "lost_s_per_epoch"), 12.9, 0.05);
  EXPECT_NEAR(Number(*scaling, "lost_ms_per_step"), 27.9, 0.1);
  EXPECT_TRUE(Says(*scaling, "6.4 times as fast")) << scaling->text;
  EXPECT_NEAR(*EightCards().step_ms(), 138.5, 0.05);
}

TEST(CompareTest, WindowsThatContradictEachOtherAreRefused) {
  const Comparison c = Compare({OneCard(), EightCards()});
  const Finding* refused = Find(c, "windows-contradict");
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused, &c.findings.front());
  EXPECT_NEAR(Number(*refused, "a_j_per_unit"), 1.189, 0.001);
  EXPECT_NEAR(Number(*refused, "b_j_per_unit"), 0.952, 0.001);
  EXPECT_NEAR(Number(*refused, "waiting_power_w"), -272, 2);
  EXPECT_TRUE(Says(*refused, "contradict each other")) << refused->text;
}

TEST(CompareTest, TheOrderOfTheJobsDoesNotTurnTheTablesRound) {
  const Comparison c = Compare({EightCards(), OneCard()});
  ASSERT_NE(Find(c, "scaling"), nullptr);
  EXPECT_NEAR(Number(*Find(c, "scaling"), "speed_up"), 6.39, 0.005);
  EXPECT_NE(Find(c, "windows-contradict"), nullptr);
}

TEST(CompareTest, WaitingThatCostsEnergyIsNoContradiction) {
  Side eight = EightCards();
  eight.power_w = 8 * 300;  // 51.1 s at 344 W and 12.9 s at about 130 W
  const Comparison c = Compare({OneCard(), eight});
  EXPECT_EQ(Find(c, "windows-contradict"), nullptr);
  EXPECT_NEAR(Number(*Find(c, "energy-per-unit"), "b_j_per_unit"), 1.299, 0.001);
}

TEST(CompareTest, NearlyPerfectScalingIsToldWithoutAlarm) {
  Side eight = EightCards();
  eight.epoch_s = 51.5;
  eight.units_per_s = 462 * 256 / 51.5;
  const Comparison c = Compare({OneCard(), eight});
  EXPECT_EQ(Find(c, "scaling")->severity, "info");
  EXPECT_EQ(Find(c, "windows-contradict"), nullptr);
}

TEST(CompareTest, WhatTheJobsDidNotTellIsNotMadeUp) {
  Side a{.job = 1, .name = "a", .cards = 1}, b{.job = 2, .name = "b", .cards = 8};
  EXPECT_TRUE(Compare({a, b}).findings.empty());
}

Side Trace(const char* name, double busy, double power, double stall, double period) {
  Side side{.job = 1, .name = name, .cards = 8};
  query::Rhythm rhythm;
  rhythm.to = WallTime{560'000};
  rhythm.busy_mean_ratio = busy;
  rhythm.power_mean_w = power;
  rhythm.stall_median_s = stall;
  rhythm.stall_period_s = period;
  rhythm.stalled_s = 560 * stall / period;
  side.rhythm = rhythm;
  return side;
}

TEST(CompareTest, EqualBusyAtHalfTheWattsIsSaid) {
  const Comparison c =
      Compare({Trace("rare", 0.885, 4168, 16, 245), Trace("often", 0.873, 2161, 16, 28)});
  const Finding* finding = Find(c, "busy-hides-it");
  ASSERT_NE(finding, nullptr);
  EXPECT_TRUE(Says(*finding, "87.3 against 88.5 %")) << finding->text;
  EXPECT_TRUE(Says(*finding, "often stopped for 16 s every 28 s")) << finding->text;
  const Comparison same =
      Compare({Trace("a", 0.885, 4168, 16, 245), Trace("b", 0.873, 4000, 16, 245)});
  EXPECT_EQ(Find(same, "busy-hides-it"), nullptr);
}

TEST(CompareTest, TheChainOfArmsSumsUpExactly) {
  const Arms arms = {{"A", 110.6}, {"A'", 101.2}, {"B", 138.5}, {"D", 120.4},
                     {"E", 104.9}, {"F", 107.0},  {"G", 131.3}};
  const auto parts = Decompose(arms);
  ASSERT_TRUE(parts);
  double sum = 0;
  std::map<std::string, double> by_id;
  for (const Share& share : parts->shares) {
    sum += share.ms;
    by_id[share.id] = share.ms;
  }
  EXPECT_NEAR(sum, 138.5 - 110.6, 1e-9);
  EXPECT_NEAR(parts->total_ms, 27.9, 1e-9);
  EXPECT_NEAR(by_id["contention"], 3.7, 1e-9);
  EXPECT_NEAR(by_id["data_wait"], 15.5, 1e-9);
  EXPECT_NEAR(by_id["compute_jitter"] + by_id["data_jitter"], 10.9, 1e-9);
  EXPECT_NEAR(by_id["sync"], 7.2, 1e-9);
  EXPECT_NEAR(by_id["own_data_wait"], -9.4, 1e-9);
}

TEST(CompareTest, FourArmsSplitEvenlyAndTellTheirInteraction) {
  const auto parts = Decompose({{"B", 138}, {"C", 118}, {"D", 121}, {"E", 105}});
  ASSERT_TRUE(parts);
  ASSERT_EQ(parts->shares.size(), 2u);
  EXPECT_NEAR(parts->shares[0].ms, 18, 1e-9);
  EXPECT_NEAR(parts->shares[1].ms, 15, 1e-9);
  EXPECT_NEAR(parts->shares[0].ms + parts->shares[1].ms, parts->total_ms, 1e-9);
  EXPECT_NEAR(*parts->interaction_ms, 4, 1e-9);
  EXPECT_FALSE(parts->cannot_tell.empty());
}

TEST(CompareTest, TooFewArmsSayNothing) {
  EXPECT_FALSE(Decompose({{"A", 110}, {"B", 138}}));
  EXPECT_FALSE(Decompose({}));
}

}  // namespace
}  // namespace stoker::explain
