#include "plan/planner.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace stoker::plan {
namespace {

constexpr const char* kCeiling = R"({"unit":"token","cards":8,"targets":7,"drafters":1,
 "throughput_per_s":34700,"busy_w":600,"idle_w":60,"limit_w":600,"min_limit_w":150,
 "remaining_units":1.109e10,
 "curve":[{"power_w":600,"relative":1.0},{"power_w":500,"relative":0.947},
          {"power_w":450,"relative":0.902},{"power_w":400,"relative":0.839}]})";

Problem Ceiling() {
  auto problem = ParseProblem(kCeiling, "ceiling.json");
  EXPECT_TRUE(problem) << problem.error().Line();
  return *problem;
}

const Plan* Find(const PlanSet& set, PlanKind kind, int targets) {
  const auto it = std::find_if(set.plans.begin(), set.plans.end(), [&](const Plan& p) {
    return p.kind == kind && p.targets == targets;
  });
  return it == set.plans.end() ? nullptr : &*it;
}

TEST(PlannerTest, ParkingCostsWhatTheArithmeticSays) {
  const auto set = MakePlans(Ceiling(), {});
  ASSERT_TRUE(set) << set.error().Line();
  const Plan& today = set->plans.front();
  EXPECT_NEAR(today.gpu_w, 4800, 1);
  EXPECT_NEAR(*today.eta_s / 86400, 3.70, 0.01);
  EXPECT_NEAR(*today.energy_j / 3.6e6, 426, 1);
  EXPECT_NEAR(today.units_per_j, 7.23, 0.01);
  const struct {
    int targets;
    double rate, gpu_kw, days, kwh, per_j;
  } rows[] = {{6, 29743, 4.18, 4.32, 433, 7.11},
              {5, 24786, 3.57, 5.18, 443, 6.95},
              {4, 19829, 2.95, 6.48, 458, 6.73}};
  for (const auto& row : rows) {
    const Plan* plan = Find(*set, PlanKind::kPark, row.targets);
    ASSERT_NE(plan, nullptr);
    EXPECT_NEAR(plan->throughput_per_s, row.rate, 1);
    EXPECT_NEAR(plan->gpu_w / 1000, row.gpu_kw, 0.01);
    EXPECT_NEAR(*plan->eta_s / 86400, row.days, 0.01);
    EXPECT_NEAR(*plan->energy_j / 3.6e6, row.kwh, 1);
    EXPECT_NEAR(plan->units_per_j, row.per_j, 0.01);
    EXPECT_FALSE(plan->pareto) << plan->name;
  }
}

TEST(PlannerTest, CappingBeatsParkingOnThePublishedCurve) {
  // Straight lines between measured points: at 465 W a smooth fit would say 31,900.
  const struct {
    double budget, cap, rate, days, kwh;
  } rows[] = {{4260, 532.5, 33470, 3.83, 392},
              {3720, 465, 31768, 4.04, 361},
              {3600, 450, 31299, 4.10, 354}};
  for (const auto& row : rows) {
    const auto set = MakePlans(Ceiling(), {.gpu_w = row.budget});
    ASSERT_TRUE(set);
    const Plan* cap = Find(*set, PlanKind::kCap, 7);
    ASSERT_NE(cap, nullptr);
    EXPECT_NEAR(cap->cap_w, row.cap, 1);
    EXPECT_NEAR(cap->throughput_per_s, row.rate, 50);
    EXPECT_NEAR(*cap->eta_s / 86400, row.days, 0.02);
    EXPECT_NEAR(*cap->energy_j / 3.6e6, row.kwh, 2);
    EXPECT_TRUE(cap->pareto);
    ASSERT_TRUE(set->chosen);
    EXPECT_EQ(set->plans[*set->chosen].targets, 7);
    EXPECT_LE(set->plans[*set->chosen].gpu_w, row.budget * 1.001);
  }
}

TEST(PlannerTest, PacingTheDrafterSavesWatts) {
  Problem problem = Ceiling();
  const auto set = MakePlans(problem, {.gpu_w = 4075});
  const Plan* mixed = Find(*set, PlanKind::kMixed, 6);
  ASSERT_NE(mixed, nullptr);
  EXPECT_NEAR(mixed->throughput_per_s, 29743, 60);
  EXPECT_LT(mixed->drafter_cap_w, mixed->cap_w);
  EXPECT_LE(mixed->gpu_w, 4075 * 1.001);
}

TEST(PlannerTest, TheBottleneckDecidesWhatATargetIsWorth) {
  Problem problem = Ceiling();
  // 7 targets could do 37,000 but the drafter takes 34,700: the first parked target costs little.
  problem.throughput_per_s = 37000;
  problem.drafter_capacity_per_s = 34700;
  const auto set = MakePlans(problem, {});
  ASSERT_TRUE(set);
  EXPECT_NEAR(set->plans.front().throughput_per_s, 34700, 1);
  EXPECT_NEAR(Find(*set, PlanKind::kPark, 6)->throughput_per_s, 31714, 1);
}

TEST(PlannerTest, NeverPromisesBelowTheLowestMeasuredCap) {
  const auto set = MakePlans(Ceiling(), {.gpu_w = 3000});
  ASSERT_TRUE(set);
  EXPECT_EQ(Find(*set, PlanKind::kCap, 7), nullptr);
  for (const Plan& plan : set->plans) EXPECT_GE(plan.cap_w, 400);
  ASSERT_TRUE(set->chosen);
  EXPECT_GT(set->plans[*set->chosen].parked, 0);
  const auto nothing = MakePlans(Ceiling(), {.gpu_w = 100});
  EXPECT_FALSE(nothing->chosen);
  EXPECT_NE(nothing->sentence.find("No plan"), std::string::npos);
}

TEST(PlannerTest, SaysWhatAnOperatorWouldSend) {
  const auto set = MakePlans(Ceiling(), {.gpu_w = 4260});
  EXPECT_NE(
      set->sentence.find("To stay under 4.26 kW: cap every running card at 532 W, no restart"),
      std::string::npos)
      << set->sentence;
  EXPECT_NE(set->sentence.find("parking alone (6-1)"), std::string::npos) << set->sentence;
}

TEST(PlannerTest, QueueFormulaAgreesWithItsPublishedChecks) {
  const auto relative = [](double load, double slots, double variation) {
    const double second = 1.0, first = load;
    return PipelineThroughput(first, second, slots, variation) / std::min(first, second);
  };
  EXPECT_NEAR(relative(1, 4, .25), .958, .002);
  EXPECT_NEAR(relative(1, 20, .25), .989, .002);
  EXPECT_NEAR(relative(1, 20, 1), .955, .002);
  EXPECT_NEAR(relative(1, 4, 1), .833, .002);
  EXPECT_NEAR(QueueOccupancy(.857, 1, 20, .25), .08, .03);
  EXPECT_NEAR(QueueOccupancy(1.167, 1, 20, .25), .96, .04);
  EXPECT_NEAR(QueueOccupancy(1, 1, 20, .25), .5, .05);
}

TEST(ProblemTest, ListsWhatItHadToAssume) {
  const auto problem = ParseProblem(R"({"throughput_per_s":1000,"targets":8})", "x");
  ASSERT_TRUE(problem) << problem.error().Line();
  const auto& a = problem->assumed;
  EXPECT_NE(std::find(a.begin(), a.end(), "busy_w 600"), a.end());
  EXPECT_TRUE(
      std::any_of(a.begin(), a.end(), [](const auto& s) { return s.starts_with("curve"); }));
  EXPECT_FALSE(problem->remaining_units);
}

TEST(ProblemTest, RefusesNonsense) {
  for (const char* text :
       {"[]", "{}", R"({"throughput_per_s":-1})", R"({"throughput_per_s":1,"targets":9})",
        R"({"throughput_per_s":1,"targets":"x"})",
        R"({"throughput_per_s":1,"busy_w":50,"idle_w":60})", R"({"throughput_per_s":1,"curve":3})",
        R"({"throughput_per_s":1,"curve":[{"power_w":1}]})",
        R"({"throughput_per_s":1,"psu_efficiency":2})"}) {
    const auto problem = ParseProblem(text, "x.json");
    ASSERT_FALSE(problem) << text;
    EXPECT_EQ(problem.error().code, Code::kInvalid);
    EXPECT_EQ(problem.error().where.substr(0, 6), "x.json");
  }
}

}  // namespace
}  // namespace stoker::plan
