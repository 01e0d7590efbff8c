// The safetensors container: eight bytes of header length, a JSON header, then the tensors' bytes,
// back to back. Knows nothing of LibTorch. What our files hold: docs/formats/weights.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stoker::train {

enum class Dtype { kBool, kU8, kI8, kI16, kF16, kBF16, kI32, kF32, kI64, kF64 };
std::string_view DtypeName(Dtype dtype);  // "F32"
size_t DtypeBytes(Dtype dtype);

// Bytes live elsewhere: in the file that was parsed, or with the caller who writes.
struct TensorView {
  std::string name;
  Dtype dtype = Dtype::kF32;
  std::vector<int64_t> shape;  // empty: one number
  std::string_view bytes;      // little-endian, row-major
};

struct Safetensors {
  std::vector<TensorView> tensors;  // in order of their bytes
  std::map<std::string, std::string> metadata;
  const TensorView* Find(std::string_view name) const;
};

// kCorrupt where a tensor is not exactly as long as its shape says, overlaps another, leaves a gap
// or lies outside; kUnsupported for a dtype that is not listed above.
Result<Safetensors> ParseSafetensors(std::string_view bytes, const std::string& where);

// Durable and atomic (base/durable_file.h). Wider dtypes come first, so that all are aligned.
Status WriteSafetensors(const std::string& path, std::vector<TensorView> tensors,
                        const std::map<std::string, std::string>& metadata);

}  // namespace stoker::train
