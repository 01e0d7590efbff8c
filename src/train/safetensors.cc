#include "train/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/durable_file.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/text.h"

static_assert(std::endian::native == std::endian::little, "tensors are written as they lie");

namespace stoker::train {
namespace {

constexpr size_t kLengthBytes = 8;
constexpr uint64_t kMaxHeader = 100'000'000;  // of the format
constexpr size_t kMaxDimensions = 16;

struct DtypeRow {
  Dtype dtype;
  std::string_view name;
  size_t bytes;
};
constexpr std::array kDtypes = std::to_array<DtypeRow>({{Dtype::kBool, "BOOL", 1},
                                                        {Dtype::kU8, "U8", 1},
                                                        {Dtype::kI8, "I8", 1},
                                                        {Dtype::kI16, "I16", 2},
                                                        {Dtype::kF16, "F16", 2},
                                                        {Dtype::kBF16, "BF16", 2},
                                                        {Dtype::kI32, "I32", 4},
                                                        {Dtype::kF32, "F32", 4},
                                                        {Dtype::kI64, "I64", 8},
                                                        {Dtype::kF64, "F64", 8}});

const DtypeRow& RowOf(Dtype dtype) { return kDtypes[static_cast<size_t>(dtype)]; }

// Bytes of a tensor; nullopt where the product does not fit in 63 bits.
std::optional<uint64_t> SizeOf(Dtype dtype, const std::vector<int64_t>& shape) {
  uint64_t size = DtypeBytes(dtype);
  for (const int64_t dimension : shape) {
    if (dimension == 0) return 0;
    const auto factor = static_cast<uint64_t>(dimension);
    if (size > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) / factor) {
      return std::nullopt;
    }
    size *= factor;
  }
  return size;
}

// A list of non-negative numbers that fit.
std::optional<std::vector<int64_t>> Numbers(const Json& json, const char* key, size_t most) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_array() || found->size() > most) return std::nullopt;
  std::vector<int64_t> numbers;
  for (const Json& value : *found) {
    if (!value.is_number_unsigned()) return std::nullopt;
    const auto number = value.get<uint64_t>();
    if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
    numbers.push_back(static_cast<int64_t>(number));
  }
  return numbers;
}

struct Entry {
  TensorView view;
  uint64_t begin = 0;
  uint64_t end = 0;
};

Result<Entry> ReadEntry(const std::string& name, const Json& json, std::string_view data,
                        const std::string& where) {
  const auto bad = [&](const std::string& what) {
    return Corrupt("tensor " + Ellipsize(name, 80) + ": " + what, where);
  };
  if (!json.is_object()) return bad("not an object");
  const std::string dtype_name = JsonString(json, "dtype").value_or("");
  const auto row = std::find_if(kDtypes.begin(), kDtypes.end(),
                                [&](const DtypeRow& r) { return r.name == dtype_name; });
  if (row == kDtypes.end()) {
    return Unsupported("tensor " + Ellipsize(name, 80) + ": dtype " + Ellipsize(dtype_name, 20),
                       where);
  }
  const auto shape = Numbers(json, "shape", kMaxDimensions);
  const auto offsets = Numbers(json, "data_offsets", 2);
  if (!shape || !offsets || offsets->size() != 2) return bad("no shape or offsets");
  Entry entry{.view = {.name = name, .dtype = row->dtype, .shape = *shape}};
  entry.begin = static_cast<uint64_t>((*offsets)[0]);
  entry.end = static_cast<uint64_t>((*offsets)[1]);
  if (entry.begin > entry.end || entry.end > data.size()) return bad("lies outside the file");
  if (SizeOf(row->dtype, *shape) != entry.end - entry.begin) {
    return bad("its length is not what its shape says");
  }
  entry.view.bytes = data.substr(entry.begin, entry.end - entry.begin);
  return entry;
}

Result<std::map<std::string, std::string>> ReadMetadata(const Json& json,
                                                        const std::string& where) {
  std::map<std::string, std::string> metadata;
  if (!json.is_object()) return Corrupt("__metadata__ is no object", where);
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) return Corrupt("__metadata__ holds more than text", where);
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

// Header with its length in front, padded with spaces so that the data begins on eight bytes.
std::string BuildHeader(const std::vector<TensorView>& tensors,
                        const std::map<std::string, std::string>& metadata) {
  Json json = Json::object();
  if (!metadata.empty()) json["__metadata__"] = metadata;
  uint64_t offset = 0;
  for (const TensorView& tensor : tensors) {
    STOKER_CHECK(SizeOf(tensor.dtype, tensor.shape) == tensor.bytes.size());
    json[tensor.name] = {{"dtype", DtypeName(tensor.dtype)},
                         {"shape", tensor.shape},
                         {"data_offsets", {offset, offset + tensor.bytes.size()}}};
    offset += tensor.bytes.size();
  }
  std::string header = DumpJson(json);
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const uint64_t length = header.size();
  std::string out(reinterpret_cast<const char*>(&length), kLengthBytes);
  return out + header;
}

}  // namespace

std::string_view DtypeName(Dtype dtype) { return RowOf(dtype).name; }
size_t DtypeBytes(Dtype dtype) { return RowOf(dtype).bytes; }

const TensorView* Safetensors::Find(std::string_view name) const {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const TensorView& tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

Result<Safetensors> ParseSafetensors(std::string_view bytes, const std::string& where) {
  if (bytes.size() < kLengthBytes) return Corrupt("too short for a safetensors file", where);
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > kMaxHeader || length > bytes.size() - kLengthBytes) {
    return Corrupt("its header is longer than the file", where);
  }
  STOKER_ASSIGN(const Json header,
                ParseJson(bytes.substr(kLengthBytes, length), where, kMaxHeader));
  if (!header.is_object()) return Corrupt("its header is no object", where);
  const std::string_view data = bytes.substr(kLengthBytes + length);
  Safetensors file;
  std::vector<Entry> entries;
  for (const auto& [name, value] : header.items()) {
    if (name == "__metadata__") {
      STOKER_ASSIGN(file.metadata, ReadMetadata(value, where));
      continue;
    }
    STOKER_ASSIGN(Entry entry, ReadEntry(name, value, data, where));
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  uint64_t at = 0;
  for (Entry& entry : entries) {
    if (entry.begin != at) return Corrupt("its tensors overlap or leave a gap", where);
    at = entry.end;
    file.tensors.push_back(std::move(entry.view));
  }
  if (at != data.size()) return Corrupt("bytes after the last tensor, or cut short", where);
  return file;
}

Status WriteSafetensors(const std::string& path, std::vector<TensorView> tensors,
                        const std::map<std::string, std::string>& metadata) {
  std::stable_sort(tensors.begin(), tensors.end(), [](const TensorView& a, const TensorView& b) {
    return DtypeBytes(a.dtype) > DtypeBytes(b.dtype);
  });
  const std::string header = BuildHeader(tensors, metadata);
  return WriteDurably(path, [&](const Fd& file) -> Status {
    STOKER_TRY(WriteAll(file, header, path));
    for (const TensorView& tensor : tensors) STOKER_TRY(WriteAll(file, tensor.bytes, path));
    return Ok();
  });
}

}  // namespace stoker::train
