// stoker-sim-trainer as a user sees it: its run log, its files, its end.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <cstring>
#include <map>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "runlog/run_event.h"
#include "sim/curve.h"

namespace stoker::sim {
namespace {

class TrainerTest : public testing::Test {
 protected:
  Command Trainer(std::vector<std::string> arguments) {
    Command command;
    const char* bin = getenv("STOKER_BIN");
    command.argv = {std::string(bin != nullptr ? bin : "") + "/stoker-sim-trainer", "--out",
                    Path("run"), "--checkpoint-bytes", "4096"};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    command.environment =
        std::vector<std::string>{"PATH=/usr/bin:/bin", "STOKER_RUN_LOG=" + Path("run.jsonl")};
    return command;
  }
  std::string Path(const std::string& name) const { return dir_->path() + "/" + name; }
  std::vector<runlog::RunEvent> Log() {
    std::vector<runlog::RunEvent> events;
    const std::string text = ReadFile(Path("run.jsonl")).value_or("");
    for (const std::string_view line : Split(text, '\n')) {
      if (line.empty()) continue;
      auto event = runlog::ParseLine(line);
      EXPECT_TRUE(event) << line;
      if (event) events.push_back(std::move(*event));
    }
    return events;
  }
  Result<TempDir> dir_ = TempDir::Make("trainer");
};

TEST_F(TrainerTest, WritesARunLogAndCheckpoints) {
  const auto done =
      RunProgram(Trainer({"--epochs", "5", "--epoch-seconds", "0.01"}), Millis(60'000));
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->status.ok()) << done->err;
  EXPECT_NE(done->out.find("epoch 5/5"), std::string::npos) << done->out;
  std::map<runlog::Kind, int> kinds;
  std::map<std::string, int> roles;
  for (const runlog::RunEvent& event : Log()) {
    ++kinds[event.kind];
    if (event.kind == runlog::Kind::kCheckpoint) ++roles[event.role];
    if (event.kind == runlog::Kind::kEpoch) {
      EXPECT_EQ(event.metrics.count("val/accuracy"), 1u);
    }
  }
  EXPECT_EQ(kinds[runlog::Kind::kPlan], 1);
  EXPECT_EQ(kinds[runlog::Kind::kEpoch], 5);
  EXPECT_EQ(kinds[runlog::Kind::kThroughput], 5);
  EXPECT_EQ(kinds[runlog::Kind::kPhase], 2 + 5 * 6);
  EXPECT_EQ(roles["last"], 5);
  EXPECT_GE(roles["best"], 1);
  EXPECT_EQ(roles["final"], 1);
  const auto weights = ReadFile(Path("run/best.safetensors"));
  ASSERT_TRUE(weights);
  uint64_t header = 0;
  std::memcpy(&header, weights->data(), 8);
  EXPECT_EQ(weights->size(), 8 + header + 4096);
  EXPECT_FALSE(FileExists(Path("run/.sim-load.json")));  // it asks for nothing any more
}

TEST_F(TrainerTest, SigtermSavesAndEndsByTheSignal) {
  auto process = Process::Start(Trainer({"--epochs", "1000", "--epoch-seconds", "600"}));
  ASSERT_TRUE(process);
  // Sent at once: it is held back until the trainer asks, however early it comes.
  while (Log().empty()) {
    const auto status = process->Wait(Millis(5));
    ASSERT_TRUE(status && !status->has_value()) << "it ended before it began";
  }
  ASSERT_TRUE(process->SignalGroup(SIGTERM));
  const auto status = process->Wait(Millis(60'000));
  ASSERT_TRUE(status && status->has_value());
  EXPECT_EQ((*status)->signal, SIGTERM);
  EXPECT_TRUE(FileExists(Path("run/last.safetensors")));
  EXPECT_EQ(Log().back().kind, runlog::Kind::kNote);
}

TEST_F(TrainerTest, FailsWhereAsked) {
  const auto done = RunProgram(
      Trainer({"--epochs", "5", "--epoch-seconds", "0", "--fail-at", "2", "--exit-code", "7"}),
      Millis(60'000));
  ASSERT_TRUE(done);
  EXPECT_EQ(done->status.exit_code, 7);
}

TEST_F(TrainerTest, AFolderThatCannotBeIsOneClearLine) {
  Command command = Trainer({"--epochs", "1"});
  command.argv[2] = "/proc/none/run";
  const auto done = RunProgram(command, Millis(60'000));
  ASSERT_TRUE(done);
  EXPECT_EQ(done->status.exit_code, 1);
  EXPECT_NE(done->err.find("/proc/none"), std::string::npos) << done->err;
}

TEST(Curve, OverfitIsBestInTheMiddle) {
  int best = 0;
  double most = 0;
  for (int epoch = 1; epoch <= 600; ++epoch) {
    const double accuracy = ScoreAt(Curve::kOverfit, epoch, 600, 1).val_accuracy;
    if (accuracy > most) {
      most = accuracy;
      best = epoch;
    }
  }
  EXPECT_GT(best, 300);
  EXPECT_LT(best, 450);
  EXPECT_LT(ScoreAt(Curve::kOverfit, 600, 600, 1).val_accuracy, most - 0.05);
  EXPECT_GT(ScoreAt(Curve::kOverfit, 600, 600, 1).val_loss,
            ScoreAt(Curve::kOverfit, best, 600, 1).val_loss);
}

}  // namespace
}  // namespace stoker::sim
