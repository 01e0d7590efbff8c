#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <map>

#include "base/file.h"
#include "base/text.h"
#include "explain/rules.h"
#include "explain/words.h"

namespace stoker::explain {
namespace {

using ledger::CheckpointRole;
using ledger::CheckpointState;
using ledger::JobState;

struct SignalWords {
  int number;
  const char* name;
  const char* words;
};
constexpr SignalWords kSignals[] = {
    {SIGHUP, "SIGHUP", "its terminal went away"},
    {SIGINT, "SIGINT", "somebody pressed Ctrl-C or asked it to stop"},
    {SIGQUIT, "SIGQUIT", "somebody asked it to quit with a core dump"},
    {SIGILL, "SIGILL", "it ran an instruction this CPU does not have"},
    {SIGABRT, "SIGABRT", "it gave up by itself, most often a failed check or a C++ exception"},
    {SIGBUS, "SIGBUS",
     "it touched memory or a mapped file that is not there, also a full /dev/shm"},
    {SIGFPE, "SIGFPE", "it divided whole numbers by zero or the like"},
    {SIGKILL, "SIGKILL", "it was killed from outside; the kernel does so when memory runs out"},
    {SIGSEGV, "SIGSEGV", "it touched memory that is not its own"},
    {SIGPIPE, "SIGPIPE", "it wrote to a pipe nobody read"},
    {SIGTERM, "SIGTERM", "somebody asked it to end"},
    {SIGXCPU, "SIGXCPU", "it used more CPU time than it was allowed"},
    {SIGXFSZ, "SIGXFSZ", "it wrote a file larger than it was allowed"},
};

std::string SignalText(int number) {
  for (const SignalWords& signal : kSignals) {
    if (signal.number == number) return fmt::format("{} ({})", signal.name, signal.words);
  }
  return fmt::format("signal {}", number);
}

std::string ExitWords(int code) {
  if (code == 126) return "the program could not be run";
  if (code == 127) return "the program was not found";
  if (code > 128 && code < 128 + 65) return "a child of it died of " + SignalText(code - 128);
  return "";
}

bool OffTheBox(CheckpointState state) { return state == CheckpointState::kSafe; }
bool Matters(CheckpointState state) {
  return state != CheckpointState::kSuperseded && state != CheckpointState::kGone;
}

}  // namespace

void FindOutcome(const Facts& facts, Findings& out) {
  const ledger::Job& job = facts.job();
  if (job.state != JobState::kFailed && job.state != JobState::kLost &&
      job.state != JobState::kStopped) {
    return;
  }
  Finding finding{"ended-badly", kWarning, "", {}, ""};
  const std::string after = FormatDuration(Seconds(facts.detail.view.wall_s));
  if (job.state == JobState::kLost) {
    finding.id = "lost";
    finding.text = fmt::format(
        "The job was lost after {}: it stopped being there and left no exit code", after);
    finding.cannot_tell = "How it ended: a reboot, a power cut or a kill of everything at once.";
  } else if (job.state == JobState::kStopped) {
    finding.id = "stopped";
    finding.severity = kInfo;
    finding.text = fmt::format("The job was stopped after {}", after);
  } else if (job.signal) {
    finding.id = "killed";
    finding.text = fmt::format("The job died of {} after {}", SignalText(*job.signal), after);
    finding.numbers.emplace_back("signal", *job.signal);
    if (*job.signal == SIGKILL) finding.cannot_tell = "Who killed it; the kernel's log may say.";
  } else {
    finding.id = "failed";
    finding.text = fmt::format("The job failed after {}", after);
    if (job.exit_code) {
      const std::string words = ExitWords(*job.exit_code);
      finding.text += fmt::format(" with exit code {}", *job.exit_code);
      if (!words.empty()) finding.text += fmt::format(" ({})", words);
      finding.numbers.emplace_back("exit_code", *job.exit_code);
    }
    finding.cannot_tell = "Why: the end of its log says.";
  }
  // A reason that only repeats the exit code is said once.
  if (!job.reason.empty() && finding.text.find(job.reason) == std::string::npos) {
    finding.text += fmt::format(": {}", job.reason);
  }
  finding.text += ".";
  if (job.last_epoch && job.epochs_planned && *job.last_epoch < *job.epochs_planned) {
    finding.text += fmt::format(" It had done {} of {} epochs.", EpochName(*job.last_epoch),
                                EpochName(*job.epochs_planned));
    finding.numbers.emplace_back("epochs_done", *job.last_epoch);
    finding.numbers.emplace_back("epochs_planned", *job.epochs_planned);
  }
  out.push_back(std::move(finding));
}

void FindUnsafeCheckpoints(const Facts& facts, Findings& out) {
  std::vector<std::string> damaged;
  double unsafe = 0, seen = 0, bytes = 0;
  bool best_unsafe = false;
  for (const query::CheckpointView& view : facts.detail.checkpoints) {
    const ledger::Checkpoint& checkpoint = view.checkpoint;
    if (!Matters(checkpoint.state)) continue;
    ++seen;
    if (checkpoint.state == CheckpointState::kDamaged) damaged.push_back(BaseName(checkpoint.path));
    if (OffTheBox(checkpoint.state)) continue;
    ++unsafe;
    bytes += static_cast<double>(checkpoint.bytes);
    best_unsafe |= checkpoint.role == CheckpointRole::kBest;
  }
  if (unsafe == 0) return;
  const bool ended = ledger::IsFinal(facts.job().state);
  Finding finding{"checkpoints-unsafe", kNotice, "", {}, ""};
  if (best_unsafe || (ended && unsafe == seen) || !damaged.empty()) finding.severity = kWarning;
  finding.text = fmt::format("{} of {} ({}) {} no verified copy outside the job's folder yet",
                             FormatCount(unsafe), Count(seen, "checkpoint", "checkpoints"),
                             FormatBytes(bytes), unsafe == 1 ? "has" : "have");
  if (best_unsafe) finding.text += ", the best one among them";
  finding.text += ".";
  if (!damaged.empty()) {
    const std::string first = damaged.front();
    finding.text +=
        fmt::format(" {} {} damaged ({}).", FormatCount(static_cast<double>(damaged.size())),
                    damaged.size() == 1 ? "is" : "are", first);
  }
  finding.numbers = {{"unsafe", unsafe}, {"seen", seen}, {"unsafe_bytes", bytes}};
  out.push_back(std::move(finding));
}

void FindPhases(const Facts& facts, Findings& out) {
  const double wall = facts.detail.view.wall_s;
  if (wall <= 0 || facts.detail.phases.empty()) return;
  std::map<std::string, double> seconds;
  double known = 0;
  for (const ledger::Phase& phase : facts.detail.phases) {
    const WallTime end = phase.ended_at.value_or(facts.use.to);
    const double s = std::max(0.0, static_cast<double>((end - phase.began_at).count()) / 1000);
    seconds[phase.name] += s;
    known += s;
  }
  Finding finding{"phases", kInfo, "", {}, ""};
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [name, s] : seconds) order.emplace_back(s, name);
  std::sort(order.rbegin(), order.rend());
  std::vector<std::string> parts;
  for (const auto& [s, name] : order) {
    parts.push_back(
        fmt::format("{} {} ({})", Printable(name), FormatDuration(Seconds(s)), Percent(s / wall)));
    finding.numbers.emplace_back(name + "_s", s);
    if (name != "train" && s > 0.25 * wall && s > 60) finding.severity = kNotice;
  }
  finding.text = fmt::format("Where the time went: {}.", JoinAnd(parts));
  finding.numbers.emplace_back("unnamed_s", std::max(0.0, wall - known));
  finding.cannot_tell = "What happened inside a phase; averages over the whole run mix them.";
  out.push_back(std::move(finding));
}

}  // namespace stoker::explain
