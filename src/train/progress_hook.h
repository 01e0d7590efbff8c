// What a person sees while a model trains: a bar that moves on a terminal, else a line an epoch.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "train/hook.h"

namespace stoker::train {

class ProgressHook final : public Hook {
 public:
  using Write = std::function<void(std::string_view)>;
  ProgressHook(Write write, bool terminal, const Clock& clock);

  void OnStart(const RunInfo& info) override;
  void OnPhase(std::string_view phase, bool begins, int epoch) override;
  void OnStep(const StepInfo& info) override;
  void OnEpoch(const EpochInfo& info) override;
  void OnNote(const std::string& text) override;
  void OnEnd() override;

 private:
  void Bar(const std::string& text);  // replaces the bar that stands, terminal only
  void Line(const std::string& text);
  std::string TimeLeft() const;

  const Write write_;
  const bool terminal_;
  const Clock& clock_;
  RunInfo run_;
  MonoTime began_;
  MonoTime last_bar_;
  int64_t steps_done_ = 0;  // by this process
  int64_t steps_left_ = 0;
  int64_t photos_ = 0;  // since the last bar
  size_t bar_width_ = 0;
};

}  // namespace stoker::train
