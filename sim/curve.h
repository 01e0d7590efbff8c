// The course of a simulated training: losses and accuracy by epoch, shaped like real ones.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stoker::sim {

enum class Curve { kOverfit, kPlateau, kRising, kDiverge };
std::optional<Curve> CurveByName(std::string_view name);
const std::vector<std::string>& CurveNames();

struct EpochScore {
  double train_loss = 0;
  double val_loss = 0;  // NaN once a diverging run is lost
  double val_accuracy = 0;
};
// `epoch` from 1 to `epochs`. The same arguments give the same score.
EpochScore ScoreAt(Curve curve, int epoch, int epochs, uint64_t seed);

}  // namespace stoker::sim
