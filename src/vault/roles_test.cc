#include "vault/roles.h"

#include <gtest/gtest.h>

namespace stoker::vault {
namespace {

using ledger::CheckpointRole;

TEST(Roles, AreReadFromNames) {
  EXPECT_EQ(RoleFromName("/r/weights/best.pt"), CheckpointRole::kBest);
  EXPECT_EQ(RoleFromName("model_best_epoch12.pth"), CheckpointRole::kBest);
  EXPECT_EQ(RoleFromName("last-v1.ckpt"), CheckpointRole::kLast);
  EXPECT_EQ(RoleFromName("checkpoint.pth"), CheckpointRole::kLast);
  EXPECT_EQ(RoleFromName("final.safetensors"), CheckpointRole::kFinal);
  EXPECT_EQ(RoleFromName("epoch=4-step=8595.ckpt"), CheckpointRole::kPeriodic);
  EXPECT_EQ(RoleFromName("checkpoint-500/model.safetensors"), CheckpointRole::kPeriodic);
  EXPECT_EQ(RoleFromName("out/best/model.safetensors"), CheckpointRole::kBest);
  EXPECT_EQ(RoleFromName("out/checkpoints/model.safetensors"), CheckpointRole::kUnknown);
  EXPECT_EQ(RoleFromName("bestiary.pt"), CheckpointRole::kUnknown);
  EXPECT_EQ(RoleFromName("resnet20-12fca82f.th"), CheckpointRole::kUnknown);
}

TEST(Roles, EpochsAreReadFromNames) {
  EXPECT_EQ(EpochFromName("w/epoch12.pt"), 12);
  EXPECT_EQ(EpochFromName("epoch=4-step=8595.ckpt"), 4);
  EXPECT_EQ(EpochFromName("best_e007.pth"), 7);
  EXPECT_EQ(EpochFromName("checkpoint-500.pt"), std::nullopt);
  EXPECT_EQ(EpochFromName("epoch.pt"), std::nullopt);
  EXPECT_EQ(EpochFromName("epoch99999999999999999999.pt"), std::nullopt);
}

TEST(Roles, WordsOfTheRunLog) {
  EXPECT_EQ(ParseRole("best"), CheckpointRole::kBest);
  EXPECT_EQ(ParseRole("periodic"), CheckpointRole::kPeriodic);
  EXPECT_EQ(ParseRole("Best"), std::nullopt);
  EXPECT_EQ(ParseRole("unknown"), std::nullopt);
}

}  // namespace
}  // namespace stoker::vault
