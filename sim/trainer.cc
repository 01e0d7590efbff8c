// stoker-sim-trainer: looks like a trainer from outside. It asks for simulated cards, loads them,
// writes a run log and checkpoints, and ends as it is told to; it learns nothing.
#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/text.h"
#include "runlog/writer.h"
#include "sim/curve.h"
#include "sim/load_file.h"
#include "sim/weights.h"

namespace stoker::sim {
namespace {

struct Options {
  int epochs = 20;
  double epoch_seconds = 5;
  double startup_seconds = 0;
  std::string out = "run";
  int64_t checkpoint_bytes = 1 << 20;
  int save_period = 0;
  std::string curve = "overfit";
  std::string gpus = "0";
  int64_t samples = 9000;
  Load train = {0.86, 0.45, 0.62, 34e9};
  int fail_at = 0;
  int exit_code = 1;
  uint64_t seed = 1;
};

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// The signals that end a training, held back and asked for while it waits, so that no handler
// exists.
class EndSignals {
 public:
  EndSignals() {
    ::sigemptyset(&set_);
    ::sigaddset(&set_, SIGTERM);
    ::sigaddset(&set_, SIGINT);
    ::sigprocmask(SIG_BLOCK, &set_, nullptr);
  }
  // Waits; true once a signal came, now or earlier.
  bool WaitFor(double seconds) {
    const auto ns = static_cast<int64_t>(std::max(0.0, seconds) * 1e9);
    const timespec limit = {ns / 1'000'000'000, ns % 1'000'000'000};
    if (caught_ == 0) caught_ = std::max(0, ::sigtimedwait(&set_, nullptr, &limit));
    return caught_ != 0;
  }
  bool caught() { return WaitFor(0); }
  // Ends by the very signal that came, so that whoever waits sees it.
  [[noreturn]] void EndByIt() {
    ::signal(caught_, SIG_DFL);
    ::raise(caught_);
    ::sigprocmask(SIG_UNBLOCK, &set_, nullptr);
    std::_Exit(128 + caught_);
  }

 private:
  sigset_t set_;
  int caught_ = 0;
};

class Trainer {
 public:
  Trainer(const Options& options, std::string load_path, EndSignals& signals)
      : options_(options),
        curve_(*CurveByName(options.curve)),
        load_path_(std::move(load_path)),
        signals_(signals) {}

  // The exit code, or what went wrong. Ends early, saved, where a signal came.
  Result<int> Run() {
    STOKER_TRY(Open());
    Phase("startup", true);
    STOKER_TRY(Ask({0, 0, 0, options_.train.memory_bytes / 4}));
    signals_.WaitFor(options_.startup_seconds);
    Phase("startup", false);
    for (int epoch = 1; epoch <= options_.epochs && !signals_.caught(); ++epoch) {
      STOKER_ASSIGN(const bool whole, Epoch(epoch));
      if (!whole) break;
      if (epoch == options_.fail_at) {
        fmt::print("failing after epoch {} as asked\n", epoch);
        return options_.exit_code;
      }
    }
    if (signals_.caught()) {
      STOKER_TRY(Save("last", done_));
      Note(fmt::format("stopped by a signal after epoch {}; last.safetensors is saved", done_));
      return 0;
    }
    STOKER_TRY(Save("final", done_));
    return 0;
  }

 private:
  Status Open() {
    STOKER_TRY(MakeDirs(options_.out));
    const std::string path = Environment("STOKER_RUN_LOG");
    if (!path.empty()) {
      STOKER_ASSIGN(log_, runlog::Writer::Open(path, clock_));
    }
    runlog::RunEvent plan;
    plan.kind = runlog::Kind::kPlan;
    plan.plan_json = fmt::format(R"({{"epochs":{},"unit":"photo","samples":{},)"
                                 R"("best":{{"metric":"val/accuracy","mode":"max"}},)"
                                 R"("simulated":true,"seed":{}}})",
                                 options_.epochs, options_.samples, options_.seed);
    plan.epochs_planned = options_.epochs;
    plan.unit = "photo";
    plan.best_metric = "val/accuracy";
    plan.best_higher = true;
    return Tell(std::move(plan));
  }

  // One epoch: most of it training, then validation, then checkpoints. False where a signal cut it.
  Result<bool> Epoch(int epoch) {
    const MonoTime begin = clock_.Mono();
    Phase("train", true);
    STOKER_TRY(Ask(options_.train));
    const bool cut = signals_.WaitFor(options_.epoch_seconds * 0.9);
    Phase("train", false);
    if (cut) return false;
    const double train_s = std::max(1e-6, Seconds(clock_.Mono() - begin).count());

    Phase("validate", true);
    Load validate = options_.train;
    validate.busy_ratio *= 0.7;
    validate.power_ratio *= 0.6;
    STOKER_TRY(Ask(validate));
    const bool late = signals_.WaitFor(options_.epoch_seconds * 0.1);
    Phase("validate", false);
    if (late) return false;
    STOKER_TRY(Report(epoch, static_cast<double>(options_.samples) / train_s));
    STOKER_TRY(Checkpoints(epoch));
    return true;
  }

  Status Report(int epoch, double per_s) {
    score_ = ScoreAt(curve_, epoch, options_.epochs, options_.seed);
    runlog::RunEvent event;
    event.kind = runlog::Kind::kEpoch;
    event.epoch = epoch;
    event.metrics = {{"train/loss", score_.train_loss},
                     {"val/loss", score_.val_loss},
                     {"val/accuracy", score_.val_accuracy}};
    STOKER_TRY(Tell(std::move(event)));
    runlog::RunEvent rate;
    rate.kind = runlog::Kind::kThroughput;
    rate.unit = "photo";
    rate.per_s = per_s;
    STOKER_TRY(Tell(std::move(rate)));
    done_ = epoch;
    fmt::print(
        "epoch {}/{}  train/loss {:.4f}  val/loss {:.4f}  val/accuracy {:.4f}  {:.0f} photos/s\n",
        epoch, options_.epochs, score_.train_loss, score_.val_loss, score_.val_accuracy, per_s);
    std::fflush(stdout);
    return Ok();
  }

  Status Checkpoints(int epoch) {
    Phase("checkpoint", true);
    STOKER_TRY(Ask({0, 0, 0, options_.train.memory_bytes}));
    STOKER_TRY(Save("last", epoch));
    if (!best_ || score_.val_accuracy > *best_) {
      best_ = score_.val_accuracy;
      STOKER_TRY(Save("best", epoch));
    }
    if (options_.save_period > 0 && epoch % options_.save_period == 0) {
      STOKER_TRY(Save("periodic", epoch));
    }
    Phase("checkpoint", false);
    return Ok();
  }

  Status Save(const std::string& role, int epoch) {
    const std::string name = role == "periodic" ? fmt::format("epoch{}", epoch) : role;
    const std::string path = JoinPath(options_.out, name + ".safetensors");
    const uint64_t seed = options_.seed * 1'000'003 + static_cast<uint64_t>(epoch);
    STOKER_TRY(WriteWeights(path, options_.checkpoint_bytes, seed, epoch));
    runlog::RunEvent event;
    event.kind = runlog::Kind::kCheckpoint;
    event.path = path;
    event.role = role;
    event.epoch = epoch;
    return Tell(std::move(event));
  }

  // Replaced whole but not synced: a load needs to outlive nothing, and syncing would slow the
  // training.
  Status Ask(const Load& load) {
    const std::string partial = load_path_ + ".partial";
    STOKER_ASSIGN(const Fd fd, OpenFile(partial, O_WRONLY | O_CREAT | O_TRUNC));
    STOKER_TRY(WriteAll(fd, FormatLoad(::getpid(), load), partial));
    return RenameFile(partial, load_path_);
  }

  // Losing a phase or a note loses no result: the training goes on.
  void Phase(const std::string& phase, bool begins) {
    runlog::RunEvent event;
    event.kind = runlog::Kind::kPhase;
    event.phase = phase;
    event.phase_begins = begins;
    Ignore(Tell(std::move(event)));
  }
  void Note(const std::string& text) {
    runlog::RunEvent event;
    event.kind = runlog::Kind::kNote;
    event.text = text;
    Ignore(Tell(std::move(event)));
  }
  Status Tell(runlog::RunEvent event) { return log_ ? log_->Append(std::move(event)) : Ok(); }

  const Options& options_;
  const Curve curve_;
  const std::string load_path_;
  EndSignals& signals_;
  SystemClock clock_;
  std::unique_ptr<runlog::Writer> log_;
  EpochScore score_;
  std::optional<double> best_;
  int done_ = 0;
};

// Which file speaks for this process. Where the environment names none, the program starts itself
// again with one: /proc shows a process's first environment only, and that is where the box looks.
Result<std::string> LoadPath(const Options& options, char** argv) {
  const std::string named = Environment("STOKER_SIM_LOAD");
  const std::string dir = Environment("STOKER_SIM_DIR");
  const bool has_cards = std::getenv("CUDA_VISIBLE_DEVICES") != nullptr;
  if (has_cards && !named.empty()) return named;
  if (has_cards && !dir.empty()) {
    STOKER_TRY(MakeDirs(JoinPath(dir, "load")));
    return JoinPath(dir, fmt::format("load/{}.json", ::getpid()));
  }
  STOKER_ASSIGN(const std::string here, CurrentDir());
  if (!has_cards) ::setenv("CUDA_VISIBLE_DEVICES", options.gpus.c_str(), 1);
  if (named.empty()) {
    STOKER_TRY(MakeDirs(options.out));
    const std::string path = JoinPath(CleanPath(options.out, here), ".sim-load.json");
    ::setenv("STOKER_SIM_LOAD", path.c_str(), 1);
  }
  ::execv("/proc/self/exe", argv);
  return FromErrno(errno, "start again", "/proc/self/exe");
}

void Describe(CLI::App& app, Options& o) {
  app.add_option("--epochs", o.epochs, "epochs to run")->check(CLI::Range(0, 1'000'000));
  app.add_option("--epoch-seconds", o.epoch_seconds, "length of an epoch")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--startup-seconds", o.startup_seconds, "time before the first epoch")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--out", o.out, "folder for checkpoints");
  app.add_option("--checkpoint-bytes", o.checkpoint_bytes, "size of a checkpoint")
      ->check(CLI::Range(int64_t{16}, int64_t{1} << 40));
  app.add_option("--save-period", o.save_period, "also keep epochN.safetensors every N epochs")
      ->check(CLI::Range(0, 1'000'000));
  app.add_option("--curve", o.curve, "course of the accuracy")->check(CLI::IsMember(CurveNames()));
  app.add_option("--gpus", o.gpus, "cards, where CUDA_VISIBLE_DEVICES is not set");
  app.add_option("--samples", o.samples, "photos an epoch")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  app.add_option("--busy", o.train.busy_ratio, "busy share of the cards")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--power", o.train.power_ratio, "effort: 0 idle, 1 the most a card can draw")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--memory-bytes", o.train.memory_bytes, "memory on each card")
      ->check(CLI::Range(0.0, 1e14));
  app.add_option("--fail-at", o.fail_at, "end with --exit-code after this epoch");
  app.add_option("--exit-code", o.exit_code, "exit code for --fail-at")->check(CLI::Range(0, 255));
  app.add_option("--seed", o.seed, "another seed, other weights and wobble");
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "A trainer from outside only: loads simulated cards, writes a run log and checkpoints.");
  Describe(app, options);
  CLI11_PARSE(app, argc, argv);
  EndSignals signals;
  const auto load_path = LoadPath(options, argv);
  auto code =
      load_path ? Trainer(options, *load_path, signals).Run() : Result<int>(load_path.error());
  if (load_path) Ignore(RemoveFile(*load_path));
  if (!code) {
    fmt::print(stderr, "stoker-sim-trainer: {}\n", code.error().Line());
    return 1;
  }
  if (signals.caught()) signals.EndByIt();
  return *code;
}

}  // namespace
}  // namespace stoker::sim

int main(int argc, char** argv) { return stoker::sim::Main(argc, argv); }
