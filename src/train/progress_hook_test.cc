#include "train/progress_hook.h"

#include <gtest/gtest.h>

namespace stoker::train {
namespace {

class ProgressTest : public ::testing::Test {
 protected:
  ProgressHook Make(bool terminal) {
    return ProgressHook([this](std::string_view text) { said_ += text; }, terminal, clock_);
  }
  static RunInfo Run() {
    return {.epochs = 2, .steps_per_epoch = 4, .photos_per_epoch = 40, .judge = "val/accuracy"};
  }
  void Steps(ProgressHook& hook, int epoch) {
    for (int64_t i = 1; i <= 4; ++i) {
      clock_.Tick(Millis(500));
      hook.OnStep({.epoch = epoch, .step = i, .step_of_epoch = i, .photos = 10, .loss = 1.5});
    }
  }
  FakeClock clock_;
  std::string said_;
};

TEST_F(ProgressTest, ALineAnEpochWhereNobodyWatches) {
  ProgressHook hook = Make(false);
  hook.OnStart(Run());
  Steps(hook, 1);
  EXPECT_EQ(said_, "");
  hook.OnEpoch({.epoch = 1,
                .metrics = {{"train/loss", 1.5}, {"val/loss", 1.25}, {"val/accuracy", 0.456}},
                .photos_per_s = 20,
                .best = true});
  EXPECT_EQ(said_,
            "epoch 1/2  train loss 1.500  val loss 1.250  val accuracy 45.6 % (best)  "
            "20 photos/s  2.0 s left\n");
}

TEST_F(ProgressTest, ABarMovesOnATerminalAndGoesAway) {
  ProgressHook hook = Make(true);
  hook.OnStart(Run());
  Steps(hook, 1);
  EXPECT_NE(said_.find("\repoch 1/2  [============            ]  20 photos/s  loss 1.500"),
            std::string::npos)
      << said_;
  hook.OnNote("something to know");
  EXPECT_TRUE(said_.ends_with(" \rsomething to know\n")) << said_;
}

}  // namespace
}  // namespace stoker::train
