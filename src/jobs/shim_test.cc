// The real supervisor with real commands.
#include "jobs/shim.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <nlohmann/json.hpp>

#include "base/durable_file.h"
#include "base/json.h"
#include "base/text.h"
#include "jobs/process_tree.h"
#include "jobs/test_job.h"

namespace stoker::jobs {
namespace {

using ledger::JobState;

class ShimTest : public JobTest {
 protected:
  static void KillShim(const Launched& job) {
    const auto shim = ReadShim(job.folder);
    ASSERT_TRUE(shim);
    const auto process = OpenProcess(*shim);
    ASSERT_TRUE(process);
    ASSERT_TRUE(SignalProcess(*process, SIGKILL));
    pollfd fd{process->get(), POLLIN, 0};
    ASSERT_EQ(::poll(&fd, 1, static_cast<int>(kLimit.count())), 1);
  }
  static std::vector<pid_t> Numbers(const std::string& text) {
    std::vector<pid_t> out;
    for (const auto word : Split(Trim(text), '\n'))
      out.push_back(static_cast<pid_t>(ParseInt(Trim(word)).value_or(-1)));
    return out;
  }
};

TEST_F(ShimTest, ExitZeroIsSuccess) {
  const Launched job = Start("echo hello; echo oops >&2");
  const JobEnd end = End(job);
  EXPECT_EQ(end.state, JobState::kSucceeded);
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_FALSE(end.signal);
  EXPECT_EQ(end.reason, "");
  EXPECT_EQ(Output(job).out, "hello\n");
  EXPECT_EQ(Output(job).err, "oops\n");
}

TEST_F(ShimTest, AnyOtherExitCodeIsFailureWithThatCode) {
  const JobEnd end = Run("exit 3");
  EXPECT_EQ(end.state, JobState::kFailed);
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_EQ(end.reason, "exit code 3");
}

TEST_F(ShimTest, AKilledCommandFailsWithItsSignal) {
  const JobEnd end = Run("kill -9 $$");
  EXPECT_EQ(end.state, JobState::kFailed);
  EXPECT_EQ(end.signal, SIGKILL);
  EXPECT_FALSE(end.exit_code);
  EXPECT_NE(end.reason.find("SIGKILL"), std::string::npos);
}

TEST_F(ShimTest, OutputHasTimesAndKeepsTheLastStateOfAProgressBar) {
  const Launched job =
      Start(R"(printf 'a\r50%%\r100%% done\nlast'; printf '\033[1mbold\033[0m\n' >&2)");
  End(job);
  EXPECT_EQ(Output(job).out, "100% done\nlast");
  EXPECT_EQ(Output(job).err, "\033[1mbold\033[0m\n");
  const auto raw = ReadFile(job.folder + "/output.log");
  ASSERT_TRUE(raw);
  for (const std::string_view line : Split(Trim(*raw), '\n'))
    EXPECT_TRUE(ParseTime(line.substr(0, 24))) << line;
  EXPECT_FALSE(FileExists(job.folder + "/progress"));
}

TEST_F(ShimTest, OneHugeLineArrivesWhole) {
  const Launched job = Start("head -c 3000000 /dev/zero | tr '\\0' x; echo; echo after");
  End(job);
  EXPECT_EQ(Output(job).out, std::string(3000000, 'x') + "\nafter\n");
}

TEST_F(ShimTest, TheUnfinishedLineIsShownWhileTheJobRuns) {
  const Launched job = Start("printf 'epoch 1:  10%%\\repoch 1:  20%%'; exec sleep 1000");
  WaitForOutput(job, "20%");
  ASSERT_TRUE(Stop(job.folder, Millis(5000), "ann", clock_));
  EXPECT_EQ(End(job).state, JobState::kStopped);
  EXPECT_EQ(Output(job).out, "epoch 1:  20%");
}

TEST_F(ShimTest, StopEndsAJobThatIgnoresSigterm) {
  const Launched job = Start("trap '' TERM; echo ready; while :; do sleep 1000; done");
  WaitForOutput(job, "ready");
  ASSERT_TRUE(Stop(job.folder, Millis(300), "ann", clock_));
  const JobEnd end = End(job);
  EXPECT_EQ(end.state, JobState::kStopped);
  EXPECT_EQ(end.signal, SIGKILL);
  EXPECT_NE(end.reason.find("ann"), std::string::npos) << end.reason;
}

TEST_F(ShimTest, StopLetsAJobSaveAndExit) {
  const Launched job =
      Start("trap 'echo saved; exit 0' TERM; echo ready; while :; do sleep 1; done");
  WaitForOutput(job, "ready");
  ASSERT_TRUE(Stop(job.folder, Millis(20000), "ann", clock_));
  const JobEnd end = End(job);
  EXPECT_EQ(end.state, JobState::kStopped);
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_NE(Output(job).out.find("saved\n"), std::string::npos);
  EXPECT_EQ(Stop(job.folder, Millis(0), "ann", clock_).error().code, Code::kInvalid);
}

TEST_F(ShimTest, StopReachesChildrenThatLeftTheGroupOrWereOrphaned) {
  const Launched job = Start(
      "setsid sh -c 'echo $$; exec sleep 1000' & (setsid sh -c 'echo $$; exec sleep 1000' &) ; "
      "sleep 0.2; echo ready; wait; sleep 1000");
  WaitForOutput(job, "ready");
  std::string text = Output(job).out;
  const auto pids = Numbers(text.substr(0, text.find("ready")));
  ASSERT_EQ(pids.size(), 2u);
  ASSERT_TRUE(Stop(job.folder, Millis(10000), "ann", clock_));
  End(job);
  for (const pid_t pid : pids) EXPECT_FALSE(IdentifyProcess(pid)) << pid;
}

TEST_F(ShimTest, AStopFileIsEnough) {
  const Launched job = Start("exec sleep 1000");
  ASSERT_TRUE(WriteStop(job.folder, {clock_.Now(), "a file", Millis(0)}));
  EXPECT_EQ(End(job).reason, "stopped by a file");
}

TEST_F(ShimTest, SigtermToTheSupervisorIsAStop) {
  const Launched job = Start("exec sleep 1000");
  ASSERT_TRUE(SignalProcess(*OpenProcess(*ReadShim(job.folder)), SIGTERM));
  const JobEnd end = End(job);
  EXPECT_EQ(end.state, JobState::kStopped);
  EXPECT_NE(end.reason.find("SIGTERM"), std::string::npos) << end.reason;
}

TEST_F(ShimTest, ARestartIsAnotherAttempt) {
  LaunchRequest request = Shell("test -e again && exit 0; touch again; exit 7");
  request.restarts = 3;
  const Launched job = Start(request);
  const JobEnd end = End(job);
  EXPECT_EQ(end.state, JobState::kSucceeded);
  const auto attempts = ReadAttempts(job.folder);
  ASSERT_TRUE(attempts);
  ASSERT_EQ(attempts->size(), 2u);
  EXPECT_EQ((*attempts)[0].exit_code, 7);
  EXPECT_EQ((*attempts)[1].exit_code, 0);
  EXPECT_TRUE((*attempts)[1].ended_at);
  EXPECT_NE(Output(job).err.find("attempt 1 of 4 failed (exit code 7)"), std::string::npos);
}

TEST_F(ShimTest, AStopIsNotAFailureThatRestarts) {
  LaunchRequest request = Shell("echo ready; sleep 1000");
  request.restarts = 5;
  const Launched job = Start(request);
  WaitForOutput(job, "ready");
  ASSERT_TRUE(Stop(job.folder, Millis(5000), "ann", clock_));
  EXPECT_EQ(End(job).state, JobState::kStopped);
  EXPECT_EQ(ReadAttempts(job.folder)->size(), 1u);
}

TEST_F(ShimTest, TheJobEndsWithItsMainProcessAndLeavesDaemonsAlone) {
  const Launched job = Start(
      "(setsid sh -c 'echo $$; while [ ! -e go ]; do sleep 0.05; done; echo late') & "
      "while [ ! -s pid ]; do sleep 0.02; echo x > pid; done; sleep 0.3");
  const JobEnd end = End(job);
  EXPECT_EQ(end.state, JobState::kSucceeded);
  EXPECT_NE(end.reason.find("still run"), std::string::npos) << end.reason;
  const auto pids = Numbers(Output(job).out);
  ASSERT_EQ(pids.size(), 1u);
  const auto daemon = IdentifyProcess(pids[0]);
  ASSERT_TRUE(daemon) << "it should still run";
  // It can still print: nobody closed its pipe.
  ASSERT_TRUE(WriteDurably(dir_.path() + "/go", "x"));
  WaitForShim(job);
  EXPECT_NE(Output(job).out.find("late"), std::string::npos);
}

TEST_F(ShimTest, AKilledSupervisorMakesTheJobLost) {
  const Launched job = Start("echo ready; exec sleep 1000");
  WaitForOutput(job, "ready");
  KillShim(job);
  const JobEnd end = End(job);
  EXPECT_EQ(end.state, JobState::kLost);
  EXPECT_NE(end.reason.find("still runs"), std::string::npos) << end.reason;
  // Stop ends what is left.
  const pid_t pid = ReadAttempts(job.folder)->back().pid;
  ASSERT_TRUE(Stop(job.folder, Millis(5000), "ann", clock_));
  EXPECT_FALSE(IdentifyProcess(pid));
  EXPECT_NE(End(job).reason.find("gone too"), std::string::npos);
  EXPECT_EQ(Stop(job.folder, Millis(0), "ann", clock_).error().code, Code::kInvalid);
}

TEST_F(ShimTest, TheJobGetsItsEnvironment) {
  LaunchRequest request = Shell(
      "echo $STOKER_JOB $CUDA_VISIBLE_DEVICES $CUDA_DEVICE_ORDER; "
      "echo $STOKER_HOME; echo '{}' >> $STOKER_RUN_LOG; ps -o tty= $$");
  request.gpus = {3, 1};
  const Launched job = Start(request);
  End(job);
  EXPECT_EQ(Output(job).out.substr(0, Output(job).out.find('/')),
            std::to_string(job.id) + " 3,1 PCI_BUS_ID\n");
  EXPECT_NE(Output(job).out.find(home_.root() + "\n"), std::string::npos);
  EXPECT_TRUE(FileExists(job.folder + "/run.jsonl"));
  const auto spec = ReadSpec(job.folder);
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->environment_json.find("hf_abc"), std::string::npos);
  EXPECT_EQ(StatFile(job.folder + "/job.json")->mode & 0777, 0600u);
}

TEST_F(ShimTest, FollowGivesEverythingThenTheEnd) {
  const Launched job =
      Start("i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done; exit 4");
  std::string out;
  const auto end = Follow(
      job.folder, [&](std::string_view text, bool) { out += text; }, [] { return false; });
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 4);
  EXPECT_EQ(out, Output(job).out);
  EXPECT_NE(out.find("line 1999\n"), std::string::npos);
}

TEST_F(ShimTest, FollowGoesOnFromAPosition) {
  const Launched job = Start("echo one; while [ ! -e go ]; do sleep 0.05; done; echo two");
  int64_t position = 0;
  std::string first, second;
  const auto paused = Follow(
      job.folder, [&](std::string_view text, bool) { first += text; },
      [&] { return !first.empty(); }, &position);
  ASSERT_TRUE(paused);
  EXPECT_EQ(paused->state, JobState::kRunning);
  ASSERT_TRUE(WriteDurably(dir_.path() + "/go", "x"));
  ASSERT_TRUE(Follow(
      job.folder, [&](std::string_view text, bool) { second += text; }, [] { return false; },
      &position));
  EXPECT_EQ(first, "one\n");
  EXPECT_EQ(second, "two\n");
}

TEST_F(ShimTest, WhatCannotStartLeavesNoFolder) {
  LaunchRequest request = Shell("true");
  request.command = {"no-such-program-here"};
  EXPECT_EQ(Launch(home_, request, shim_, clock_).error().code, Code::kNotFound);
  request = Shell("true");
  request.cwd = dir_.path() + "/absent";
  EXPECT_EQ(Launch(home_, request, shim_, clock_).error().code, Code::kNotFound);
  request = Shell("true");
  EXPECT_FALSE(Launch(home_, request, shim_ + "-absent", clock_));
  EXPECT_FALSE(FileExists(home_.jobs()));
}

TEST_F(ShimTest, AFileThatIsNoProgramFailsWithTheReason) {
  const std::string script = dir_.path() + "/script";
  ASSERT_TRUE(WriteDurably(script, "not a program\n", 0755));
  LaunchRequest request = Shell("");
  request.command = {script};
  const JobEnd end = End(Start(request));
  EXPECT_EQ(end.state, JobState::kFailed);
  EXPECT_NE(end.reason.find("script"), std::string::npos) << end.reason;
}

TEST_F(ShimTest, AFolderHasOneSupervisorEver) {
  const Launched job = Start("true");
  End(job);
  Command again;
  again.argv = {shim_, job.folder};
  const auto result = RunProgram(again, kLimit);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status.exit_code, 1);
  EXPECT_NE(result->err.find("supervisor"), std::string::npos);
}

TEST_F(ShimTest, GitFactsOfTheWorkingFolderAreKept) {
  Command git;
  git.cwd = dir_.path();
  git.argv = {"sh", "-c",
              "git init -q -b trunk . && git -c user.name=a -c user.email=a@b commit -q "
              "--allow-empty -m x"};
  const auto made = RunProgram(git, kLimit);
  if (!made || !made->status.ok()) GTEST_SKIP() << "no git here";
  const Launched job = Start("true");
  End(job);
  const auto facts = ParseJson(ReadSpec(job.folder)->git_json);
  ASSERT_TRUE(facts);
  EXPECT_EQ(JsonString(*facts, "branch"), "trunk");
  EXPECT_EQ(JsonString(*facts, "commit")->size(), 40u);
  EXPECT_EQ(JsonBool(*facts, "dirty"), false);
}

}  // namespace
}  // namespace stoker::jobs
