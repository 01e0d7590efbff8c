#include "plan/curve.h"

#include <gtest/gtest.h>

namespace stoker::plan {
namespace {

const std::vector<CurvePoint> kPrefill = {{600, 1.0}, {500, 0.947}, {450, 0.902}, {400, 0.839}};

TEST(CurveTest, PassesThroughItsPointsAndInverts) {
  const auto curve = Curve::Fit(kPrefill);
  ASSERT_TRUE(curve);
  for (const CurvePoint& p : kPrefill) {
    EXPECT_NEAR(curve->RelativeAt(p.power_w), p.relative, 1e-9);
    EXPECT_NEAR(curve->PowerAt(p.relative), p.power_w, 1e-6);
  }
  EXPECT_NEAR(curve->RelativeAt(532.5), 0.964, 0.001);
  EXPECT_EQ(curve->RelativeAt(900), 1.0);
}

TEST(CurveTest, LiftsNoiseOntoAConcaveRisingCurve) {
  const auto curve = Curve::Fit({{300, .7}, {350, .69}, {400, .85}, {500, .96}, {600, 1}});
  ASSERT_TRUE(curve);
  double slope = 1;
  for (size_t i = 1; i < curve->points().size(); ++i) {
    const auto &a = curve->points()[i - 1], &b = curve->points()[i];
    const double next = (b.relative - a.relative) / (b.power_w - a.power_w);
    EXPECT_LE(next, slope + 1e-12);
    EXPECT_GT(next, 0);
    slope = next;
  }
}

TEST(CurveTest, FewPointsAreFilledByAnExponential) {
  const auto curve = Curve::Fit({{600, 1.0}, {500, 0.947}, {400, 0.839}});
  ASSERT_TRUE(curve);
  EXPECT_NEAR(curve->RelativeAt(500), 0.947, 0.002);
  EXPECT_NEAR(curve->RelativeAt(450), 0.902, 0.006);
}

TEST(CurveTest, RefusesWhatCannotBeACurve) {
  EXPECT_FALSE(Curve::Fit({}));
  EXPECT_FALSE(Curve::Fit({{600, 1}}));
  EXPECT_FALSE(Curve::Fit({{600, 1}, {600, .9}}));
  EXPECT_FALSE(Curve::Fit({{600, 1}, {500, 0}}));
  EXPECT_FALSE(Curve::Fit({{370, 1}, {330, 1}, {350, 1}}));
}

TEST(CurveTest, BreakEvenIsTheTangentFromTheParkedPoint) {
  const auto curve = Curve::Fit({{200, .35}, {300, .65}, {400, .84}, {600, 1}});
  // .35/140, .65/240, .84/340, 1/540: the largest is at 300 W.
  EXPECT_EQ(curve->BreakEvenW(60), 300);
  EXPECT_EQ(Curve::Fit(kPrefill)->BreakEvenW(60), 400);
}

}  // namespace
}  // namespace stoker::plan
