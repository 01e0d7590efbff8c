#include "train/classify.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/cuda.h>
#include <torch/utils.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "photo/folder.h"
#include "photo/loader.h"
#include "train/classify_task.h"
#include "train/loop.h"
#include "train/photo_source.h"
#include "train/progress_hook.h"
#include "train/run_log_hook.h"

namespace stoker::train {
namespace {

constexpr int kMaxRuns = 10'000;
constexpr double kEmaDecay = 0.999;
constexpr int kGpuLossEvery = 20;
constexpr size_t kShownSkips = 5;
constexpr const char* kArchitecture = "mobilenet_v3_small";

Status CheckRange(bool fits, const char* option, const char* range) {
  return fits ? Ok() : Status(Invalid(std::string("must be ") + range, option));
}

Status CheckOptions(const ClassifyOptions& options) {
  STOKER_TRY(
      CheckRange(options.epochs >= 1 && options.epochs <= 100'000, "--epochs", "1 to 100000"));
  STOKER_TRY(CheckRange(options.size >= 32 && options.size <= 1024, "--size", "32 to 1024"));
  STOKER_TRY(CheckRange(options.batch >= 2 && options.batch <= 65'536, "--batch", "2 to 65536"));
  STOKER_TRY(CheckRange(options.rate > 0 && options.rate < 100, "--lr", "above 0"));
  STOKER_TRY(CheckRange(options.threads >= 1 && options.threads <= 1024, "--threads", "1 to 1024"));
  return CheckRange(options.label_smoothing >= 0 && options.label_smoothing < 1,
                    "--label-smoothing", "0 to 1");
}

bool HoldsRun(const std::string& out) {
  return FileExists(JoinPath(out, "last.optimizer.safetensors")) ||
         FileExists(JoinPath(out, "best.safetensors"));
}

Result<at::Device> ChooseDevice(const std::string& said) {
  const bool cuda = torch::cuda::is_available();
  if (said == "auto") return at::Device(cuda ? at::kCUDA : at::kCPU);
  if (said == "cpu") return at::Device(at::kCPU);
  if (!said.starts_with("cuda")) return Invalid("must be auto, cpu, cuda or cuda:N", "--device");
  if (!cuda) return Unsupported("this machine's LibTorch sees no CUDA card", "--device", "use cpu");
  if (said == "cuda") return at::Device(at::kCUDA);
  const auto index = ParseInt(std::string_view(said).substr(std::min<size_t>(said.size(), 5)));
  if (said[4] != ':' || !index || *index < 0 ||
      *index >= static_cast<int64_t>(torch::cuda::device_count())) {
    return Invalid(fmt::format("there are {} cards", torch::cuda::device_count()), "--device");
  }
  return at::Device(at::kCUDA, static_cast<at::DeviceIndex>(*index));
}

// What the files say and what a resumed run must agree with.
std::map<std::string, std::string> About(const ClassifyOptions& options,
                                         const photo::Folder& folder) {
  const auto number = [](auto value) { return fmt::format("{}", value); };
  return {{"format", "pt"},  // what Python's tools look for: parameters as PyTorch names them
          {"stoker", "weights 1"},
          {"architecture", kArchitecture},
          {"classes", DumpJson(Json(folder.classes))},
          {"size", number(options.size)},
          {"mean", DumpJson(Json(kPhotoMean))},
          {"deviation", DumpJson(Json(kPhotoDeviation))},
          {"epochs", number(options.epochs)},
          {"batch", number(options.batch)},
          {"lr", number(options.rate)},
          {"weight_decay", number(options.weight_decay)},
          {"label_smoothing", number(options.label_smoothing)},
          {"seed", number(options.seed)},
          {"ema", options.ema ? "yes" : "no"},
          {"train_photos", number(folder.train.size())}};
}

std::string PlanJson(const ClassifyOptions& options, const photo::Folder& folder,
                     int64_t parameters, const at::Device& device) {
  return DumpJson(Json{{"unit", "photo"},
                       {"task", "classify"},
                       {"model", kArchitecture},
                       {"parameters", parameters},
                       {"data", folder.root},
                       {"classes", folder.classes},
                       {"train_photos", folder.train.size()},
                       {"val_photos", folder.val.size()},
                       {"size", options.size},
                       {"batch", options.batch},
                       {"lr", options.rate},
                       {"weight_decay", options.weight_decay},
                       {"label_smoothing", options.label_smoothing},
                       {"seed", options.seed},
                       {"threads", options.threads},
                       {"device", device.str()}});
}

photo::LoaderOptions LoaderOptions(const ClassifyOptions& options, bool train, size_t cache_bytes) {
  return {.size = options.size,
          .batch = train ? options.batch : std::max(options.batch, 64),
          .train = train,
          .seed = options.seed,
          .threads = std::max(1, options.loader_threads),
          .cache_bytes = cache_bytes};
}

LoopOptions MakeLoopOptions(const ClassifyOptions& options, const photo::Folder& folder,
                            const at::Device& device) {
  LoopOptions loop;
  loop.out = options.out;
  loop.epochs = options.epochs;
  loop.schedule.peak = options.rate;
  loop.warmup_epochs = std::min(3.0, options.epochs * 0.1);
  loop.sgd.weight_decay = options.weight_decay;
  if (options.ema) loop.ema_decay = kEmaDecay;
  loop.seed = options.seed;
  loop.bf16 = device.is_cuda();
  loop.loss_every = device.is_cuda() ? kGpuLossEvery : 1;
  loop.about = About(options, folder);
  return loop;
}

// One run with all its parts, in the order in which they need each other.
class ClassifyRun {
 public:
  // `log` may be null.
  ClassifyRun(const ClassifyOptions& options, const ClassifyServices& services, RunLogHook* log,
              const photo::Folder& folder, const at::Device& device)
      : options_(options),
        services_(services),
        log_(log),
        folder_(folder),
        device_(device),
        train_loader_(folder.train, LoaderOptions(options, true, options.cache_bytes * 4 / 5)),
        val_loader_(folder.val, LoaderOptions(options, false, options.cache_bytes / 5)),
        train_(train_loader_, options.size, device),
        val_(val_loader_, options.size, device),
        task_(SeededModel(options.seed, folder.classes.size()), device, options.label_smoothing),
        progress_(services.write, services.terminal, services.clock) {
    report_.classes = static_cast<int>(folder.classes.size());
    report_.parameters = CountParameters(task_.module());
  }

  Result<ClassifyReport> Run() {
    Greet();
    std::vector<Hook*> hooks = {&progress_};
    if (log_) {
      log_->set_plan(PlanJson(options_, folder_, report_.parameters, device_));
      hooks.push_back(log_);
    }
    if (services_.extra) hooks.push_back(services_.extra);
    Loop loop(task_, train_, val_, MakeLoopOptions(options_, folder_, device_), services_.clock,
              services_.signal, hooks);
    if (options_.resume) STOKER_TRY(Resume(loop));
    STOKER_ASSIGN(const LoopReport done, loop.Run());
    report_.epochs = done.epochs;
    report_.best_epoch = done.best_epoch;
    report_.best_accuracy = done.best;
    report_.stopped = done.stopped;
    report_.photos_per_s = done.photos_per_s;
    report_.wall = done.wall;
    report_.best_path = loop.best_path();
    TellSkipped(hooks);
    if (!done.stopped && done.best_epoch > 0) STOKER_TRY(Test(loop, hooks));
    return report_;
  }

 private:
  // The first weights come from the seed alone.
  static MobileNetV3Small SeededModel(uint64_t seed, size_t classes) {
    torch::manual_seed(seed);
    return MobileNetV3Small(static_cast<int64_t>(classes));
  }

  void Greet() {
    services_.write(fmt::format(
        "{}: {} photos of {} classes to learn from, {} to judge{}\n", Printable(folder_.name),
        folder_.train.size(), folder_.classes.size(), folder_.val.size(),
        folder_.val_was_cut ? " (every fifth of the training photos: there is no val folder)"
                            : ""));
    for (const std::string& note : folder_.notes) services_.write(Printable(note) + "\n");
    services_.write(fmt::format(
        "MobileNetV3-Small, {} weights, {} x {} pixels, on {} with {}; into {}\n",
        FormatCount(static_cast<double>(report_.parameters)), options_.size, options_.size,
        device_.str(),
        options_.threads == 1 ? "1 thread" : fmt::format("{} threads", options_.threads),
        Printable(options_.out)));
  }

  // A job that is started again says --resume each time: where nothing was saved yet, it begins.
  Status Resume(Loop& loop) {
    auto resumed = loop.Resume();
    if (resumed || resumed.error().code != Code::kNotFound) return resumed;
    services_.write("nothing was saved yet: beginning at the first epoch\n");
    return Ok();
  }

  void TellSkipped(const std::vector<Hook*>& hooks) {
    auto skipped = train_loader_.skipped();
    for (auto& photo : val_loader_.skipped()) skipped.push_back(std::move(photo));
    report_.skipped = static_cast<int64_t>(skipped.size());
    if (skipped.empty()) return;
    std::string text = fmt::format("{} photos do not decode and were left out:", skipped.size());
    for (size_t i = 0; i < skipped.size() && i < kShownSkips; ++i) {
      text += fmt::format("{} {} ({})", i > 0 ? "," : "", Printable(skipped[i].path),
                          skipped[i].reason);
    }
    if (skipped.size() > kShownSkips) text += ", ... (stoker photos verify names all)";
    for (Hook* hook : hooks) hook->OnNote(text);
  }

  // The best weights on photos that chose nothing.
  Status Test(Loop& loop, const std::vector<Hook*>& hooks) {
    if (folder_.test.empty()) return Ok();
    STOKER_TRY(loop.LoadBest());
    photo::Loader loader(folder_.test, LoaderOptions(options_, false, 0));
    PhotoSource source(loader, options_.size, device_);
    const at::NoGradGuard no_grad;
    task_.module().eval();
    source.Start(0, 0);
    while (auto batch = source.Next()) {
      if (batch->photos > 0) task_.Judge(*batch);
    }
    const auto metrics = task_.TakeMetrics("test");
    report_.test_accuracy = metrics.at("test/accuracy");
    for (Hook* hook : hooks) hook->OnTest(report_.best_epoch, metrics);
    return Ok();
  }

  const ClassifyOptions& options_;
  const ClassifyServices& services_;
  RunLogHook* const log_;
  const photo::Folder& folder_;
  const at::Device device_;
  photo::Loader train_loader_;
  photo::Loader val_loader_;
  PhotoSource train_;
  PhotoSource val_;
  ClassifyTask task_;
  ProgressHook progress_;
  ClassifyReport report_;
};

Result<ClassifyReport> ClassifyChecked(const ClassifyOptions& options,
                                       const ClassifyServices& services) {
  STOKER_TRY(CheckOptions(options));
  std::unique_ptr<RunLogHook> log;
  if (services.run_log) {
    log = std::make_unique<RunLogHook>(
        *services.run_log, services.clock,
        [&](std::string_view text) { services.write(std::string(text) + "\n"); });
  }
  STOKER_ASSIGN(const photo::Folder folder, photo::OpenFolder(options.data));
  STOKER_ASSIGN(const at::Device device, ChooseDevice(options.device));
  if (HoldsRun(options.out) && !options.resume && !options.overwrite) {
    return Invalid("holds a run already", options.out,
                   "add --resume to go on with it, --overwrite to begin anew, or another --out");
  }
  STOKER_TRY(MakeDirs(options.out));
  STOKER_ASSIGN(const FileLock lock, FileLock::Take(JoinPath(options.out, ".lock")));
  at::set_num_threads(options.threads);
  ClassifyRun run(options, services, log.get(), folder, device);
  return run.Run();
}

}  // namespace

std::string DefaultOut(const std::string& cwd, const std::string& data, bool resume) {
  const std::string base =
      JoinPath(JoinPath(cwd, "runs"), "classify-" + BaseName(CleanPath(data, cwd)));
  std::string last = base;
  for (int i = 2; i < kMaxRuns; ++i) {
    const std::string next = i == 2 ? base : fmt::format("{}-{}", base, i - 1);
    if (!HoldsRun(next)) return resume ? last : next;
    last = next;
  }
  return last;
}

Result<ClassifyReport> Classify(const ClassifyOptions& options, const ClassifyServices& services) {
  try {
    return ClassifyChecked(options, services);
  } catch (const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    return Internal("LibTorch: " + Ellipsize(text.substr(0, text.find('\n')), 300), options.data);
  } catch (const std::exception& error) {
    return Internal(Ellipsize(error.what(), 300), options.data);
  }
}

}  // namespace stoker::train
