#include "train/mobilenet_v3.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include "train/optimizer.h"

namespace stoker::train {
namespace {

TEST(MobileNetV3Small, HasTheReferenceNumberOfParameters) {
  EXPECT_EQ(CountParameters(*MobileNetV3Small(12)), 1'530'156);
  EXPECT_EQ(CountParameters(*MobileNetV3Small(1000)), 2'542'856);
}

TEST(MobileNetV3Small, GivesOneScoreAClass) {
  torch::manual_seed(1);
  MobileNetV3Small model(12);
  model->eval();
  const at::NoGradGuard no_grad;
  const at::Tensor scores = model->forward(at::rand({2, 3, 64, 48}));
  EXPECT_EQ(scores.sizes().vec(), (std::vector<int64_t>{2, 12}));
  EXPECT_TRUE(at::isfinite(scores).all().item<bool>());
}

// Two steps by hand: v = 0.9 v + g, w = w - rate (g + 0.9 v), with g = gradient + 0.1 w.
TEST(Sgd, StepsAsTheFormulaSays) {
  at::Tensor w = at::full({1, 1}, 2.0, at::kDouble).requires_grad_();
  at::Tensor b = at::full({1}, 2.0, at::kDouble).requires_grad_();
  Sgd sgd({{"w", w}, {"b", b}}, {.momentum = 0.9, .weight_decay = 0.1});
  double value = 2;
  double velocity = 0;
  for (int step = 0; step < 2; ++step) {
    w.mutable_grad() = at::full({1, 1}, 1.0, at::kDouble);
    b.mutable_grad() = at::full({1}, 1.0, at::kDouble);
    sgd.Step(0.5);
    const double g = 1 + 0.1 * value;
    velocity = 0.9 * velocity + g;
    value -= 0.5 * (g + 0.9 * velocity);
    EXPECT_NEAR(w.item<double>(), value, 1e-12);
  }
  EXPECT_NEAR(b.item<double>(), 2 - 0.5 * 1.9 - 0.5 * (1 + 0.9 * 1.9), 1e-12);  // no decay
}

TEST(Ema, LagsBehindAndGivesTheWeightsBack) {
  at::Tensor w = at::zeros({2}, at::kDouble);
  Ema ema({{"w", w}}, 0.5);
  w.fill_(1);
  ema.Update();  // decay min(0.5, 2 / 11)
  {
    const Ema::Borrow borrow(&ema);
    EXPECT_NEAR(w[0].item<double>(), 9.0 / 11, 1e-12);
  }
  EXPECT_EQ(w[0].item<double>(), 1);
  const Ema::Borrow nothing(nullptr);
}

}  // namespace
}  // namespace stoker::train
