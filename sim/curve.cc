#include "sim/curve.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "sim/card_model.h"

namespace stoker::sim {
namespace {

constexpr double kBestAt = 0.69;  // an overfitting run is best here and loses afterwards
constexpr double kLostAt = 0.4;   // a diverging run breaks here

}  // namespace

const std::vector<std::string>& CurveNames() {
  static const std::vector<std::string> names = {"overfit", "plateau", "rising", "diverge"};
  return names;
}

std::optional<Curve> CurveByName(std::string_view name) {
  const auto& names = CurveNames();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Curve>(found - names.begin());
}

EpochScore ScoreAt(Curve curve, int epoch, int epochs, uint64_t seed) {
  const double t = static_cast<double>(epoch) / std::max(1, epochs);
  // Small repeatable wobble that dies away as the learning rate falls.
  const double wobble = Noise(static_cast<int>(seed), 9, int64_t{epoch} * 100'000'000) * (1 - t);
  EpochScore score;
  score.train_loss = 0.25 + 2.2 * std::exp(-5 * t) - 0.15 * t + 0.02 * wobble;
  double accuracy = 0.9 - 0.78 * std::exp(-9 * t);
  if (curve == Curve::kRising) accuracy = 0.12 + 0.78 * t;
  double loss = 0.3 + 2.1 * (0.9 - accuracy);
  if (curve == Curve::kOverfit && t > kBestAt) {
    const double past = (t - kBestAt) / (1 - kBestAt);
    accuracy -= 0.06 * past * past + 0.02 * past;
    loss += 0.3 * past;
  }
  accuracy += 0.008 * wobble;
  loss += 0.02 * wobble;
  if (curve == Curve::kDiverge && t > kLostAt) {
    score.train_loss = loss = std::numeric_limits<double>::quiet_NaN();
    accuracy = 1.0 / 12;
  }
  score.val_loss = loss;
  score.val_accuracy = std::clamp(accuracy, 0.0, 1.0);
  return score;
}

}  // namespace stoker::sim
