// stoker run: a command as a job. The supervisor holds it; this process only shows its output.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "cli/books.h"
#include "cli/command.h"
#include "cli/daemon.h"
#include "cli/options.h"
#include "jobs/cards.h"
#include "jobs/launch.h"
#include "ledger/ledger.h"

namespace stoker::cli {
namespace {

struct RunOptions {
  std::string name;
  std::string gpus;
  int64_t restarts = 0;
  bool detach = false;
  std::vector<std::string> command;
};

// The cards that a job asked for: "0,3" names them, "2" takes that many free ones.
Result<std::vector<int>> ChooseGpus(const std::string& asked, ledger::Ledger& books) {
  std::vector<int> all;
  STOKER_ASSIGN(const auto cards, books.Cards());
  for (const ledger::Card& card : cards) {
    if (card.present) all.push_back(card.gpu);
  }
  if (asked.find(',') == std::string::npos) {
    const auto count = ParseInt(asked);
    if (!count || *count < 0)
      return Invalid("neither a number nor a list such as 0,3", "stoker run: --gpus " + asked);
    STOKER_ASSIGN(const auto running, books.Jobs({.states = {ledger::JobState::kRunning}}));
    return jobs::ChooseFreeCards(all, running, static_cast<int>(*count));
  }
  std::vector<int> chosen;
  for (const std::string_view part : Split(asked, ',')) {
    if (part.empty()) continue;  // "3," names one card
    const auto gpu = ParseInt(part);
    if (!gpu || *gpu < 0)
      return Invalid("neither a number nor a list such as 0,3", "stoker run: --gpus " + asked);
    if (std::find(all.begin(), all.end(), *gpu) == all.end()) {
      return NotFound("this box has no such card", "GPU " + std::to_string(*gpu),
                      "stoker top shows the cards");
    }
    chosen.push_back(static_cast<int>(*gpu));
  }
  return chosen;
}

int ExitCodeOf(const jobs::JobEnd& end) {
  if (end.exit_code) return *end.exit_code;
  return end.signal ? 128 + *end.signal : 1;
}

Result<int> FollowToTheEnd(Context& context, const jobs::Launched& job) {
  int64_t position = 0;
  const auto print = [&](std::string_view text, bool is_stderr) {
    is_stderr ? context.err(text) : context.out(text);
  };
  auto end = jobs::Follow(
      job.folder, print, [&] { return context.interrupted.stopped(); }, &position);
  const bool interrupted = context.interrupted.stopped();
  if (interrupted) {
    // Ctrl-C in the foreground is meant for the job. It may have ended just now.
    Ignore(jobs::Stop(job.folder, Millis(context.settings.jobs_grace_s * 1000), context.user,
                      context.clock));
    end = jobs::Follow(
        job.folder, print, [] { return false; }, &position);
  }
  if (!end) return end.error();
  WaitUntilRecorded(context, job.id);
  if (interrupted) context.err(fmt::format("stoker: job {} stopped\n", job.id));
  return interrupted && !end->exit_code && !end->signal ? 130 : ExitCodeOf(*end);
}

}  // namespace

Result<int> RunCommand(Context& context, const std::vector<std::string>& args) {
  RunOptions run;
  Options options("run", "[--name N] [--gpus N|0,3] [--restarts N] [--detach] -- CMD…",
                  "Runs a command as a job; its exit code becomes ours.");
  options.Text("--name", run.name, "name of the job; else the program's")
      .Text("--gpus", run.gpus, "how many free cards, or which: 2, or 0,3")
      .Number("--restarts", run.restarts, "start again so many times after a failure")
      .Flag("-d,--detach", run.detach, "print the job's number and return at once")
      .Rest("command", run.command, "the program and its arguments, after --", true);
  STOKER_PARSE(options, args, context);
  if (run.restarts < 0 || run.restarts > 1000)
    return Invalid("out of range 0 to 1000", "stoker run: --restarts");

  if (const Status daemon = EnsureDaemon(context); !daemon) {
    // The job's folder is the record; a daemon that cannot start must not keep anyone from
    // training.
    context.err("stoker: " + daemon.error().Line() +
                "; the job runs and is recorded all the same\n");
  }
  jobs::LaunchRequest request{.name = run.name,
                              .command = run.command,
                              .cwd = context.cwd,
                              .environment = context.environment,
                              .gpus = {},
                              .restarts = static_cast<int>(run.restarts)};
  if (!run.gpus.empty()) {
    STOKER_ASSIGN(const auto books, OpenBooks(context));
    STOKER_ASSIGN(request.gpus, ChooseGpus(run.gpus, *books));
  }
  STOKER_ASSIGN(const auto job, jobs::Launch(context.home, request,
                                             context.bin_dir + "/stoker-shim", context.clock));
  if (run.detach) {
    if (context.json) {
      context.out(fmt::format("{{\"schema_version\": 1, \"id\": {}}}\n", job.id));
    } else {
      context.out(fmt::format("job {} started; stoker logs {} -f follows it\n", job.id, job.id));
    }
    return 0;
  }
  return FollowToTheEnd(context, job);
}

}  // namespace stoker::cli
