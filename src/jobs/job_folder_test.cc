#include "jobs/job_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <mutex>
#include <set>
#include <thread>

#include "base/durable_file.h"
#include "base/file.h"

namespace stoker::jobs {
namespace {

class JobFolderTest : public testing::Test {
 protected:
  TempDir dir_ = *TempDir::Make();
  const std::string jobs_ = dir_.path() + "/jobs";
  std::string folder_;

  void MakeFolder() { folder_ = NewJobFolder(jobs_)->second; }
};

TEST_F(JobFolderTest, NumbersAreTakenOnceHoweverManyAsk) {
  std::mutex mutex;
  std::set<int64_t> ids;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) {
        const auto made = NewJobFolder(jobs_);
        ASSERT_TRUE(made) << made.error().Line();
        const std::lock_guard lock(mutex);
        EXPECT_TRUE(ids.insert(made->first).second) << made->first;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ids.size(), 40u);
  EXPECT_EQ(*ids.begin(), 1);
  EXPECT_EQ(*ids.rbegin(), 40);
}

TEST_F(JobFolderTest, ARemovedJobsNumberDoesNotComeBack) {
  MakeFolder();
  ASSERT_TRUE(RemoveTree(folder_));
  EXPECT_EQ(NewJobFolder(jobs_)->first, 2);
  EXPECT_EQ(*ListJobFolders(jobs_), std::vector<int64_t>{2});
}

TEST_F(JobFolderTest, ASpecComesBackByteForByte) {
  MakeFolder();
  JobSpec spec;
  spec.id = 1;
  spec.name = "night";
  spec.command = {"train", "ü", "\xff\xfe", "", "line\nbreak"};
  spec.cwd = "/data/\xe9t\xe9";
  spec.user = "ann";
  spec.gpus = {0, 3};
  spec.restarts = 2;
  spec.environment = {"A=b", "B=\xff"};
  spec.environment_json = R"({"A":"b"})";
  spec.git_json = R"({"branch":"main"})";
  spec.run_log = "/x/run.jsonl";
  spec.created_at = WallTime{1796093048123};
  ASSERT_TRUE(WriteSpec(folder_, spec));
  const auto back = ReadSpec(folder_);
  ASSERT_TRUE(back) << back.error().Line();
  EXPECT_EQ(back->command, spec.command);
  EXPECT_EQ(back->cwd, spec.cwd);
  EXPECT_EQ(back->environment, spec.environment);
  EXPECT_EQ(back->environment_json, spec.environment_json);
  EXPECT_EQ(back->git_json, spec.git_json);
  EXPECT_EQ(back->gpus, spec.gpus);
  EXPECT_EQ(back->restarts, 2);
  EXPECT_EQ(back->created_at, spec.created_at);
  EXPECT_EQ(back->run_log, spec.run_log);
}

TEST_F(JobFolderTest, AnEndIsNeverRewritten) {
  MakeFolder();
  JobEnd end;
  end.state = ledger::JobState::kSucceeded;
  end.exit_code = 0;
  end.ended_at = WallTime{1796093048123};
  ASSERT_TRUE(WriteEnd(folder_, end));
  end.exit_code = 1;
  EXPECT_EQ(WriteEnd(folder_, end).error().code, Code::kUnavailable);
  EXPECT_EQ(ReadEnd(folder_)->exit_code, 0);
}

TEST_F(JobFolderTest, AttemptsComeInOrder) {
  MakeFolder();
  for (const int number : {1, 2, 10}) {
    ledger::Attempt attempt;
    attempt.number = number;
    attempt.pid = number * 100;
    attempt.started_at = WallTime{1796093048123};
    ASSERT_TRUE(WriteAttempt(folder_, attempt));
  }
  const auto attempts = ReadAttempts(folder_);
  ASSERT_TRUE(attempts);
  ASSERT_EQ(attempts->size(), 2u) << "the supervisor counts without gaps";
  EXPECT_EQ((*attempts)[1].pid, 200);
  EXPECT_FALSE((*attempts)[1].ended_at);
}

TEST_F(JobFolderTest, DamageIsAnErrorNotAGuess) {
  MakeFolder();
  EXPECT_EQ(ReadSpec(folder_).error().code, Code::kNotFound);
  EXPECT_EQ(ReadEnd(folder_).error().code, Code::kNotFound);
  for (const char* text : {"", "{", "[]", "{}", R"({"state":"running","ended_at":"x"})",
                           R"({"id":1,"command":[1],"environment":[]})"}) {
    ASSERT_TRUE(WriteDurably(folder_ + "/job.json", text));
    ASSERT_TRUE(WriteDurably(folder_ + "/end.json", text));
    ASSERT_TRUE(WriteDurably(folder_ + "/shim.json", text));
    ASSERT_TRUE(WriteDurably(folder_ + "/attempt-1.json", text));
    EXPECT_EQ(ReadSpec(folder_).error().code, Code::kCorrupt) << text;
    EXPECT_EQ(ReadEnd(folder_).error().code, Code::kCorrupt) << text;
    EXPECT_EQ(ReadShim(folder_).error().code, Code::kCorrupt) << text;
    EXPECT_EQ(ReadAttempts(folder_).error().code, Code::kCorrupt) << text;
  }
}

TEST_F(JobFolderTest, AJobWithoutASupervisorIsLostAfterAWhile) {
  MakeFolder();
  JobSpec spec;
  spec.id = 1;
  spec.command = {"true"};
  spec.created_at = WallTime{1796093048123};
  ASSERT_TRUE(WriteSpec(folder_, spec));
  EXPECT_FALSE(*FindLostEnd(folder_, spec.created_at + Millis(1000)));
  const auto lost = FindLostEnd(folder_, spec.created_at + Millis(3'600'000));
  ASSERT_TRUE(lost && *lost);
  EXPECT_EQ((*lost)->state, ledger::JobState::kLost);
}

TEST_F(JobFolderTest, AnotherBootMeansTheMachineRestarted) {
  MakeFolder();
  JobSpec spec;
  spec.id = 1;
  spec.command = {"true"};
  spec.created_at = WallTime{1796093048123};
  ASSERT_TRUE(WriteSpec(folder_, spec));
  auto self = IdentifyProcess(::getpid());
  ASSERT_TRUE(self);
  ASSERT_TRUE(WriteShim(folder_, *self));
  EXPECT_FALSE(*FindLostEnd(folder_, spec.created_at));
  self->boot_id = "00000000-0000-0000-0000-000000000000";
  ASSERT_TRUE(WriteShim(folder_, *self));
  const auto lost = FindLostEnd(folder_, spec.created_at);
  ASSERT_TRUE(lost && *lost);
  EXPECT_NE((*lost)->reason.find("restarted"), std::string::npos);
}

}  // namespace
}  // namespace stoker::jobs
