#include "train/run_log_hook.h"

#include <algorithm>
#include <utility>

namespace stoker::train {
namespace {

// Step lines are for following a long epoch, not for every step.
constexpr Millis kStepLineEvery{5'000};
constexpr const char* kUnit = "photo";
constexpr std::string_view kStartup = "startup";

}  // namespace

RunLogHook::RunLogHook(runlog::Writer& writer, const Clock& clock,
                       std::function<void(std::string_view)> warn)
    : writer_(writer), clock_(clock), warn_(std::move(warn)), last_step_line_(clock.Mono()) {
  OnPhase(kStartup, true, 0);
}

void RunLogHook::Append(runlog::RunEvent event) {
  auto written = writer_.Append(std::move(event));
  if (written || warned_) return;
  warned_ = true;
  warn_("the run log is not written: " + written.error().Line());
}

void RunLogHook::OnStart(const RunInfo& info) {
  run_ = info;
  runlog::RunEvent plan;
  plan.kind = runlog::Kind::kPlan;
  plan.plan_json = plan_json_;
  plan.epochs_planned = info.epochs;
  plan.best_metric = info.judge;
  plan.best_higher = info.higher_is_better;
  Append(std::move(plan));
  OnPhase(kStartup, false, 0);
}

void RunLogHook::OnPhase(std::string_view phase, bool begins, int epoch) {
  runlog::RunEvent event;
  event.kind = runlog::Kind::kPhase;
  event.phase = phase;
  event.phase_begins = begins;
  if (epoch > 0) event.epoch = epoch;
  Append(std::move(event));
}

void RunLogHook::OnStep(const StepInfo& info) {
  const MonoTime now = clock_.Mono();
  if (now - last_step_line_ < kStepLineEvery) return;
  last_step_line_ = now;
  runlog::RunEvent event;
  event.kind = runlog::Kind::kStep;
  event.step = info.step;
  event.epoch = info.epoch - 1 +
                static_cast<double>(info.step_of_epoch) /
                    static_cast<double>(std::max<int64_t>(1, run_.steps_per_epoch));
  event.metrics = {{"train/loss", info.loss}, {"lr", info.rate}};
  Append(std::move(event));
}

void RunLogHook::OnEpoch(const EpochInfo& info) {
  runlog::RunEvent rate;
  rate.kind = runlog::Kind::kThroughput;
  rate.unit = kUnit;
  rate.per_s = info.photos_per_s;
  rate.epoch = info.epoch;
  Append(std::move(rate));
  runlog::RunEvent wait;
  wait.kind = runlog::Kind::kWait;
  wait.wait_s = {{"input", info.waited.count()}};
  wait.epoch = info.epoch;
  Append(std::move(wait));
  runlog::RunEvent epoch;
  epoch.kind = runlog::Kind::kEpoch;
  epoch.epoch = info.epoch;
  epoch.step = info.step;
  epoch.metrics = info.metrics;
  Append(std::move(epoch));
}

void RunLogHook::OnCheckpoint(const std::string& path, std::string_view role, double epoch) {
  runlog::RunEvent event;
  event.kind = runlog::Kind::kCheckpoint;
  event.path = path;
  event.role = role;
  event.epoch = epoch;
  Append(std::move(event));
}

void RunLogHook::OnTest(int best_epoch, const std::map<std::string, double>& metrics) {
  runlog::RunEvent event;
  event.kind = runlog::Kind::kEpoch;
  event.epoch = best_epoch;
  event.metrics = metrics;
  Append(std::move(event));
}

void RunLogHook::OnNote(const std::string& text) {
  runlog::RunEvent event;
  event.kind = runlog::Kind::kNote;
  event.text = text;
  Append(std::move(event));
}

}  // namespace stoker::train
