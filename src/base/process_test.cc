#include "base/process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/proc_info.h"

namespace stoker {
namespace {

constexpr Millis kLong{20'000};

TEST(ProcessTest, CapturesOutputAndExitCode) {
  const auto done = RunProgram({.argv = {"sh", "-c", "echo out; echo err >&2; exit 3"}}, kLong);
  ASSERT_TRUE(done) << done.error().Line();
  EXPECT_EQ(done->out, "out\n");
  EXPECT_EQ(done->err, "err\n");
  EXPECT_EQ(done->status.exit_code, 3);
  EXPECT_FALSE(done->status.ok());
}

TEST(ProcessTest, PassesArgumentsUntouchedByAnyShell) {
  const auto done = RunProgram({.argv = {"printf", "%s", "$(id); * 'x'"}}, kLong);
  EXPECT_EQ(done->out, "$(id); * 'x'");
}

TEST(ProcessTest, SaysWhyAProgramCannotStart) {
  EXPECT_EQ(RunProgram({.argv = {"no-such-program-here"}}, kLong).error().Line(),
            "no-such-program-here: no such program");
  EXPECT_EQ(RunProgram({.argv = {"/etc/passwd"}}, kLong).error().code, Code::kDenied);
  EXPECT_FALSE(RunProgram({.argv = {"true"}, .cwd = "/no/such/folder"}, kLong));
  EXPECT_EQ(RunProgram({}, kLong).error().code, Code::kInvalid);
}

TEST(ProcessTest, UsesTheGivenEnvironmentAndFolderAlone) {
  const auto done = RunProgram(
      {.argv = {"/bin/sh", "-c", "echo $A-$HOME; pwd"}, .environment = {{"A=1"}}, .cwd = "/"},
      kLong);
  EXPECT_EQ(done->out, "1-\n/\n");
}

TEST(ProcessTest, ATimeoutKillsTheWholeGroup) {
  const auto done = RunProgram({.argv = {"sh", "-c", "sleep 1000 & sleep 1000"}}, Millis(50));
  EXPECT_EQ(done.error().code, Code::kTimeout);
}

TEST(ProcessTest, ASignalIsASignalAndNotAnExitCode) {
  auto process = Process::Start({.argv = {"sleep", "1000"}});
  ASSERT_TRUE(process);
  EXPECT_FALSE(process->Wait(Millis(0))->has_value());
  ASSERT_TRUE(process->SignalGroup(SIGTERM));
  const auto status = process->Wait(kLong);
  ASSERT_TRUE(status->has_value());
  EXPECT_EQ((*status)->signal, SIGTERM);
  EXPECT_FALSE((*status)->exit_code.has_value());
}

TEST(ProcessTest, BoundsWhatItKeeps) {
  const auto done =
      RunProgram({.argv = {"head", "-c", "200000", "/dev/zero"}}, kLong, /*max_bytes=*/1000);
  EXPECT_EQ(done->out.size(), 1000u);
  EXPECT_TRUE(done->status.ok());
}

TEST(ProcInfoTest, AnIdentityOutlivesNoProcess) {
  const auto self = IdentifyProcess(::getpid());
  ASSERT_TRUE(self) << self.error().Line();
  EXPECT_TRUE(IsAlive(*self));
  ProcessIdentity reused = *self;
  reused.start_ticks -= 1;
  EXPECT_FALSE(IsAlive(reused));
  ProcessIdentity rebooted = *self;
  rebooted.boot_id = "another";
  EXPECT_FALSE(IsAlive(rebooted));
}

TEST(ProcInfoTest, SeesChildrenAndTheirArguments) {
  auto process = Process::Start({.argv = {"sleep", "1000"}});
  ASSERT_TRUE(process);
  const auto children = Descendants(::getpid());
  EXPECT_NE(std::find(children.begin(), children.end(), process->pid()), children.end());
  EXPECT_EQ(ProcessArguments(process->pid())->at(1), "1000");
}

}  // namespace
}  // namespace stoker
