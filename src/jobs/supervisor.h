// One job's life: attempts, output, stop, restarts. The body of RunShim. One thread, one poll loop.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/fd.h"
#include "base/process.h"
#include "base/result.h"
#include "jobs/job_folder.h"
#include "jobs/output_log.h"

namespace stoker::jobs {

class Supervisor {
 public:
  // `signals` is a signalfd of SIGTERM, SIGINT and SIGCHLD, which are blocked.
  Supervisor(std::string folder, JobSpec spec, ProcessIdentity self, Fd signals, OutputLog output,
             const Clock& clock, std::function<void()> begun);

  // Runs the job to its end and returns that, not yet written.
  JobEnd Run();
  // Writes the end, trying again as long as it takes: a full disk must not lose how a job ended.
  Status RecordEnd(const JobEnd& end);
  // Keeps the pipes of processes that live on, so that they are not killed by SIGPIPE.
  void ServeLeftovers();

 private:
  struct Outcome {
    std::optional<int> exit_code;
    std::optional<int> signal;
    std::string trouble;  // why it could not even start
    std::string leftovers;
    bool out_of_memory = false;
    WallTime ended_at;
    bool ok() const { return exit_code == 0; }
    std::string Describe() const;
  };

  Outcome RunAttempt(int number);
  void TellBegun();
  Result<Process> StartCommand();
  void RecordAttempt();
  JobEnd EndFrom(const Outcome& outcome) const;

  // Waits for the next thing and handles it; at most `limit`.
  void Pump(Millis limit);
  void OnSignals();
  void ReadStream(Stream stream);
  void Drain();
  void ReapAdopted();
  void LookForStopFile();
  void BeginStop(const std::string& who, Millis grace);
  void SignalAll(int signal);
  void KillWhenDue();
  // Waits until no descendant lives, or `limit`; true where none does.
  bool WaitForDescendants(Millis limit);
  void EndLeftovers();
  bool WaitBackOff(Millis delay);
  Millis UntilDue(Millis limit) const;
  Millis UntilKilled() const;

  const std::string folder_;
  const JobSpec spec_;
  const ProcessIdentity self_;
  const Fd signals_;
  OutputLog output_;
  const Clock& clock_;
  std::function<void()> begun_;  // empty once told

  std::optional<Process> main_;  // while it has not been reaped
  std::array<Fd, 2> pipes_;      // read ends of stdout and stderr
  ledger::Attempt attempt_;
  bool attempt_unwritten_ = false;
  MonoTime next_attempt_write_{};
  MonoTime next_stop_look_{};

  bool stopping_ = false;
  std::string stopped_by_;
  MonoTime kill_at_{};
};

}  // namespace stoker::jobs
