#include "train/schedule.h"

#include <gtest/gtest.h>

#include "train/meter.h"

namespace stoker::train {
namespace {

TEST(Schedule, ClimbsThenFallsToItsLastPart) {
  const Schedule schedule{.peak = 0.4, .last_part = 0.1, .warmup_steps = 4, .steps = 24};
  EXPECT_DOUBLE_EQ(LearningRate(schedule, 0), 0.1);
  EXPECT_DOUBLE_EQ(LearningRate(schedule, 3), 0.4);
  EXPECT_DOUBLE_EQ(LearningRate(schedule, 4), 0.4);
  EXPECT_NEAR(LearningRate(schedule, 14), 0.4 * 0.55, 1e-12);  // half way down
  EXPECT_NEAR(LearningRate(schedule, 24), 0.04, 1e-12);
  EXPECT_NEAR(LearningRate(schedule, 1'000), 0.04, 1e-12);
  for (int64_t step = 4; step < 23; ++step) {
    EXPECT_GT(LearningRate(schedule, step), LearningRate(schedule, step + 1));
  }
}

TEST(Meter, MeansAndRates) {
  Mean mean;
  EXPECT_EQ(mean.value(), 0);
  mean.Add(1, 3);
  mean.Add(5, 1);
  EXPECT_EQ(mean.value(), 2);
  Rate rate;
  EXPECT_EQ(rate.per_s(), 0);
  rate.Add(10, Seconds(2));
  EXPECT_EQ(rate.per_s(), 5);
}

}  // namespace
}  // namespace stoker::train
