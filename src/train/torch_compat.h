// What differs between the LibTorch releases that Stoker builds on: 1.13 (Debian) and 2.x (the one
// inside an installed PyTorch).
#pragma once

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <torch/version.h>

namespace stoker::train {

// bfloat16 where the device computes in it, from here to the end of the scope.
class Autocast {
 public:
  explicit Autocast(bool on) : on_(on) {
    if (!on_) return;
    at::autocast::increment_nesting();
    Set(true);
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;
  ~Autocast() {
    if (!on_) return;
    Set(false);
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  }

 private:
  static void Set(bool on) {
#if TORCH_VERSION_MAJOR >= 2 && TORCH_VERSION_MINOR >= 4
    at::autocast::set_autocast_dtype(at::kCUDA, at::kBFloat16);
    at::autocast::set_autocast_enabled(at::kCUDA, on);
#else
    at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
    at::autocast::set_enabled(on);
#endif
  }
  const bool on_;
};

// One number out of a tensor of one number, without autograd.
inline double Scalar(const at::Tensor& tensor) {
  return tensor.detach().to(at::kCPU).item<double>();
}

}  // namespace stoker::train
