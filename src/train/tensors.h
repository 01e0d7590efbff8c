// Named tensors between memory and safetensors files.
#pragma once

#include <ATen/ATen.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace stoker::train {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

struct TensorFile {
  NamedTensors tensors;  // on the CPU, owning their bytes
  std::map<std::string, std::string> metadata;
};

// Any device, any memory format; written contiguous.
Status SaveTensors(const std::string& path, const NamedTensors& tensors,
                   const std::map<std::string, std::string>& metadata);
Result<TensorFile> LoadTensors(const std::string& path);

// Copies each tensor of `from` whose name begins with `prefix` into the tensor of `to` with the
// rest of the name. kInvalid, before anything is copied, where one is missing, left over or of
// another shape.
Status CopyTensors(const NamedTensors& from, const std::string& prefix, const NamedTensors& to,
                   const std::string& where);

}  // namespace stoker::train
