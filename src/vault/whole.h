// Is this file a whole checkpoint? Decided from its format, never by loading it. Memory stays
// bounded whatever the file says. Formats and rules: docs/formats/vault.md.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace stoker::vault {

enum class Proof {
  kWhole,      // the format proves it
  kQuietOnly,  // the format has no proof: whole if nobody has written for a while
  kNotWhole,   // truncated, half-written or damaged
};
struct Verdict {
  Proof proof = Proof::kNotWhole;
  std::string format;  // "safetensors", "torch-zip", "torch-legacy", "onnx", …
  std::string reason;  // in words, where it is not proven whole
};

// True for names that the vault takes for checkpoints: .safetensors .pt .pth .th .ckpt .onnx .bin …
// Hidden files and temporary names are none.
bool LooksLikeCheckpoint(std::string_view path);
// Errors are failures to read; damage is a verdict. Reads the whole file once at most.
Result<Verdict> Examine(const std::string& path);
// The same for an open file. Ends early with kUnavailable once *cancel (may be null) is true.
Result<Verdict> ExamineFd(const Fd& fd, const std::string& path,
                          const std::atomic<bool>* cancel = nullptr);

}  // namespace stoker::vault
