// ONNX is one protobuf message, ModelProto: 1 ir_version, 7 graph, 8 opset_import, others. Protobuf
// has no end mark, so a cut exactly between two late fields cannot be told; within a field it can.
#include <optional>

#include "vault/formats.h"

namespace stoker::vault {
namespace {

constexpr int kMaxFields = 1'000'000;
constexpr uint64_t kIrVersion = 1, kGraph = 7, kOpsetImport = 8;

Result<uint64_t> ReadVarint(Cursor& cursor) {
  uint64_t out = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    STOKER_ASSIGN(const std::string_view byte, cursor.Exactly(1));
    const auto bits = static_cast<unsigned char>(byte[0]);
    out |= static_cast<uint64_t>(bits & 0x7f) << shift;
    if ((bits & 0x80) == 0) return out;
  }
  return Corrupt("a number is too long");
}

Status SkipValue(Cursor& cursor, uint64_t wire_type) {
  switch (wire_type) {
    case 0: {
      const Result<uint64_t> value = ReadVarint(cursor);
      return value ? Ok() : Status(value.error());
    }
    case 1:
      return cursor.Skip(8);
    case 2: {
      STOKER_ASSIGN(const uint64_t length, ReadVarint(cursor));
      if (length > static_cast<uint64_t>(cursor.left())) {
        return Corrupt("cut off within a field");
      }
      return cursor.Skip(static_cast<int64_t>(length));
    }
    case 5:
      return cursor.Skip(4);
    default:
      return Corrupt("not a protobuf message");
  }
}

struct Seen {
  bool ir_version = false, graph = false, opset = false;
};

Result<std::optional<Seen>> WalkFields(const FileBytes& file) {
  Seen seen;
  Cursor cursor(file, 0, file.size());
  for (int fields = 0; cursor.left() > 0; ++fields) {
    if (fields == kMaxFields) return std::optional<Seen>();
    STOKER_ASSIGN(const uint64_t tag, ReadVarint(cursor));
    const uint64_t number = tag >> 3;
    if (number == 0 || number > (1u << 29) - 1) return Corrupt("not a protobuf message");
    STOKER_TRY(SkipValue(cursor, tag & 7));
    seen.ir_version |= number == kIrVersion && (tag & 7) == 0;
    seen.graph |= number == kGraph && (tag & 7) == 2;
    seen.opset |= number == kOpsetImport && (tag & 7) == 2;
  }
  return std::optional(seen);
}

}  // namespace

Result<Verdict> CheckOnnx(const FileBytes& file) {
  const Result<std::optional<Seen>> walked = WalkFields(file);
  if (!walked && walked.error().code == Code::kCorrupt) {
    return NotWhole("onnx", walked.error().what);
  }
  if (!walked) return walked.error();
  if (!*walked) return QuietOnly("onnx", "more than a million fields, not checked inside");
  if (!(*walked)->ir_version || !(*walked)->graph || !(*walked)->opset) {
    return NotWhole("onnx", "has no graph or no operator set");
  }
  return Whole("onnx");
}

}  // namespace stoker::vault
