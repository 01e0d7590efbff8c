#include "explain/curves.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stoker::explain {
namespace {

query::MetricCurve Points(const std::vector<std::pair<double, double>>& epochs) {
  query::MetricCurve curve{"val/loss", {}};
  int64_t ms = 0;
  for (const auto& [epoch, value] : epochs) {
    curve.points.push_back({"val/loss", value, epoch, std::nullopt, WallTime{++ms}});
  }
  return curve;
}

TEST(CurvesTest, AnEpochThatWasRunAgainCountsAsTheLaterOne) {
  const Curve curve = MakeCurve(Points({{1, 9}, {2, 8}, {3, 7}, {2, 6}, {3, 5}, {4, 4}}));
  EXPECT_EQ(curve.x, (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(curve.y, (std::vector<double>{9, 6, 5, 4}));
}

TEST(CurvesTest, NumbersThatAreNoneAreKeptOutAndRemembered) {
  const Curve curve = MakeCurve(Points({{1, 9}, {2, NAN}, {3, INFINITY}, {4, 1}}));
  EXPECT_EQ(curve.y, (std::vector<double>{9, 1}));
  EXPECT_EQ(*curve.bad_x, 2);
}

TEST(CurvesTest, ARunByStepsIsThinned) {
  query::MetricCurve points{"train/loss", {}};
  for (int64_t i = 0; i < 100'000; ++i) {
    points.points.push_back({"train/loss", 1.0, std::nullopt, i, WallTime{i}});
  }
  const Curve curve = MakeCurve(points);
  EXPECT_TRUE(curve.by_step);
  EXPECT_LE(curve.x.size(), 2000u);
  EXPECT_NEAR(curve.x.back(), 100'000, 100);
}

TEST(CurvesTest, NamesAsTrainersWriteThem) {
  for (const char* name : {"train/box_loss", "train_loss", "loss", "Train/Loss", "train/loss"}) {
    EXPECT_TRUE(IsTrainLoss(name)) << name;
    EXPECT_FALSE(IsValLoss(name)) << name;
  }
  for (const char* name :
       {"val/cls_loss", "val_loss", "eval_loss", "eval/loss", "validation/loss"}) {
    EXPECT_TRUE(IsValLoss(name)) << name;
    EXPECT_FALSE(IsTrainLoss(name)) << name;
  }
  EXPECT_FALSE(IsTrainLoss("train/accuracy"));
}

TEST(CurvesTest, CombinesWhatTheCurvesShare) {
  const Curve a = MakeCurve(Points({{1, 0}, {2, 10}, {3, 5}}));
  const Curve b = MakeCurve(Points({{2, 100}, {3, 0}, {4, 50}}));
  const Curve both = Combine({a, b});
  EXPECT_EQ(both.x, (std::vector<double>{2, 3}));
  EXPECT_NEAR(both.y[0], 1.0, 1e-9);
  EXPECT_NEAR(both.y[1], 0.25, 1e-9);
  EXPECT_TRUE(Combine({a, Curve{}}).x.empty());
}

}  // namespace
}  // namespace stoker::explain
