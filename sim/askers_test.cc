#include "sim/askers.h"

#include <gtest/gtest.h>

#include "base/durable_file.h"
#include "base/file.h"

namespace stoker::sim {
namespace {

using Cards = std::vector<int>;

class AskersTest : public testing::Test {
 protected:
  void Process(int pid, const std::string& environment, char state = 'S', int start = 500) {
    const std::string folder = dir_->path() + "/proc/" + std::to_string(pid);
    ASSERT_TRUE(MakeDirs(folder));
    ASSERT_TRUE(WriteDurably(folder + "/environ", environment));
    ASSERT_TRUE(WriteDurably(folder + "/stat", std::to_string(pid) + " (a b) c) " + state +
                                                   " 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 " +
                                                   std::to_string(start) + " 0 0\n"));
  }
  static std::string Block(std::initializer_list<std::string> entries) {
    std::string block;
    for (const std::string& entry : entries) block += entry + '\0';
    return block;
  }
  std::vector<pid_t> Find(Askers& askers) {
    std::vector<pid_t> pids;
    for (const Asker& asker : askers.Find()) pids.push_back(asker.pid);
    return pids;
  }

  Result<TempDir> dir_ = TempDir::Make("askers");
  std::string proc_ = dir_->path() + "/proc";
};

TEST_F(AskersTest, FindsThoseThatAskByFile) {
  Process(10, Block({"PATH=/bin", "CUDA_VISIBLE_DEVICES=0,1", "STOKER_SIM_LOAD=/tmp/l.json"}));
  Process(11, Block({"CUDA_VISIBLE_DEVICES=0"}));
  Process(12, Block({"STOKER_SIM_LOAD=/tmp/l.json"}));
  Process(13, Block({"XCUDA_VISIBLE_DEVICES=0", "STOKER_SIM_LOADS=/tmp/l.json"}));
  Process(14, Block({"CUDA_VISIBLE_DEVICES=0", "STOKER_SIM_LOAD=l.json"}));  // not absolute
  Process(15, "");
  Process(16, Block({"CUDA_VISIBLE_DEVICES=0", "STOKER_SIM_LOAD=/tmp/l.json"}), 'Z');
  ASSERT_TRUE(MakeDirs(proc_ + "/self"));
  Askers askers("", proc_);
  const auto found = askers.Find();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].pid, 10);
  EXPECT_EQ(found[0].visible, "0,1");
  EXPECT_EQ(found[0].load_path, "/tmp/l.json");
  EXPECT_EQ(found[0].start_ns, 5'000'000'000);
}

TEST_F(AskersTest, FindsThoseWithAFileInTheBoxesFolder) {
  const std::string box = dir_->path() + "/box";
  const std::string load = box + "/load";
  ASSERT_TRUE(MakeDirs(load));
  ASSERT_TRUE(WriteDurably(load + "/21.json", "{}"));
  Process(21, Block({"CUDA_VISIBLE_DEVICES=3", "STOKER_SIM_DIR=" + box + "/"}));
  Process(22, Block({"CUDA_VISIBLE_DEVICES=3", "STOKER_SIM_DIR=" + box}));
  Askers askers(box, proc_);
  const auto found = askers.Find();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].load_path, load + "/21.json");
}

TEST_F(AskersTest, BoxesOnOneMachineDoNotMix) {
  Process(25, Block({"CUDA_VISIBLE_DEVICES=0", "STOKER_SIM_LOAD=/l"}));
  Process(26, Block({"CUDA_VISIBLE_DEVICES=0", "STOKER_SIM_LOAD=/l", "STOKER_SIM_DIR=/a"}));
  Process(27, Block({"CUDA_VISIBLE_DEVICES=0", "STOKER_SIM_LOAD=/l", "STOKER_SIM_DIR=/b"}));
  Askers none("", proc_), a("/a", proc_), b("/b/", proc_);
  EXPECT_EQ(Find(none), std::vector<pid_t>{25});
  EXPECT_EQ(Find(a), std::vector<pid_t>{26});
  EXPECT_EQ(Find(b), std::vector<pid_t>{27});
}

TEST_F(AskersTest, SeesExecAndEnd) {
  Process(30, Block({"PATH=/bin"}));
  Askers askers("", proc_);
  EXPECT_TRUE(Find(askers).empty());
  // The same pid runs another program now.
  Process(30, Block({"CUDA_VISIBLE_DEVICES=0", "STOKER_SIM_LOAD=/l"}));
  EXPECT_EQ(Find(askers), std::vector<pid_t>{30});
  ASSERT_TRUE(RemoveTree(proc_ + "/30"));
  EXPECT_TRUE(Find(askers).empty());
}

TEST_F(AskersTest, LooksAtOldProcessesNowAndThen) {
  Process(40, Block({"PATH=/bin"}));
  Askers askers("", proc_);
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(Find(askers).empty());
  Process(40, Block({"CUDA_VISIBLE_DEVICES=0", "STOKER_SIM_LOAD=/l"}));
  int rounds = 0;
  while (Find(askers).empty() && rounds < 20) ++rounds;
  EXPECT_LT(rounds, 10);
}

TEST(VisibleCards, ReadsAsCudaDoes) {
  const std::vector<std::string> uuids = {"GPU-aa11", "GPU-aa22", "GPU-bb33"};
  EXPECT_EQ(VisibleCards("2,0", uuids), (Cards{2, 0}));
  EXPECT_EQ(VisibleCards(" 1 , 2 ", uuids), (Cards{1, 2}));
  EXPECT_EQ(VisibleCards("GPU-bb,0", uuids), (Cards{2, 0}));
  EXPECT_EQ(VisibleCards("GPU-aa", uuids), Cards());  // two begin so
  EXPECT_EQ(VisibleCards("0,-1,1", uuids), Cards{0});
  EXPECT_EQ(VisibleCards("0,7,1", uuids), Cards{0});
  EXPECT_EQ(VisibleCards("0,0", uuids), Cards{0});
  EXPECT_EQ(VisibleCards("", uuids), Cards());
  EXPECT_EQ(VisibleCards("all", uuids), Cards());
}

}  // namespace
}  // namespace stoker::sim
