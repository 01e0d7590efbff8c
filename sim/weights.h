// Writes small valid safetensors files: what a trainer's checkpoint looks like from outside.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace stoker::sim {

// About `bytes` of float32 in a few tensors, different for each `seed`; replaces `path` whole.
Status WriteWeights(const std::string& path, int64_t bytes, uint64_t seed, int epoch);

}  // namespace stoker::sim
