#include "runlog/judge.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stoker::runlog {
namespace {

std::string Chosen(const std::vector<std::string>& names) {
  const auto judge = ChooseJudge("", std::nullopt, names);
  return judge ? judge->metric + (judge->higher_is_better ? " max" : " min") : "none";
}

TEST(ChooseJudge, KnowsTheUsualNamesOfEachTrainer) {
  // Ultralytics detect, classify, and YOLOv5.
  EXPECT_EQ(Chosen({"train/box_loss", "metrics/precision(B)", "metrics/mAP50(B)",
                    "metrics/mAP50-95(B)", "val/box_loss"}),
            "metrics/mAP50-95(B) max");
  EXPECT_EQ(Chosen({"train/loss", "metrics/accuracy_top1", "metrics/accuracy_top5", "val/loss"}),
            "metrics/accuracy_top1 max");
  EXPECT_EQ(Chosen({"metrics/mAP_0.5", "metrics/mAP_0.5:0.95", "val/obj_loss"}),
            "metrics/mAP_0.5:0.95 max");
  // Hugging Face Trainer, Lightning, Keras.
  EXPECT_EQ(Chosen({"loss", "grad_norm", "learning_rate", "eval_loss"}), "eval_loss min");
  EXPECT_EQ(Chosen({"train_loss", "val_acc", "val_loss"}), "val_acc max");
  EXPECT_EQ(Chosen({"loss", "accuracy", "val_loss", "val_accuracy"}), "val_accuracy max");
  // Ours.
  EXPECT_EQ(Chosen({"val/loss", "val/accuracy", "train/accuracy"}), "val/accuracy max");
  EXPECT_EQ(Chosen({"val/map50", "val/map50_95"}), "val/map50_95 max");
}

TEST(ChooseJudge, DoesNotJudgeByWhatTheRunLearnsFrom) {
  EXPECT_EQ(Chosen({"train/loss", "loss", "lr", "train/accuracy"}), "none");
  EXPECT_EQ(Chosen({}), "none");
}

TEST(ChooseJudge, ObeysThePlan) {
  const auto said = ChooseJudge("val/accuracy", std::nullopt, {"val_accuracy", "val/map"});
  ASSERT_TRUE(said);
  EXPECT_EQ(said->metric, "val_accuracy");
  EXPECT_TRUE(said->higher_is_better);
  EXPECT_FALSE(ChooseJudge("my/loss", std::nullopt, {})->higher_is_better);
  EXPECT_TRUE(ChooseJudge("my/loss", true, {})->higher_is_better);
}

TEST(Judge, NotANumberIsNeverBetter) {
  const Judge judge{"x", true};
  EXPECT_FALSE(judge.Better(NAN, 0));
  EXPECT_TRUE(judge.Better(0, NAN));
  EXPECT_FALSE(judge.Better(NAN, NAN));
  EXPECT_FALSE(judge.Better(1, 1));
  EXPECT_TRUE((Judge{"x", false}).Better(1, 2));
}

}  // namespace
}  // namespace stoker::runlog
