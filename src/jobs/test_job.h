// For tests: a home of its own and jobs launched through the real supervisor.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/home.h"
#include "jobs/job_folder.h"
#include "jobs/launch.h"
#include "jobs/process_tree.h"

namespace stoker::jobs {

class JobTest : public testing::Test {
 protected:
  static constexpr Millis kLimit{30000};

  void SetUp() override {
    const char* bin = std::getenv("STOKER_BIN");
    if (bin == nullptr) GTEST_SKIP() << "STOKER_BIN is not set";
    shim_ = std::string(bin) + "/stoker-shim";
    ASSERT_TRUE(FileExists(shim_)) << shim_;
  }
  // Nothing that a test started may outlive it.
  void TearDown() override {
    for (const Launched& job : launched_) {
      if (!ReadEnd(job.folder)) Ignore(Stop(job.folder, Millis(0), "the test", clock_));
      Ignore(WaitForEnd(job.folder, kLimit));
      WaitForShim(job);
    }
  }

  LaunchRequest Shell(const std::string& script) const {
    return {.name = "",
            .command = {"sh", "-c", script},
            .cwd = dir_.path(),
            .environment = {"PATH=/usr/bin:/bin", "HF_TOKEN=hf_abcdefghijkl"},
            .gpus = {},
            .restarts = 0};
  }
  Launched Start(const LaunchRequest& request) {
    const auto job = Launch(home_, request, shim_, clock_);
    EXPECT_TRUE(job) << job.error().Line();
    if (!job) return {};
    launched_.push_back(*job);
    return *job;
  }
  Launched Start(const std::string& script) { return Start(Shell(script)); }
  JobEnd End(const Launched& job) {
    const auto end = WaitForEnd(job.folder, kLimit);
    EXPECT_TRUE(end) << end.error().Line();
    return end.value_or(JobEnd{});
  }
  JobEnd Run(const std::string& script) { return End(Start(script)); }

  // The supervisor goes a moment after it has recorded the end.
  static void WaitForShim(const Launched& job) {
    const auto shim = ReadShim(job.folder);
    const auto process = shim ? OpenProcess(*shim) : Result<Fd>(NotFound("no supervisor"));
    if (!process) return;
    pollfd fd{process->get(), POLLIN, 0};
    EXPECT_EQ(::poll(&fd, 1, static_cast<int>(kLimit.count())), 1);
  }

  // What the job printed, streams apart.
  struct Printed {
    std::string out, err;
  };
  static Printed Output(const Launched& job) {
    Printed printed;
    EXPECT_TRUE(PrintOutput(job.folder, [&](std::string_view text, bool is_stderr) {
      (is_stderr ? printed.err : printed.out) += text;
    }));
    return printed;
  }
  // Follows until `text` was printed on stdout.
  static void WaitForOutput(const Launched& job, const std::string& text) {
    std::string out;
    const SystemClock clock;
    const MonoTime until = clock.Mono() + kLimit;
    const auto seen = [&] { return out.find(text) != std::string::npos; };
    Ignore(Follow(
        job.folder, [&](std::string_view more, bool is_stderr) { out += is_stderr ? "" : more; },
        [&] { return seen() || clock.Mono() >= until; }));
    EXPECT_TRUE(seen()) << "printed so far: " << out;
  }

  SystemClock clock_;
  TempDir dir_ = *TempDir::Make();
  const Home home_{dir_.path() + "/home"};
  std::string shim_;
  std::vector<Launched> launched_;
};

}  // namespace stoker::jobs
