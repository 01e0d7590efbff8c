#include "train/classify.h"

#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "photo/test_photos.h"
#include "runlog/run_event.h"
#include "train/safetensors.h"

namespace stoker::train {
namespace {

// Asks the run to stop after so many steps or epochs, as Ctrl-C does.
class StopAt final : public Hook {
 public:
  StopAt(std::atomic<int>& signal, int64_t step, int epoch)
      : signal_(signal), step_(step), epoch_(epoch) {}
  void OnStep(const StepInfo& info) override {
    if (info.step == step_) signal_ = SIGTERM;
  }
  void OnEpoch(const EpochInfo& info) override {
    if (info.epoch == epoch_) signal_ = SIGTERM;
  }

 private:
  std::atomic<int>& signal_;
  const int64_t step_;
  const int epoch_;
};

class ClassifyTest : public ::testing::Test {
 protected:
  // Three colours that noise does not hide; 8 photos each to learn from, 4 to judge.
  void SetUp() override {
    const std::vector<std::vector<int>> colours = {{200, 40, 40}, {40, 190, 50}, {50, 60, 200}};
    uint64_t seed = 1;
    for (size_t c = 0; c < colours.size(); ++c) {
      for (int i = 0; i < 12; ++i) {
        const std::string split = i < 8 ? "train" : "val";
        const std::string path =
            split + "/dish-" + std::to_string(c) + "/" + std::to_string(i) + ".jpg";
        WritePhoto(path, photo::PlainJpeg(48, 40, colours[c][0] - i * 4, colours[c][1] + i * 3,
                                          colours[c][2] - i * 2, seed++));
      }
    }
  }
  void WritePhoto(const std::string& path, const std::string& bytes) {
    photo::WriteTestFile(JoinPath(JoinPath(temp_.path(), "data"), path), bytes);
  }
  ClassifyOptions Options(const std::string& out) const {
    ClassifyOptions options;
    options.data = JoinPath(temp_.path(), "data");
    options.out = JoinPath(temp_.path(), out);
    options.epochs = 4;
    options.size = 32;
    options.batch = 8;
    options.device = "cpu";
    return options;
  }
  Result<ClassifyReport> Train(const ClassifyOptions& options, Hook* extra = nullptr,
                               runlog::Writer* log = nullptr) {
    said_.clear();
    return Classify(options, {.clock = clock_,
                              .signal = signal_,
                              .write = [this](std::string_view text) { said_ += text; },
                              .run_log = log,
                              .extra = extra});
  }
  static std::string Bytes(const ClassifyOptions& options, const std::string& file) {
    return ReadFile(JoinPath(options.out, file)).value_or("absent " + file);
  }

  const SystemClock clock_;
  TempDir temp_ = TempDir::Make("classify").value();
  std::atomic<int> signal_ = 0;
  std::string said_;
};

TEST_F(ClassifyTest, LearnsAndLeavesWeightsThatOthersCanRead) {
  ClassifyOptions options = Options("run");
  options.epochs = 24;
  options.batch = 6;
  const auto report = Train(options);
  ASSERT_TRUE(report) << report.error().Line();
  EXPECT_EQ(report->epochs, 24);
  EXPECT_GE(report->best_accuracy, 0.9) << said_;
  const std::string file = Bytes(options, "best.safetensors");
  const Safetensors weights = ParseSafetensors(file, "best").value();
  EXPECT_EQ(weights.metadata.at("classes"), R"(["dish-0","dish-1","dish-2"])");
  EXPECT_EQ(weights.metadata.at("epoch"), std::to_string(report->best_epoch));
  const std::map<std::string, std::vector<int64_t>> shapes = {
      {"features.0.0.weight", {16, 3, 3, 3}},
      {"features.0.1.running_mean", {16}},
      {"features.0.1.num_batches_tracked", {}},
      {"features.1.block.0.0.weight", {16, 1, 3, 3}},
      {"features.1.block.1.fc1.weight", {8, 16, 1, 1}},
      {"features.2.block.2.1.bias", {24}},
      {"features.11.block.2.fc2.bias", {576}},
      {"features.12.0.weight", {576, 96, 1, 1}},
      {"classifier.0.weight", {1024, 576}},
      {"classifier.3.weight", {3, 1024}}};
  for (const auto& [name, shape] : shapes) {
    const TensorView* tensor = weights.Find(name);
    ASSERT_NE(tensor, nullptr) << name;
    EXPECT_EQ(tensor->shape, shape) << name;
  }
  EXPECT_EQ(weights.tensors.size(), 244u);
  EXPECT_NE(said_.find("epoch 24/24"), std::string::npos) << said_;
}

struct StopCase {
  std::string name;
  int64_t step = -1;
  int epoch = -1;
  bool ema = false;
};

class ResumeTest : public ClassifyTest, public ::testing::WithParamInterface<StopCase> {};

TEST_P(ResumeTest, StoppedAndResumedIsTheSameRunBitForBit) {
  ClassifyOptions straight = Options("straight");
  straight.ema = GetParam().ema;
  ASSERT_TRUE(Train(straight));

  ClassifyOptions parts = Options("parts");
  parts.ema = GetParam().ema;
  StopAt stop(signal_, GetParam().step, GetParam().epoch);
  const auto first = Train(parts, &stop);
  ASSERT_TRUE(first) << first.error().Line();
  EXPECT_TRUE(first->stopped);
  EXPECT_LT(first->epochs, 4);
  signal_ = 0;
  parts.resume = true;
  const auto second = Train(parts);
  ASSERT_TRUE(second) << second.error().Line();
  EXPECT_FALSE(second->stopped);
  for (const char* file : {"last.safetensors", "best.safetensors", "last.optimizer.safetensors"}) {
    EXPECT_TRUE(Bytes(straight, file) == Bytes(parts, file)) << file;
  }
}

INSTANTIATE_TEST_SUITE_P(Stops, ResumeTest,
                         ::testing::Values(StopCase{"AfterAnEpoch", -1, 2, false},
                                           StopCase{"WithinAnEpoch", 4, -1, false},
                                           StopCase{"WithAverage", 7, -1, true}),
                         [](const auto& stop) { return stop.param.name; });

TEST_F(ClassifyTest, TheRunLogTellsEverything) {
  const std::string path = JoinPath(temp_.path(), "log.jsonl");
  const auto log = runlog::Writer::Open(path, clock_).value();
  ClassifyOptions options = Options("run");
  options.epochs = 2;
  ASSERT_TRUE(Train(options, nullptr, log.get()));
  std::map<runlog::Kind, int> kinds;
  std::set<std::string> metrics;
  std::map<std::string, int> phases;
  std::set<std::string> roles;
  const std::string text = ReadFile(path).value();
  for (const auto line : Split(Trim(text), '\n')) {
    const auto event = runlog::ParseLine(line);
    ASSERT_TRUE(event) << line;
    ++kinds[event->kind];
    for (const auto& [name, value] : event->metrics) metrics.insert(name);
    if (event->kind == runlog::Kind::kPlan) {
      EXPECT_EQ(event->epochs_planned, 2);
      EXPECT_EQ(event->best_metric, "val/accuracy");
      EXPECT_NE(event->plan_json.find("\"photo\""), std::string::npos) << event->plan_json;
    }
    if (event->kind == runlog::Kind::kPhase) {
      const bool says_epoch =
          line.find(R"("epoch":1)") != line.npos || line.find(R"("epoch":2)") != line.npos;
      EXPECT_NE(says_epoch, event->phase == "startup") << line;
      ++phases[event->phase];
    }
    if (event->kind != runlog::Kind::kCheckpoint) continue;
    roles.insert(event->role);
    EXPECT_TRUE(FileExists(event->path)) << event->path;
  }
  EXPECT_EQ(kinds[runlog::Kind::kPlan], 1);
  EXPECT_EQ(kinds[runlog::Kind::kEpoch], 2);
  EXPECT_EQ(kinds[runlog::Kind::kThroughput], 2);
  EXPECT_EQ(kinds[runlog::Kind::kWait], 2);
  EXPECT_EQ(kinds[runlog::Kind::kPhase] % 2, 0);
  EXPECT_EQ(phases["startup"], 2);
  EXPECT_EQ(roles, (std::set<std::string>{"best", "last"}));
  for (const char* name : {"train/loss", "val/loss", "val/accuracy", "lr"}) {
    EXPECT_TRUE(metrics.contains(name)) << name;
  }
}

TEST_F(ClassifyTest, DamagedPhotosAreSkippedCountedAndNamed) {
  WritePhoto("train/dish-0/cut.jpg", photo::PlainJpeg(40, 40, 9, 9, 9).substr(0, 200));
  WritePhoto("val/dish-1/empty.jpg", "");
  WritePhoto("test/dish-1/1.jpg", photo::PlainJpeg(40, 40, 40, 190, 50));
  ClassifyOptions options = Options("run");
  options.epochs = 1;
  const auto report = Train(options);
  ASSERT_TRUE(report) << report.error().Line();
  EXPECT_EQ(report->skipped, 2);
  EXPECT_TRUE(report->test_accuracy.has_value());
  EXPECT_NE(said_.find("2 photos do not decode and were left out"), std::string::npos) << said_;
  EXPECT_NE(said_.find("cut.jpg"), std::string::npos);
}

TEST_F(ClassifyTest, BadInputGetsOneClearError) {
  ClassifyOptions options = Options("run");
  options.data = "/nowhere/at/all";
  EXPECT_EQ(Train(options).error().code, Code::kNotFound);
  options = Options("run");
  options.epochs = 0;
  EXPECT_EQ(Train(options).error().Line(), "--epochs: must be 1 to 100000");
  options = Options("run");
  options.device = "tpu";
  EXPECT_EQ(Train(options).error().code, Code::kInvalid);
  EXPECT_FALSE(FileExists(options.out));
}

TEST_F(ClassifyTest, ARunIsNeverOverwrittenUnasked) {
  ClassifyOptions options = Options("run");
  options.epochs = 1;
  ASSERT_TRUE(Train(options));
  const auto again = Train(options);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().what, "holds a run already");
  options.resume = true;
  options.batch = 12;  // another run than the one that is there
  const auto other = Train(options);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().what, "made with another batch");
  options.resume = false;
  options.overwrite = true;
  EXPECT_TRUE(Train(options));
}

TEST_F(ClassifyTest, ADamagedStateIsNamed) {
  ClassifyOptions options = Options("run");
  options.epochs = 1;
  ASSERT_TRUE(Train(options));
  const std::string state = JoinPath(options.out, "last.optimizer.safetensors");
  photo::WriteTestFile(state, ReadFile(state)->substr(0, 5000));
  options.resume = true;
  const auto resumed = Train(options);
  ASSERT_FALSE(resumed);
  EXPECT_EQ(resumed.error().where, state);
}

TEST_F(ClassifyTest, ResumingNothingBegins) {
  ClassifyOptions options = Options("run");
  options.epochs = 1;
  options.resume = true;
  ASSERT_TRUE(Train(options));
  EXPECT_NE(said_.find("nothing was saved yet"), std::string::npos);
}

TEST_F(ClassifyTest, DefaultFoldersCountUp) {
  const std::string cwd = temp_.path();
  EXPECT_EQ(DefaultOut(cwd, "data/", false), JoinPath(cwd, "runs/classify-data"));
  photo::WriteTestFile(JoinPath(cwd, "runs/classify-data/best.safetensors"), "x");
  EXPECT_EQ(DefaultOut(cwd, "data", false), JoinPath(cwd, "runs/classify-data-2"));
  EXPECT_EQ(DefaultOut(cwd, "data", true), JoinPath(cwd, "runs/classify-data"));
}

}  // namespace
}  // namespace stoker::train
