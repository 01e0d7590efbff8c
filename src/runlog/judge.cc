#include "runlog/judge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/text.h"

namespace stoker::runlog {
namespace {

// "metrics/mAP50-95(B)" -> "metrics_map50_95_b": how a name sounds, whatever its punctuation.
std::string Sound(std::string_view name) {
  std::string out;
  for (const char c : ToLower(name)) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (word) out.push_back(c);
    if (!word && !out.empty() && out.back() != '_') out.push_back('_');
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  return out;
}

// What is measured on photos that the run does not learn from, in order of preference.
constexpr std::array<std::string_view, 8> kHeldOut = {"val_", "valid_",   "validation_", "eval_",
                                                      "dev_", "metrics_", "test_",       ""};

struct Measure {
  std::string_view sound;
  bool higher;
  bool alone;  // judges even without a word that says it was measured on held-out data
};

constexpr std::array kMeasures = std::to_array<Measure>({
    {"map50_95_b", true, true},    {"map50_95", true, true},     {"map_0_5_0_95", true, true},
    {"map50_95_m", true, true},    {"map_50_95", true, true},    {"bbox_map", true, true},
    {"map", true, true},           {"map50_b", true, true},      {"map50", true, true},
    {"map_0_5", true, true},       {"map_50", true, true},       {"accuracy", true, true},
    {"acc", true, true},           {"top1", true, true},         {"accuracy_top1", true, true},
    {"acc1", true, true},          {"acc_top1", true, true},     {"top1_accuracy", true, true},
    {"accept_length", true, true}, {"acceptance", true, true},   {"f1", true, true},
    {"macro_f1", true, true},      {"f1_macro", true, true},     {"auroc", true, true},
    {"auc", true, true},           {"miou", true, true},         {"mean_iou", true, true},
    {"iou", true, true},           {"dice", true, true},         {"bleu", true, true},
    {"rougel", true, true},        {"rouge_l", true, true},      {"score", true, false},
    {"wer", false, false},         {"cer", false, false},        {"loss", false, false},
    {"total_loss", false, false},  {"perplexity", false, false}, {"ppl", false, false},
    {"error", false, false},       {"rmse", false, false},       {"mae", false, false},
});

bool SoundsLowerIsBetter(const std::string& sound) {
  for (const std::string_view word : {"loss", "err", "error", "perplexity", "ppl", "mae", "mse",
                                      "rmse", "wer", "cer", "fid", "nll"}) {
    if (sound == word || sound.ends_with("_" + std::string(word))) return true;
  }
  return sound.find("loss") != std::string::npos;
}

Judge Said(const std::string& metric, std::optional<bool> higher,
           const std::vector<std::string>& names) {
  const std::string sound = Sound(metric);
  Judge judge{metric, higher.value_or(!SoundsLowerIsBetter(sound))};
  if (std::find(names.begin(), names.end(), metric) != names.end()) return judge;
  for (const std::string& name : names) {
    if (Sound(name) == sound) judge.metric = name;
  }
  return judge;
}

}  // namespace

bool Judge::Better(double a, double b) const {
  if (std::isnan(a)) return false;
  if (std::isnan(b)) return true;
  return higher_is_better ? a > b : a < b;
}

std::optional<Judge> ChooseJudge(const std::string& said_metric, std::optional<bool> said_higher,
                                 const std::vector<std::string>& names) {
  if (!said_metric.empty()) return Said(said_metric, said_higher, names);
  std::vector<std::string> sounds;
  for (const std::string& name : names) sounds.push_back(Sound(name));
  for (const Measure& measure : kMeasures) {
    for (const std::string_view held_out : kHeldOut) {
      if (held_out.empty() && !measure.alone) continue;
      const std::string wanted = std::string(held_out) + std::string(measure.sound);
      const auto it = std::find(sounds.begin(), sounds.end(), wanted);
      if (it == sounds.end()) continue;
      return Judge{names[static_cast<size_t>(it - sounds.begin())],
                   said_higher.value_or(measure.higher)};
    }
  }
  return std::nullopt;
}

}  // namespace stoker::runlog
