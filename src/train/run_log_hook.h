// Writes what the loop does into a run log (docs/formats/run-log.md).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "base/clock.h"
#include "runlog/writer.h"
#include "train/hook.h"

namespace stoker::train {

class RunLogHook final : public Hook {
 public:
  // Begins the phase "startup", which OnStart ends. `warn` hears once where the log cannot be
  // written: training does not end for that.
  RunLogHook(runlog::Writer& writer, const Clock& clock,
             std::function<void(std::string_view)> warn);

  // An object whose fields the plan line carries beside the loop's own.
  void set_plan(std::string plan_json) { plan_json_ = std::move(plan_json); }

  void OnStart(const RunInfo& info) override;
  void OnPhase(std::string_view phase, bool begins, int epoch) override;
  void OnStep(const StepInfo& info) override;
  void OnEpoch(const EpochInfo& info) override;
  void OnCheckpoint(const std::string& path, std::string_view role, double epoch) override;
  void OnTest(int best_epoch, const std::map<std::string, double>& metrics) override;
  void OnNote(const std::string& text) override;

 private:
  void Append(runlog::RunEvent event);

  runlog::Writer& writer_;
  const Clock& clock_;
  std::string plan_json_ = "{}";
  const std::function<void(std::string_view)> warn_;
  bool warned_ = false;
  RunInfo run_;
  MonoTime last_step_line_;
};

}  // namespace stoker::train
