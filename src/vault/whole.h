// Is this file a whole checkpoint? Decided from its format, never by loading it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace stoker::vault {

enum class Proof {
  kWhole,       // the format proves it
  kQuietOnly,   // the format has no proof: whole if nobody has written for a while
  kNotWhole,    // truncated, half-written or damaged
};
struct Verdict {
  Proof proof = Proof::kNotWhole;
  std::string format;  // "safetensors", "torch-zip", "torch-legacy", "onnx", …
  std::string reason;  // in words, where it is not whole
};

// True for names that the vault takes for checkpoints: .safetensors .pt .pth .ckpt .onnx .bin …
bool LooksLikeCheckpoint(std::string_view path);
Result<Verdict> Examine(const std::string& path);

}  // namespace stoker::vault
