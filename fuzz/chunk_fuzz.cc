// libFuzzer over the decoders of samples. The first byte chooses whether the check word is made
// right, so that both the outer and the inner defences are reached. What decodes must encode and
// come back.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "ledger/chunk.h"

namespace {

std::string WithCheckWord(std::string body) {
  uint32_t hash = 2166136261u;
  for (const char c : body) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619u;
  for (int i = 0; i < 4; ++i) body.push_back(static_cast<char>(hash >> (8 * i)));
  return body;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if ((data[0] & 1) != 0) bytes = WithCheckWord(std::move(bytes));
  stoker::ledger::ChunkCodec codec;
  if (const auto tick = codec.DecodeTick(bytes)) {
    STOKER_CHECK(codec.DecodeTick(codec.EncodeTick(*tick)).value() == *tick);
  }
  if (const auto times = codec.DecodeTimes(bytes)) {
    STOKER_CHECK(codec.DecodeTimes(codec.EncodeTimes(*times)).value() == *times);
  }
  if (const auto column = codec.DecodeColumn(bytes)) {
    const std::string again = codec.EncodeColumn(column->values, column->absences);
    STOKER_CHECK(codec.DecodeColumn(again).value() == *column);
  }
  if (const auto tier = codec.DecodeTier(bytes)) {
    STOKER_CHECK(codec.DecodeTier(codec.EncodeTier(*tier)).value() == *tier);
  }
  return 0;
}
