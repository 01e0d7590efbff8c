#include "train/progress_hook.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace stoker::train {
namespace {

constexpr Millis kBarEvery{250};
constexpr int kBarCells = 24;

// "val/accuracy" 0.4567 -> "val accuracy 45.7 %".
std::string Shown(const std::string& name, double value) {
  std::string words = name;
  std::replace(words.begin(), words.end(), '/', ' ');
  if (name.ends_with("accuracy")) return fmt::format("{} {:.1f} %", words, value * 100);
  return fmt::format("{} {:.3f}", words, value);
}

}  // namespace

ProgressHook::ProgressHook(Write write, bool terminal, const Clock& clock)
    : write_(std::move(write)), terminal_(terminal), clock_(clock) {}

void ProgressHook::OnStart(const RunInfo& info) {
  run_ = info;
  began_ = last_bar_ = clock_.Mono();
  steps_left_ = (info.epochs - info.first_epoch) * info.steps_per_epoch;
}

void ProgressHook::OnPhase(std::string_view phase, bool begins, int epoch) {
  if (begins && phase == "validate") Bar(fmt::format("epoch {}/{}  validate", epoch, run_.epochs));
}

std::string ProgressHook::TimeLeft() const {
  if (steps_done_ == 0) return "";
  const Seconds spent = clock_.Mono() - began_;
  const Seconds left = spent / static_cast<double>(steps_done_) *
                       static_cast<double>(std::max<int64_t>(0, steps_left_));
  return FormatDuration(left);
}

void ProgressHook::OnStep(const StepInfo& info) {
  ++steps_done_;
  --steps_left_;
  photos_ += info.photos;
  const MonoTime now = clock_.Mono();
  if (!terminal_ || now - last_bar_ < kBarEvery) return;
  const Seconds since = now - last_bar_;
  const auto steps = std::max<int64_t>(1, run_.steps_per_epoch);
  const auto cells = static_cast<size_t>(info.step_of_epoch * kBarCells / steps);
  Bar(fmt::format("epoch {}/{}  [{:<{}}]  {:.0f} photos/s  loss {:.3f}  {} left", info.epoch,
                  run_.epochs, std::string(cells, '='), kBarCells,
                  static_cast<double>(photos_) / since.count(), info.loss, TimeLeft()));
  last_bar_ = now;
  photos_ = 0;
}

void ProgressHook::OnEpoch(const EpochInfo& info) {
  std::string text = fmt::format("epoch {}/{}", info.epoch, run_.epochs);
  for (const char* name : {"train/loss", "val/loss"}) {
    if (info.metrics.contains(name)) text += "  " + Shown(name, info.metrics.at(name));
  }
  if (info.metrics.contains(run_.judge)) {
    text += "  " + Shown(run_.judge, info.metrics.at(run_.judge)) + (info.best ? " (best)" : "");
  }
  text += fmt::format("  {:.0f} photos/s", info.photos_per_s);
  if (info.epoch < run_.epochs) text += fmt::format("  {} left", TimeLeft());
  Line(text);
}

void ProgressHook::OnNote(const std::string& text) { Line(text); }

void ProgressHook::OnEnd() {
  if (bar_width_ > 0) write_("\r" + std::string(bar_width_, ' ') + "\r");
  bar_width_ = 0;
}

void ProgressHook::Bar(const std::string& text) {
  if (!terminal_) return;
  const size_t pad = bar_width_ > text.size() ? bar_width_ - text.size() : 0;
  write_("\r" + text + std::string(pad, ' '));
  bar_width_ = text.size();
}

void ProgressHook::Line(const std::string& text) {
  OnEnd();
  write_(text + "\n");
}

}  // namespace stoker::train
