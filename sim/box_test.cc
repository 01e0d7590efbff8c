#include "sim/box.h"

#include <gtest/gtest.h>

#include "base/durable_file.h"
#include "base/process.h"

namespace stoker::sim {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

class BoxTest : public testing::Test {
 protected:
  void SetUp() override { Describe(R"({"speed":0,"count":2,"card":{"noise_ratio":0}})"); }
  std::string Path(const std::string& name) const { return dir_->path() + "/" + name; }
  void Describe(const std::string& json) { ASSERT_TRUE(WriteDurably(Path("box.json"), json)); }
  std::unique_ptr<Box> Open(const std::string& dir) {
    auto box = Box::Open(Path("box.json"), dir);
    EXPECT_TRUE(box) << box.error().Line();
    return std::move(*box);
  }
  Process Sleeper(const std::vector<std::string>& environment) {
    Command command;
    command.argv = {"/bin/sleep", "600"};
    command.environment = environment;
    // Every box of these tests has a folder of its own: trainers that run beside belong to others.
    command.environment->push_back("STOKER_SIM_DIR=" + Path("sim"));
    auto process = Process::Start(command);
    EXPECT_TRUE(process);
    return std::move(*process);
  }
  Result<TempDir> dir_ = TempDir::Make("box");
};

TEST_F(BoxTest, TwoLookersSeeOneBox) {
  auto a = Open(Path("sim"));
  auto b = Open(Path("sim"));
  a->Advance(100 * kSecond);
  b->Advance(kSecond);
  EXPECT_NEAR(b->state(0).energy_mj, b->spec(0).idle_w * 101 * 1000, 1);
  EXPECT_TRUE(a->SetLimit(1, 200));
  b->Advance(0);
  EXPECT_EQ(b->state(1).limit_w, 200);
  EXPECT_FALSE(a->SetLimit(1, 20));
}

TEST_F(BoxTest, EnergyGoesOnInTheNextProcess) {
  Open(Path("sim"))->Advance(1000 * kSecond);
  auto again = Open(Path("sim"));
  EXPECT_GE(again->state(0).energy_mj, again->spec(0).idle_w * 1000 * 1000 - 1);
}

TEST_F(BoxTest, ADamagedStateStartsAfresh) {
  Open(Path("sim"))->Advance(1000 * kSecond);
  auto bytes = ReadFile(Path("sim/box.state"));
  ASSERT_TRUE(bytes);
  (*bytes)[100] = static_cast<char>((*bytes)[100] ^ 1);
  ASSERT_TRUE(WriteDurably(Path("sim/box.state"), *bytes));
  EXPECT_LT(Open(Path("sim"))->state(0).energy_mj, 1000);
  ASSERT_TRUE(WriteDurably(Path("sim/box.state"), "short"));
  EXPECT_LT(Open(Path("sim"))->state(0).energy_mj, 1000);
}

TEST_F(BoxTest, AFileInTheLoadFolderSpeaksForItsProcess) {
  auto box = Open(Path("sim"));
  Process sleeper = Sleeper({"CUDA_VISIBLE_DEVICES=1"});
  const std::string load = Path("sim/load/") + std::to_string(sleeper.pid()) + ".json";
  ASSERT_TRUE(WriteDurably(load, R"({"busy_ratio":0.5,"power_ratio":0.5})"));
  box->Advance(kSecond);
  ASSERT_EQ(box->processes(1).size(), 1u);
  EXPECT_EQ(box->processes(1)[0].pid, sleeper.pid());
  EXPECT_TRUE(box->processes(0).empty());
  ASSERT_TRUE(WriteDurably(load, R"({"busy_ratio":0.9,"power_ratio":0.5})"));
  box->Advance(kSecond);
  EXPECT_DOUBLE_EQ(box->view(1).load.busy_ratio, 0.9);
  ASSERT_TRUE(WriteDurably(load, "{broken"));
  box->Advance(kSecond);
  EXPECT_TRUE(box->processes(1).empty());
}

TEST_F(BoxTest, AnInheritedFileLoadsOnce) {
  auto box = Open(Path("sim"));
  const std::vector<std::string> environment = {"CUDA_VISIBLE_DEVICES=0",
                                                "STOKER_SIM_LOAD=" + Path("load.json")};
  Process first = Sleeper(environment);
  Process second = Sleeper(environment);
  ASSERT_TRUE(WriteDurably(Path("load.json"), R"({"busy_ratio":0.5})"));
  box->Advance(kSecond);
  ASSERT_EQ(box->processes(0).size(), 1u);
  EXPECT_DOUBLE_EQ(box->view(0).load.busy_ratio, 0.5);
  ASSERT_TRUE(WriteDurably(Path("load.json"),
                           R"({"busy_ratio":0.5,"pid":)" + std::to_string(second.pid()) + "}"));
  box->Advance(kSecond);
  ASSERT_EQ(box->processes(0).size(), 1u);
  EXPECT_EQ(box->processes(0)[0].pid, second.pid());
}

TEST_F(BoxTest, PhasesRunOnTheBoxesClock) {
  auto box = Open(Path("sim"));
  ASSERT_TRUE(WriteDurably(
      Path("load.json"),
      R"({"phases":[{"wall_s":10,"busy_ratio":0.1},{"wall_s":10,"busy_ratio":0.8}]})"));
  Process sleeper = Sleeper({"CUDA_VISIBLE_DEVICES=0", "STOKER_SIM_LOAD=" + Path("load.json")});
  box->Advance(5 * kSecond);
  EXPECT_DOUBLE_EQ(box->view(0).load.busy_ratio, 0.1);
  box->Advance(10 * kSecond);
  EXPECT_DOUBLE_EQ(box->view(0).load.busy_ratio, 0.8);
}

TEST_F(BoxTest, ABrokenDescriptionChangesNothing) {
  auto box = Open(Path("sim"));
  Describe("{");
  box->Advance(kSecond);
  EXPECT_EQ(box->count(), 2);
  Describe(R"({"speed":0,"count":1})");
  box->Advance(kSecond);
  EXPECT_EQ(box->count(), 1);
}

TEST_F(BoxTest, ALongAbsenceIsCaughtUpQuickly) {
  auto box = Open(Path("sim"));
  box->Advance(30LL * 24 * 3600 * kSecond);
  EXPECT_NEAR(box->state(0).energy_mj / (box->spec(0).idle_w * 30 * 24 * 3600 * 1000), 1, 1e-6);
}

}  // namespace
}  // namespace stoker::sim
