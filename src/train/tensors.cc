#include "train/tensors.h"

#include <cstring>
#include <optional>

#include "base/file.h"
#include "train/safetensors.h"

namespace stoker::train {
namespace {

struct TypePair {
  Dtype dtype;
  at::ScalarType type;
};
constexpr TypePair kTypes[] = {{Dtype::kBool, at::kBool}, {Dtype::kU8, at::kByte},
                               {Dtype::kI8, at::kChar},   {Dtype::kI16, at::kShort},
                               {Dtype::kF16, at::kHalf},  {Dtype::kBF16, at::kBFloat16},
                               {Dtype::kI32, at::kInt},   {Dtype::kF32, at::kFloat},
                               {Dtype::kI64, at::kLong},  {Dtype::kF64, at::kDouble}};

std::optional<Dtype> DtypeOf(at::ScalarType type) {
  for (const TypePair& pair : kTypes) {
    if (pair.type == type) return pair.dtype;
  }
  return std::nullopt;
}

at::ScalarType TypeOf(Dtype dtype) {
  for (const TypePair& pair : kTypes) {
    if (pair.dtype == dtype) return pair.type;
  }
  return at::kFloat;
}

const at::Tensor* Find(const NamedTensors& tensors, const std::string& name) {
  for (const auto& [key, tensor] : tensors) {
    if (key == name) return &tensor;
  }
  return nullptr;
}

}  // namespace

Status SaveTensors(const std::string& path, const NamedTensors& tensors,
                   const std::map<std::string, std::string>& metadata) {
  std::vector<at::Tensor> held;  // keeps the bytes alive until they are written
  std::vector<TensorView> views;
  for (const auto& [name, tensor] : tensors) {
    const auto dtype = DtypeOf(tensor.scalar_type());
    if (!dtype) return Internal("tensor " + name + " is of a type that is not written", path);
    held.push_back(tensor.detach().to(at::kCPU).contiguous());
    const at::Tensor& flat = held.back();
    views.push_back({name,
                     *dtype,
                     flat.sizes().vec(),
                     {static_cast<const char*>(flat.data_ptr()), flat.nbytes()}});
  }
  return WriteSafetensors(path, std::move(views), metadata);
}

Result<TensorFile> LoadTensors(const std::string& path) {
  STOKER_ASSIGN(const MappedFile file, MappedFile::Open(path));
  STOKER_ASSIGN(Safetensors parsed, ParseSafetensors(file.bytes(), path));
  TensorFile loaded{.metadata = std::move(parsed.metadata)};
  for (const TensorView& view : parsed.tensors) {
    at::Tensor tensor = at::empty(view.shape, at::TensorOptions().dtype(TypeOf(view.dtype)));
    if (!view.bytes.empty()) {
      std::memcpy(tensor.data_ptr(), view.bytes.data(), view.bytes.size());
    }
    loaded.tensors.emplace_back(view.name, std::move(tensor));
  }
  return loaded;
}

Status CopyTensors(const NamedTensors& from, const std::string& prefix, const NamedTensors& to,
                   const std::string& where) {
  std::vector<const at::Tensor*> sources;
  for (const auto& [name, target] : to) {
    const at::Tensor* source = Find(from, prefix + name);
    if (!source) return Invalid("tensor " + prefix + name + " is missing", where);
    if (source->sizes() != target.sizes()) {
      return Invalid("tensor " + prefix + name + " has another shape", where,
                     "the file belongs to another model or other classes");
    }
    sources.push_back(source);
  }
  size_t named = 0;
  for (const auto& [name, tensor] : from) named += name.starts_with(prefix) ? 1 : 0;
  if (named != to.size()) return Invalid("more tensors than the model has", where);
  for (size_t i = 0; i < to.size(); ++i) to[i].second.copy_(*sources[i]);
  return Ok();
}

}  // namespace stoker::train
