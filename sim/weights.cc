#include "sim/weights.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "base/durable_file.h"
#include "base/json.h"

namespace stoker::sim {
namespace {

constexpr int64_t kTensors = 4;
constexpr size_t kChunk = 1 << 20;

// The header: eight bytes of length, then JSON padded so that the numbers begin at a multiple of 8.
std::string Header(int64_t floats, int epoch) {
  Json json = Json::object();
  json["__metadata__"] = {{"format", "pt"}, {"epoch", std::to_string(epoch)}};
  int64_t begin = 0;
  for (int64_t i = 0; i < kTensors; ++i) {
    const int64_t count = i + 1 < kTensors ? floats / kTensors : floats - begin / 4;
    json["layer" + std::to_string(i) + ".weight"] = {
        {"dtype", "F32"}, {"shape", {count}}, {"data_offsets", {begin, begin + count * 4}}};
    begin += count * 4;
  }
  std::string text = DumpJson(json);
  text.append((8 - text.size() % 8) % 8, ' ');
  const uint64_t length = text.size();
  std::string out(8, '\0');
  for (int i = 0; i < 8; ++i) out[static_cast<size_t>(i)] = static_cast<char>(length >> (8 * i));
  return out + text;
}

Status WriteNumbers(const Fd& fd, int64_t floats, uint64_t seed, const std::string& path) {
  uint64_t x = seed * 0x9e3779b97f4a7c15 + 1;
  std::vector<float> chunk;
  while (floats > 0) {
    chunk.resize(static_cast<size_t>(std::min<int64_t>(floats, kChunk / sizeof(float))));
    for (float& number : chunk) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      number = static_cast<float>(static_cast<double>(x >> 40) / (1 << 23) - 1) * 0.1f;
    }
    STOKER_TRY(WriteAll(
        fd, {reinterpret_cast<const char*>(chunk.data()), chunk.size() * sizeof(float)}, path));
    floats -= static_cast<int64_t>(chunk.size());
  }
  return Ok();
}

}  // namespace

Status WriteWeights(const std::string& path, int64_t bytes, uint64_t seed, int epoch) {
  const int64_t floats = std::max<int64_t>(kTensors, bytes / 4);
  return WriteDurably(path, [&](const Fd& fd) -> Status {
    STOKER_TRY(WriteAll(fd, Header(floats, epoch), path));
    return WriteNumbers(fd, floats, seed, path);
  });
}

}  // namespace stoker::sim
