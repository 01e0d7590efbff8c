#include "jobs/cards.h"

#include <gtest/gtest.h>

namespace stoker::jobs {
namespace {

ledger::Job Holding(int64_t id, std::vector<int> gpus,
                    ledger::JobState state = ledger::JobState::kRunning) {
  ledger::Job job;
  job.id = id;
  job.state = state;
  job.gpus = std::move(gpus);
  return job;
}

TEST(ChooseFreeCards, TakesTheLowestFreeOnes) {
  EXPECT_EQ(*ChooseFreeCards({3, 1, 0, 2}, {}, 2), (std::vector<int>{0, 1}));
  EXPECT_EQ(*ChooseFreeCards({0, 1, 2, 3}, {Holding(7, {0, 2})}, 2), (std::vector<int>{1, 3}));
  EXPECT_EQ(*ChooseFreeCards({0, 1}, {Holding(7, {0}, ledger::JobState::kFailed)}, 1),
            (std::vector<int>{0}));
  EXPECT_TRUE(ChooseFreeCards({}, {}, 0)->empty());
}

TEST(ChooseFreeCards, SaysWhoHoldsThem) {
  const auto none = ChooseFreeCards({0, 1, 2}, {Holding(7, {0, 1}), Holding(9, {2})}, 1);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::kUnavailable);
  EXPECT_EQ(none.error().what,
            "0 of 3 cards are free and 1 were asked for: job 7 holds 0,1; job 9 holds 2");
}

TEST(ChooseFreeCards, RefusesMoreThanThereAre) {
  EXPECT_EQ(ChooseFreeCards({0}, {}, 2).error().code, Code::kInvalid);
  EXPECT_EQ(ChooseFreeCards({0}, {}, -1).error().code, Code::kInvalid);
}

}  // namespace
}  // namespace stoker::jobs
