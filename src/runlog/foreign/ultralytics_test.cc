#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "base/file.h"
#include "runlog/foreign/foreign_run.h"

namespace stoker::runlog {
namespace {

TEST(UltralyticsTest, ReadsPaddedHeadersCrlfAndEpochsFromZero) {
  const auto run = ParseUltralytics(
      "     epoch,  train/loss, metrics/mAP50-95(B)\r\n     0,   1.5,  0.1\r\n  1,   nan,  0.2\r\n",
      "epochs: 50\nmodel: 'yolov8n.pt'\ntask: detect\nmode: train\nname: train2\n", "r");
  ASSERT_TRUE(run) << run.error().Line();
  ASSERT_EQ(run->events.size(), 3u);
  EXPECT_EQ(run->events[0].event.epochs_planned, 50);
  EXPECT_EQ(run->events[1].event.epoch, 0);
  EXPECT_EQ(run->events[1].event.metrics.at("metrics/mAP50-95(B)"), 0.1);
  EXPECT_TRUE(std::isnan(run->events[2].event.metrics.at("train/loss")));
  EXPECT_FALSE(run->events[1].seconds);
  EXPECT_EQ(run->name, "train2");
  EXPECT_EQ(run->command.front(), "yolo");
}

TEST(UltralyticsTest, DropsATornLastRowAndJoinsTheClocksOfAResumedRun) {
  const auto run = ParseUltralytics("epoch,time,val/loss\n1,10,3\n2,20,2\n3,10,1\n4,2", "", "r");
  ASSERT_TRUE(run);
  EXPECT_EQ(run->dropped_rows, 1);
  EXPECT_EQ(run->events.back().seconds, 30);
  EXPECT_EQ(run->seconds, 30);
}

TEST(UltralyticsTest, RefusesOtherFiles) {
  EXPECT_EQ(ParseUltralytics("a,b\n1,2\n", "", "x/results.csv").error().where, "x/results.csv");
  EXPECT_FALSE(ParseUltralytics("", "", "x"));
  EXPECT_EQ(ReadUltralytics("/no/such/folder").error().code, Code::kNotFound);
}

TEST(UltralyticsTest, ReadsTheRecordedNight) {
  const char* data = std::getenv("STOKER_DATA");
  const char* source = std::getenv("STOKER_SOURCE");
  const std::string root =
      data != nullptr ? data : JoinPath(source != nullptr ? source : ".", "../shared/data");
  const auto run = ReadUltralytics(root + "/night/run/train-x");
  if (!run && run.error().code == Code::kNotFound) GTEST_SKIP() << "no test data at " << root;
  ASSERT_TRUE(run) << run.error().Line();
  EXPECT_EQ(run->events.size(), 601u);
  EXPECT_NEAR(*run->seconds, 69'018, 1);
  EXPECT_EQ(run->events[412].event.epoch, 412);
  EXPECT_NEAR(run->events[412].event.metrics.at("metrics/mAP50-95(B)"), 0.527, 1e-9);
}

}  // namespace
}  // namespace stoker::runlog
