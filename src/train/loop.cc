#include "train/loop.h"

#include <fmt/format.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "train/tensors.h"
#include "train/torch_compat.h"

namespace stoker::train {
namespace {

constexpr std::string_view kModelPrefix = "model.";
constexpr std::string_view kVelocityPrefix = "velocity.";
constexpr std::string_view kAveragePrefix = "average.";
constexpr const char* kLossSum = "progress.loss_sum";

// A stream of its own for every step, so that a resumed run draws what the first would have drawn.
uint64_t StepSeed(uint64_t seed, int64_t step) {
  uint64_t z = seed * 0x9e3779b97f4a7c15 + static_cast<uint64_t>(step) + 1;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

NamedTensors Parameters(const torch::nn::Module& module) {
  NamedTensors named;
  for (const auto& item : module.named_parameters()) named.emplace_back(item.key(), item.value());
  return named;
}

NamedTensors ParametersAndBuffers(const torch::nn::Module& module) {
  NamedTensors named = Parameters(module);
  for (const auto& item : module.named_buffers()) named.emplace_back(item.key(), item.value());
  return named;
}

void AddPrefixed(const NamedTensors& from, std::string_view prefix, NamedTensors& to) {
  for (const auto& [name, tensor] : from) to.emplace_back(std::string(prefix) + name, tensor);
}

NamedTensors OnlyPrefixed(const NamedTensors& from, std::string_view prefix) {
  NamedTensors only;
  for (const auto& entry : from) {
    if (entry.first.starts_with(prefix)) only.push_back(entry);
  }
  return only;
}

}  // namespace

// Where the run stands; all of it is in the state file.
struct Loop::Progress {
  int epoch = 0;       // finished
  int64_t batch = 0;   // finished in the epoch in progress
  int64_t step = 0;    // finished over the run
  int64_t photos = 0;  // behind loss_sum_
  int best_epoch = 0;  // of those whose file is on disk
  double best = 0;
  int64_t averaged = 0;  // updates of the moving average

  std::string ToJson() const {
    return DumpJson(Json{{"epoch", epoch},
                         {"batch", batch},
                         {"step", step},
                         {"photos", photos},
                         {"best_epoch", best_epoch},
                         {"best", best},
                         {"averaged", averaged}});
  }
  static Result<Progress> FromJson(const std::string& text, const std::string& where) {
    STOKER_ASSIGN(const Json json, ParseJson(text, where));
    const auto number = [&](const char* key) { return JsonInt(json, key).value_or(-1); };
    Progress progress{.epoch = static_cast<int>(number("epoch")),
                      .batch = number("batch"),
                      .step = number("step"),
                      .photos = number("photos"),
                      .best_epoch = static_cast<int>(number("best_epoch")),
                      .best = JsonNumber(json, "best").value_or(0),
                      .averaged = JsonInt(json, "averaged").value_or(0)};
    if (progress.epoch < 0 || progress.batch < 0 || progress.step < 0 || progress.photos < 0 ||
        progress.best_epoch < 0) {
      return Corrupt("it does not say where the run stood", where);
    }
    return progress;
  }
};

Loop::Loop(Task& task, BatchSource& train, BatchSource& val, LoopOptions options,
           const Clock& clock, const std::atomic<int>& signal, std::vector<Hook*> hooks)
    : task_(task),
      train_(train),
      val_(val),
      options_(std::move(options)),
      clock_(clock),
      signal_(signal),
      hooks_(std::move(hooks)),
      weights_(ParametersAndBuffers(task.module())),
      sgd_(std::make_unique<Sgd>(Parameters(task.module()), options_.sgd)),
      progress_(std::make_unique<Progress>()) {
  if (options_.ema_decay) ema_ = std::make_unique<Ema>(weights_, *options_.ema_decay);
  options_.schedule.steps = train_.batches() * options_.epochs;
  const double warmup = options_.warmup_epochs * static_cast<double>(train_.batches());
  options_.schedule.warmup_steps =
      std::min(options_.schedule.steps / 2, static_cast<int64_t>(std::lround(warmup)));
  loss_sum_ = at::zeros({}, weights_.front().second.options().dtype(at::kDouble));
}

Loop::~Loop() = default;

std::string Loop::last_path() const { return JoinPath(options_.out, "last.safetensors"); }
std::string Loop::best_path() const { return JoinPath(options_.out, "best.safetensors"); }
std::string Loop::state_path() const {
  return JoinPath(options_.out, "last.optimizer.safetensors");
}

double Loop::EpochNow() const {
  const auto batches = static_cast<double>(std::max<int64_t>(1, train_.batches()));
  return progress_->epoch + static_cast<double>(progress_->batch) / batches;
}

bool Loop::Better(double value) const {
  if (std::isnan(value)) return false;
  if (progress_->best_epoch == 0) return true;
  return options_.higher_is_better ? value > progress_->best : value < progress_->best;
}

void Loop::Phase(std::string_view phase, bool begins) {
  // A checkpoint belongs to the epoch that is finished, the rest to the one in progress.
  const int epoch = progress_->epoch + (phase == "checkpoint" ? 0 : 1);
  for (Hook* hook : hooks_) hook->OnPhase(phase, begins, epoch);
}

Status Loop::Resume() {
  const std::string path = state_path();
  STOKER_ASSIGN(TensorFile file, LoadTensors(path));
  for (const auto& [key, value] : options_.about) {
    const auto found = file.metadata.find(key);
    if (found == file.metadata.end() || found->second != value) {
      return Invalid("made with another " + key, path,
                     "resume with the same data and options, or choose another --out");
    }
  }
  STOKER_ASSIGN(Progress progress, Progress::FromJson(file.metadata["progress"], path));
  const at::NoGradGuard no_grad;
  STOKER_TRY(CopyTensors(file.tensors, std::string(kModelPrefix), weights_, path));
  STOKER_TRY(CopyTensors(file.tensors, std::string(kVelocityPrefix), sgd_->state(), path));
  if (ema_) {
    STOKER_TRY(CopyTensors(file.tensors, std::string(kAveragePrefix), ema_->state(), path));
    ema_->set_updates(progress.averaged);
  }
  STOKER_TRY(CopyTensors(OnlyPrefixed(file.tensors, kLossSum), "", {{kLossSum, loss_sum_}}, path));
  *progress_ = progress;
  return Ok();
}

Status Loop::LoadBest() {
  STOKER_ASSIGN(const TensorFile file, LoadTensors(best_path()));
  const at::NoGradGuard no_grad;
  return CopyTensors(file.tensors, "", weights_, best_path());
}

void Loop::TrainStep(const Batch& batch, Seconds waited, MonoTime began) {
  const double rate = LearningRate(options_.schedule, progress_->step);
  if (batch.photos >= 2) {  // a norm cannot learn from one photo
    torch::manual_seed(StepSeed(options_.seed, progress_->step));
    sgd_->ZeroGrad();
    at::Tensor loss;
    {
      const Autocast autocast(options_.bf16);
      loss = task_.Loss(batch);
    }
    loss.backward();
    sgd_->Step(rate);
    if (ema_) ema_->Update();
    loss_sum_.add_(loss.detach().to(at::kDouble), static_cast<double>(batch.photos));
    progress_->photos += batch.photos;
  }
  ++progress_->step;
  ++progress_->batch;
  if (progress_->step % options_.loss_every == 0 && progress_->photos > 0) {
    seen_loss_ = Scalar(loss_sum_) / static_cast<double>(progress_->photos);
  }
  const Seconds wall = clock_.Mono() - began;
  rate_.Add(static_cast<double>(batch.photos), wall);
  epoch_rate_.Add(static_cast<double>(batch.photos), wall);
  epoch_waited_ += waited;
  const StepInfo info{.epoch = progress_->epoch + 1,
                      .step = progress_->step,
                      .step_of_epoch = progress_->batch,
                      .photos = batch.photos,
                      .loss = seen_loss_,
                      .rate = rate,
                      .wall = wall,
                      .waited = waited};
  for (Hook* hook : hooks_) hook->OnStep(info);
}

Loop::Outcome Loop::TrainEpoch() {
  Phase("train", true);
  task_.module().train();
  train_.Start(progress_->epoch, progress_->batch);
  epoch_rate_ = {};
  epoch_waited_ = {};
  while (!signal_) {
    const MonoTime began = clock_.Mono();
    auto batch = train_.Next();
    if (!batch) break;
    const Seconds waited = clock_.Mono() - began;
    TrainStep(*batch, waited, began);
  }
  Phase("train", false);
  return progress_->batch < train_.batches() ? Outcome::kStopped : Outcome::kDone;
}

std::map<std::string, double> Loop::Validate() {
  const at::NoGradGuard no_grad;
  task_.module().eval();
  const Ema::Borrow average(ema_.get());
  val_.Start(0, 0);
  while (auto batch = val_.Next()) {
    if (batch->photos > 0) task_.Judge(*batch);
  }
  return task_.TakeMetrics("val");
}

void Loop::FinishEpoch() {
  Phase("validate", true);
  metrics_ = Validate();
  Phase("validate", false);
  const auto photos = static_cast<double>(std::max<int64_t>(1, progress_->photos));
  metrics_["train/loss"] = Scalar(loss_sum_) / photos;
  metrics_["lr"] = LearningRate(options_.schedule, std::max<int64_t>(0, progress_->step - 1));
  ++progress_->epoch;
  progress_->batch = 0;
  progress_->photos = 0;
  loss_sum_.zero_();
  seen_loss_ = 0;
  const auto judged = metrics_.find(options_.judge);
  const bool best = judged != metrics_.end() && Better(judged->second);
  const Progress before = *progress_;
  if (best) {
    progress_->best = judged->second;
    progress_->best_epoch = progress_->epoch;
  }
  const EpochInfo info{.epoch = progress_->epoch,
                       .step = progress_->step,
                       .metrics = metrics_,
                       .photos_per_s = epoch_rate_.per_s(),
                       .waited = epoch_waited_,
                       .best = best};
  for (Hook* hook : hooks_) hook->OnEpoch(info);
  saved_ = Save(best);
  if (saved_) return;
  // The best is the best that is on disk.
  progress_->best = before.best;
  progress_->best_epoch = before.best_epoch;
  for (Hook* hook : hooks_) hook->OnNote("not saved: " + saved_.error().Line());
}

Status Loop::SaveState() {
  NamedTensors tensors;
  AddPrefixed(weights_, kModelPrefix, tensors);
  AddPrefixed(sgd_->state(), kVelocityPrefix, tensors);
  if (ema_) AddPrefixed(ema_->state(), kAveragePrefix, tensors);
  tensors.emplace_back(kLossSum, loss_sum_);
  auto about = options_.about;
  if (ema_) progress_->averaged = ema_->updates();
  about["progress"] = progress_->ToJson();
  return SaveTensors(state_path(), tensors, about);
}

Status Loop::Save(bool best) {
  auto about = options_.about;
  about["epoch"] = fmt::format("{}", EpochNow());
  const auto judged = metrics_.find(options_.judge);
  if (judged != metrics_.end()) about[options_.judge] = fmt::format("{}", judged->second);
  Phase("checkpoint", true);
  const auto write = [&](const std::string& path, std::string_view role) -> Status {
    const Ema::Borrow average(ema_.get());
    STOKER_TRY(SaveTensors(path, weights_, about));
    for (Hook* hook : hooks_) hook->OnCheckpoint(path, role, EpochNow());
    return Ok();
  };
  // The best first: the state file says which epoch was best, so it must not be ahead of the file.
  Status saved = best ? write(best_path(), "best") : Ok();
  if (saved) saved = SaveState();
  if (saved) saved = write(last_path(), "last");
  Phase("checkpoint", false);
  return saved;
}

Result<LoopReport> Loop::Run() {
  const MonoTime began = clock_.Mono();
  const RunInfo info{.epochs = options_.epochs,
                     .first_epoch = progress_->epoch,
                     .steps_per_epoch = train_.batches(),
                     .photos_per_epoch = train_.photos(),
                     .judge = options_.judge,
                     .higher_is_better = options_.higher_is_better};
  for (Hook* hook : hooks_) hook->OnStart(info);
  bool stopped = false;
  while (progress_->epoch < options_.epochs && !stopped) {
    stopped = TrainEpoch() == Outcome::kStopped;
    if (!stopped) FinishEpoch();
    if (signal_ && progress_->epoch < options_.epochs) stopped = true;
  }
  for (Hook* hook : hooks_) hook->OnEnd();
  LoopReport report{.epochs = progress_->epoch,
                    .best_epoch = progress_->best_epoch,
                    .best = progress_->best,
                    .metrics = metrics_,
                    .stopped = stopped,
                    .photos_per_s = rate_.per_s(),
                    .wall = clock_.Mono() - began};
  // In the middle of an epoch only the state file is written anew: nobody judged these weights.
  if (stopped && progress_->batch > 0) STOKER_TRY(SaveState());
  STOKER_TRY(saved_);
  return report;
}

}  // namespace stoker::train
