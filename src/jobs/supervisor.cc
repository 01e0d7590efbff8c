#include "jobs/supervisor.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "jobs/process_tree.h"

namespace stoker::jobs {
namespace {

constexpr Millis kIdle{3'600'000};
constexpr Millis kStopLook{2000};  // a stop.json that nobody announced by a signal
constexpr Millis kKillAgain{500};
constexpr Millis kAfterKill{10000};
constexpr int kPipeBytes = 1 << 20;     // a busy disk must not make the job wait to print
constexpr Millis kSettle{200};          // children that end with their parent need a moment
constexpr Millis kLeftoverGrace{5000};  // before a new attempt
constexpr Millis kFirstBackOff{1000};
constexpr Millis kLongestBackOff{60000};
constexpr Millis kRetryWrite{5000};
constexpr std::chrono::minutes kHealthy{5};  // an attempt that ran so long starts the back-off anew
constexpr int kMaxNamed = 5;

std::chrono::nanoseconds Nanos(Millis ms) { return ms; }

// How many processes the kernel has killed for lack of memory since boot.
int64_t OutOfMemoryKills() {
  const auto text = ReadFile("/proc/vmstat", 1 << 20);
  if (!text) return 0;
  for (const std::string_view line : Split(*text, '\n')) {
    if (line.starts_with("oom_kill ")) return ParseInt(line.substr(9)).value_or(0);
  }
  return 0;
}

std::string SignalText(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

std::string NameLeftovers(const std::vector<std::string>& processes) {
  if (processes.empty()) return "";
  std::vector<std::string> named = processes;
  if (named.size() > kMaxNamed) {
    named.resize(kMaxNamed);
    named.push_back("…");
  }
  return fmt::format("{} process{} it started still run{}: {}", processes.size(),
                     processes.size() == 1 ? "" : "es", processes.size() == 1 ? "s" : "",
                     Join(named, ", "));
}

}  // namespace

Supervisor::Supervisor(std::string folder, JobSpec spec, ProcessIdentity self, Fd signals,
                       OutputLog output, const Clock& clock, std::function<void()> begun)
    : folder_(std::move(folder)),
      spec_(std::move(spec)),
      self_(std::move(self)),
      signals_(std::move(signals)),
      output_(std::move(output)),
      clock_(clock),
      begun_(std::move(begun)) {}

// The caller of Launch() goes on once the first attempt is on disk: whoever looks then finds it.
void Supervisor::TellBegun() {
  if (const auto begun = std::exchange(begun_, nullptr)) begun();
}

std::string Supervisor::Outcome::Describe() const {
  if (!trouble.empty()) return trouble;
  if (exit_code) return fmt::format("exit code {}", *exit_code);
  if (out_of_memory) return "killed by SIGKILL: the kernel ran out of memory";
  return "killed by " + SignalText(signal.value_or(0));
}

JobEnd Supervisor::Run() {
  LookForStopFile();
  Millis back_off = kFirstBackOff;
  Outcome outcome;
  outcome.ended_at = clock_.Now();
  for (int number = 1; !stopping_; ++number) {
    const MonoTime began = clock_.Mono();
    outcome = RunAttempt(number);
    if (outcome.ok() || stopping_ || number > spec_.restarts) break;
    if (clock_.Mono() - began > kHealthy) back_off = kFirstBackOff;
    output_.Say(fmt::format("attempt {} of {} failed ({}); the next one begins in {}", number,
                            spec_.restarts + 1, outcome.Describe(), FormatDuration(back_off)));
    EndLeftovers();
    if (!WaitBackOff(back_off)) break;
    back_off = std::min(back_off * 2, kLongestBackOff);
  }
  return EndFrom(outcome);
}

JobEnd Supervisor::EndFrom(const Outcome& outcome) const {
  JobEnd end;
  end.exit_code = outcome.exit_code;
  end.signal = outcome.signal;
  end.ended_at = outcome.ended_at;
  if (stopping_) {
    end.state = ledger::JobState::kStopped;
    end.reason = "stopped by " + stopped_by_;
  } else if (outcome.ok()) {
    end.state = ledger::JobState::kSucceeded;
  } else {
    end.state = ledger::JobState::kFailed;
    end.reason = outcome.Describe();
    if (attempt_.number > 1) end.reason += fmt::format(" at attempt {}", attempt_.number);
  }
  if (!outcome.leftovers.empty()) {
    end.reason += (end.reason.empty() ? "" : "; ") + outcome.leftovers;
  }
  return end;
}

Result<Process> Supervisor::StartCommand() {
  STOKER_ASSIGN(Pipe out, MakePipe());
  STOKER_ASSIGN(Pipe err, MakePipe());
  STOKER_TRY(SetNonBlocking(out.read));
  STOKER_TRY(SetNonBlocking(err.read));
  ::fcntl(out.write.get(), F_SETPIPE_SZ, kPipeBytes);
  ::fcntl(err.write.get(), F_SETPIPE_SZ, kPipeBytes);
  Command command;
  command.argv = spec_.command;
  command.environment = spec_.environment;
  command.cwd = spec_.cwd;
  command.stdout_fd = out.write.get();
  command.stderr_fd = err.write.get();
  STOKER_ASSIGN(Process process, Process::Start(command));
  pipes_ = {std::move(out.read), std::move(err.read)};
  return process;
}

Supervisor::Outcome Supervisor::RunAttempt(int number) {
  Outcome outcome;
  const int64_t kills_before = OutOfMemoryKills();
  auto started = StartCommand();
  if (!started) {
    outcome.trouble = started.error().Line();
    outcome.ended_at = clock_.Now();
    output_.Say(outcome.trouble);
    return outcome;
  }
  main_.emplace(std::move(*started));
  attempt_ = {.job = spec_.id, .number = number, .pid = main_->pid(), .started_at = clock_.Now()};
  attempt_.boot_id = self_.boot_id;
  // A process that has ended already has no start time to read; its pid is not ours to reuse yet.
  if (const auto identity = IdentifyProcess(main_->pid()))
    attempt_.start_ticks = identity->start_ticks;
  RecordAttempt();
  TellBegun();

  std::optional<ExitStatus> status;
  while (!status) {
    Pump(kIdle);
    const auto waited = main_->Wait(Millis(0));
    if (waited) status = *waited;
    if (!waited) status = ExitStatus{};
  }
  main_.reset();
  outcome.exit_code = attempt_.exit_code = status->exit_code;
  outcome.signal = attempt_.signal = status->signal;
  outcome.ended_at = clock_.Now();
  outcome.out_of_memory = status->signal == SIGKILL && OutOfMemoryKills() > kills_before;
  attempt_.ended_at = outcome.ended_at;
  Drain();
  if (!WaitForDescendants(stopping_ ? UntilKilled() : kSettle))
    outcome.leftovers = NameLeftovers(DescribeDescendants(self_.pid));
  Drain();
  RecordAttempt();
  return outcome;
}

void Supervisor::RecordAttempt() {
  const Status written = WriteAttempt(folder_, attempt_);
  attempt_unwritten_ = !written;
  if (!written) next_attempt_write_ = clock_.Mono() + Nanos(kRetryWrite);
}

Millis Supervisor::UntilDue(Millis limit) const {
  const MonoTime now = clock_.Mono();
  const auto until = [&](MonoTime at) {
    return std::max(Millis(0), std::chrono::ceil<Millis>(at - now));
  };
  limit = std::min(limit, until(next_stop_look_));
  if (attempt_unwritten_) limit = std::min(limit, until(next_attempt_write_));
  if (stopping_) limit = std::min(limit, until(kill_at_));
  return limit;
}

// How long a stop may take: the grace, and a while for the kernel to end what was killed. A process
// stuck in a driver must not keep the job's end from the record for ever.
Millis Supervisor::UntilKilled() const {
  return std::max(Millis(0), std::chrono::ceil<Millis>(kill_at_ - clock_.Mono())) + kAfterKill;
}

void Supervisor::Pump(Millis limit) {
  limit = UntilDue(limit);
  if (const auto due = output_.Tick()) limit = std::min(limit, *due);
  pollfd fds[4] = {{signals_.get(), POLLIN, 0},
                   {pipes_[0].get(), POLLIN, 0},
                   {pipes_[1].get(), POLLIN, 0},
                   {main_ ? main_->pidfd().get() : -1, POLLIN, 0}};
  if (::poll(fds, 4, static_cast<int>(limit.count())) > 0) {
    if (fds[0].revents != 0) OnSignals();
    if (fds[1].revents != 0) ReadStream(Stream::kOut);
    if (fds[2].revents != 0) ReadStream(Stream::kErr);
  }
  const MonoTime now = clock_.Mono();
  if (now >= next_stop_look_) LookForStopFile();
  if (attempt_unwritten_ && now >= next_attempt_write_) RecordAttempt();
  if (stopping_) KillWhenDue();
}

void Supervisor::OnSignals() {
  signalfd_siginfo info[16];
  const auto got = ReadSome(signals_, reinterpret_cast<char*>(info), sizeof info, "signals");
  if (!got) return;
  for (size_t i = 0; i < *got / sizeof info[0]; ++i) {
    if (info[i].ssi_signo == SIGCHLD) {
      ReapAdopted();
      continue;
    }
    LookForStopFile();
    if (stopping_) continue;
    const auto sender = static_cast<uid_t>(info[i].ssi_uid);
    BeginStop(fmt::format("{} from {}", SignalText(static_cast<int>(info[i].ssi_signo)),
                          UserName(sender)),
              StopRequest{}.grace);
  }
}

void Supervisor::ReadStream(Stream stream) {
  Fd& pipe = pipes_[static_cast<size_t>(stream)];
  if (!pipe.valid()) return;
  char buffer[kMaxRecordText];
  const auto got = ReadSome(pipe, buffer, sizeof buffer, "output");
  if (!got && got.error().code == Code::kUnavailable) return;
  if (got && *got > 0) return output_.Take(stream, {buffer, *got});
  output_.EndOfStream(stream);
  pipe.Close();
}

// What is in the pipes now. Their other ends may stay open for long, in processes that live on.
void Supervisor::Drain() {
  for (const Stream stream : {Stream::kOut, Stream::kErr}) {
    Fd& pipe = pipes_[static_cast<size_t>(stream)];
    pollfd fd{pipe.get(), POLLIN, 0};
    for (int i = 0; pipe.valid() && i < 64 && ::poll(&fd, 1, 0) > 0; ++i) ReadStream(stream);
  }
}

// Descendants whose parents ended come to us, and are zombies until somebody asks for them.
void Supervisor::ReapAdopted() {
  while (true) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return;
    if (main_ && info.si_pid == main_->pid()) return;  // RunAttempt asks for that one
    siginfo_t reaped{};
    ::waitid(P_PID, static_cast<id_t>(info.si_pid), &reaped, WEXITED | WNOHANG);
  }
}

void Supervisor::LookForStopFile() {
  next_stop_look_ = clock_.Mono() + Nanos(kStopLook);
  const auto stop = ReadStop(folder_);
  if (stop) BeginStop(stop->who.empty() ? "somebody" : Printable(stop->who), stop->grace);
}

void Supervisor::BeginStop(const std::string& who, Millis grace) {
  const MonoTime kill_at = clock_.Mono() + Nanos(grace);
  if (stopping_) {
    kill_at_ = std::min(kill_at_, kill_at);  // asked again with less patience
    return;
  }
  stopping_ = true;
  stopped_by_ = who;
  kill_at_ = kill_at;
  output_.Say(fmt::format("stopping, asked by {}; SIGKILL after {}", who, FormatDuration(grace)));
  SignalAll(SIGTERM);
  SignalAll(SIGCONT);  // a job that stands still could not hear
}

// The main process's group in one go, so that no fork slips through, and whoever left the group.
void Supervisor::SignalAll(int signal) {
  if (main_) Ignore(main_->SignalGroup(signal));
  SignalDescendants(self_.pid, signal, main_ ? main_->pid() : 0);
}

void Supervisor::KillWhenDue() {
  if (clock_.Mono() < kill_at_) return;
  SignalAll(SIGKILL);
  kill_at_ = clock_.Mono() + Nanos(kKillAgain);
}

bool Supervisor::WaitForDescendants(Millis limit) {
  const MonoTime until = clock_.Mono() + Nanos(limit);
  while (true) {
    ReapAdopted();
    if (DescribeDescendants(self_.pid).empty()) return true;
    const MonoTime now = clock_.Mono();
    if (now >= until) return false;
    // SIGCHLD comes for our own children only, and most of these become ours; the rest need a look.
    Pump(std::min(std::chrono::ceil<Millis>(until - now), kKillAgain));
  }
}

// A second copy of a trainer beside the rest of the first would fight it for the cards and files.
void Supervisor::EndLeftovers() {
  if (SignalDescendants(self_.pid, SIGTERM) == 0) return;
  if (WaitForDescendants(kLeftoverGrace)) return;
  SignalDescendants(self_.pid, SIGKILL);
  WaitForDescendants(kLeftoverGrace);
}

bool Supervisor::WaitBackOff(Millis delay) {
  const MonoTime until = clock_.Mono() + Nanos(delay);
  while (!stopping_) {
    const MonoTime now = clock_.Mono();
    if (now >= until) return true;
    Pump(std::chrono::ceil<Millis>(until - now));
  }
  return false;
}

Status Supervisor::RecordEnd(const JobEnd& end) {
  for (Millis delay = kFirstBackOff;; delay = std::min(delay * 2, kLongestBackOff / 2)) {
    if (attempt_unwritten_) RecordAttempt();
    output_.TellLoss();
    const Status written = WriteEnd(folder_, end);
    if (written || FileExists(JoinPath(folder_, "end.json"))) return Ok();
    if (!FileExists(folder_)) return NotFound("the job's folder was removed", folder_);
    const MonoTime until = clock_.Mono() + Nanos(delay);
    for (MonoTime now = clock_.Mono(); now < until; now = clock_.Mono()) {
      Pump(std::chrono::ceil<Millis>(until - now));
    }
  }
}

void Supervisor::ServeLeftovers() {
  while (pipes_[0].valid() || pipes_[1].valid()) {
    Pump(kIdle);
    ReapAdopted();
    if (stopping_ && DescribeDescendants(self_.pid).empty()) break;
  }
  output_.Finish();
}

}  // namespace stoker::jobs
