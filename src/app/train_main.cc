// The program `stoker-train`: reads the environment and the arguments, and trains.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "base/fd.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "runlog/writer.h"
#include "train/classify.h"

namespace stoker::app {
namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;
constexpr int kNotFound = 3;
constexpr int kMostDefaultThreads = 8;  // more do not help a model this small

std::atomic<int> caught = 0;

// The first signal asks to save and end; the second one ends at once.
void OnSignal(int signal) {
  if (caught.exchange(signal) != 0) ::_exit(128 + signal);
}

void CatchSignals() {
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

// The OpenMP library reads its environment before main() begins, so what it must know is set by
// starting this program once more. Threads that wait shall sleep: where two of them share a busy
// core, spinning makes training ten times slower.
void SetThreadEnvironment(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  ::setenv("OMP_WAIT_POLICY", "PASSIVE", 1);
  ::setenv("OPENBLAS_NUM_THREADS", "1", 0);
  ::execv("/proc/self/exe", argv);
  // Where that cannot be, training is slower on a busy machine, and as right as ever.
}

int Cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

void Write(int fd, std::string_view text) {
  Fd out(fd);
  Ignore(WriteAll(out, text, "output"));  // a reader that went away is no error of ours
  out.Release();
}

int Fail(const Error& error) {
  Write(STDERR_FILENO, "stoker-train: " + error.Line() + "\n");
  return error.code == Code::kNotFound ? kNotFound : kFailed;
}

struct Arguments {
  train::ClassifyOptions classify;
  bool json = false;
  double cache_mb = 1024;
};

void Declare(CLI::App& app, Arguments& arguments) {
  train::ClassifyOptions& options = arguments.classify;
  app.name("stoker-train");
  app.description("Trains models on this machine; inside a Stoker job it keeps the run log.");
  app.require_subcommand(1);
  app.add_flag("--json", arguments.json, "print the result as one JSON object");
  CLI::App* classify =
      app.add_subcommand("classify", "a classifier from folders of labelled photos");
  classify
      ->add_option("--data", options.data, "DIR/{train,val,test}/CLASS/*.jpg, or DIR/CLASS/*.jpg")
      ->required();
  classify->add_option("--out", options.out, "where weights go (runs/classify-NAME)");
  classify->add_option("--epochs", options.epochs, "rounds over the photos")->capture_default_str();
  classify->add_option("--size", options.size, "pixels square")->capture_default_str();
  classify->add_option("--batch", options.batch, "photos a step")->capture_default_str();
  classify->add_option("--lr", options.rate, "learning rate at its peak")->capture_default_str();
  classify->add_option("--weight-decay", options.weight_decay)->capture_default_str();
  classify->add_option("--label-smoothing", options.label_smoothing)->capture_default_str();
  classify->add_option("--seed", options.seed, "the same seed, the same run")
      ->capture_default_str();
  classify->add_option("--threads", options.threads, "that compute")->capture_default_str();
  classify->add_option("--loader-threads", options.loader_threads, "that decode photos")
      ->capture_default_str();
  classify->add_option("--cache-mb", arguments.cache_mb, "memory for decoded photos")
      ->check(CLI::Range(0.0, 1e7))
      ->capture_default_str();
  classify->add_flag("--ema", options.ema, "judge and keep a moving average of the weights");
  auto* resume = classify->add_flag("--resume", options.resume, "go on with the run in --out");
  classify->add_flag("--overwrite", options.overwrite, "begin anew where --out holds a run")
      ->excludes(resume);
  classify->add_option("--device", options.device, "auto, cpu, cuda or cuda:N")
      ->capture_default_str();
  classify->add_flag("--json", arguments.json);
}

void PrintResult(const train::ClassifyReport& report, bool json) {
  if (json) {
    Json object = {{"schema_version", 1},
                   {"epochs", report.epochs},
                   {"classes", report.classes},
                   {"parameters", report.parameters},
                   {"skipped_photos", report.skipped},
                   {"stopped", report.stopped},
                   {"photos_per_s", report.photos_per_s},
                   {"wall_s", report.wall.count()},
                   {"best",
                    {{"metric", "val/accuracy"},
                     {"value", report.best_accuracy},
                     {"epoch", report.best_epoch},
                     {"path", report.best_path}}}};
    if (report.test_accuracy) object["test_accuracy"] = *report.test_accuracy;
    Write(STDOUT_FILENO, DumpJson(object) + "\n");
    return;
  }
  if (report.best_epoch == 0) return;
  std::string text =
      fmt::format("best: epoch {}, val accuracy {:.1f} % (chance is {:.1f} %)", report.best_epoch,
                  report.best_accuracy * 100, 100.0 / report.classes);
  if (report.test_accuracy) {
    text += fmt::format(", test accuracy {:.1f} %", *report.test_accuracy * 100);
  }
  text += fmt::format("; {} at {:.0f} photos/s\n{}\n", FormatDuration(report.wall),
                      report.photos_per_s, report.best_path);
  Write(STDOUT_FILENO, text);
}

Result<std::unique_ptr<runlog::Writer>> OpenRunLog(const Clock& clock) {
  const char* path = std::getenv("STOKER_RUN_LOG");
  if (path == nullptr || *path == '\0') return nullptr;
  return runlog::Writer::Open(path, clock);
}

int Train(Arguments& arguments) {
  const SystemClock clock;
  const auto cwd = CurrentDir();
  if (!cwd) return Fail(cwd.error());
  train::ClassifyOptions& options = arguments.classify;
  options.cache_bytes = static_cast<size_t>(arguments.cache_mb * 1e6);
  if (options.out.empty()) {
    options.out = train::DefaultOut(*cwd, options.data, options.resume);
  } else {
    options.out = CleanPath(options.out, *cwd);
  }
  auto log = OpenRunLog(clock);
  if (!log) Write(STDERR_FILENO, "stoker-train: no run log: " + log.error().Line() + "\n");
  const train::ClassifyServices services{
      .clock = clock,
      .signal = caught,
      .write = [](std::string_view text) { Write(STDERR_FILENO, text); },
      .terminal = ::isatty(STDERR_FILENO) == 1,
      .run_log = log ? log->get() : nullptr,
  };
  const auto report = train::Classify(options, services);
  if (!report) return Fail(report.error());
  PrintResult(*report, arguments.json);
  if (!report->stopped) return 0;
  Write(STDERR_FILENO, fmt::format("stoker-train: stopped and saved; go on with: stoker-train "
                                   "classify --data {} --out {} --resume\n",
                                   Printable(options.data), Printable(options.out)));
  return 128 + caught.load();
}

int Main(int argc, char** argv) {
  Arguments arguments;
  arguments.classify.threads = std::min(Cores(), kMostDefaultThreads);
  arguments.classify.loader_threads = std::max(1, Cores() / 2);
  CLI::App app;
  Declare(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    Write(STDOUT_FILENO, (chosen.empty() ? &app : chosen.front())->help());
    return 0;
  } catch (const CLI::ParseError& error) {
    Write(STDERR_FILENO, fmt::format("stoker-train: {} (see stoker-train classify --help)\n",
                                     Printable(error.what())));
    return kWrongUsage;
  }
  CatchSignals();
  return Train(arguments);
}

}  // namespace
}  // namespace stoker::app

int main(int argc, char** argv) {
  stoker::app::SetThreadEnvironment(argv);
  return stoker::app::Main(argc, argv);
}
