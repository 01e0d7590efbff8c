// Small checkpoint files made by hand, for tests and the fuzzer. Not part of the product.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stoker::vault::handmade {

inline std::string Number(uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(i < 8 ? value >> (8 * i) : 0);
  return out;
}

// Deterministic bytes that look random.
inline std::string Noise(size_t size, uint32_t seed) {
  std::string out(size, '\0');
  uint32_t x = seed * 2654435761u + 1;
  for (char& c : out) {
    x = x * 1664525u + 1013904223u;
    c = static_cast<char>(x >> 24);
  }
  return out;
}

inline std::string Safetensors(std::string_view header, std::string_view data) {
  return Number(header.size(), 8).append(header).append(data);
}

// One uint8 tensor of `size` bytes of noise.
inline std::string SimpleSafetensors(size_t size, uint32_t seed) {
  const std::string n = std::to_string(size);
  return Safetensors(R"({"__metadata__":{"seed":")" + std::to_string(seed) +
                         R"("},"w":{"dtype":"U8","shape":[)" + n + R"(],"data_offsets":[0,)" + n +
                         "]}}",
                     Noise(size, seed));
}

struct ZipOptions {
  bool end64 = true;        // 64-bit end record and locator, as torch writes
  bool descriptors = true;  // sizes after the data, zeros in the local header
  bool checksums = true;
  bool deflate = false;
  std::string comment;
};

inline std::string Deflate(std::string_view bytes) {
  z_stream stream{};
  ::deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
  std::string out(bytes.size() + 1024, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  ::deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

inline std::string Zip(const std::vector<std::pair<std::string, std::string>>& records,
                       const ZipOptions& options = {}) {
  std::string out, directory;
  for (const auto& [name, content] : records) {
    const std::string data = options.deflate ? Deflate(content) : content;
    const uint64_t crc = options.checksums
                             ? ::crc32(0, reinterpret_cast<const Bytef*>(content.data()),
                                       static_cast<uInt>(content.size()))
                             : 0;
    const std::string method = Number(options.deflate ? 8 : 0, 2);
    const std::string flags = Number(options.descriptors ? 0x0808 : 0, 2);
    const std::string numbers = Number(crc, 4) + Number(data.size(), 4) + Number(content.size(), 4);
    const size_t at = out.size();
    out += "PK\x03\x04" + Number(20, 2) + flags + method + Number(0, 4) +
           (options.descriptors ? std::string(12, '\0') : numbers) + Number(name.size(), 2) +
           Number(0, 2) + name + data;
    if (options.descriptors) out += "PK\x07\x08" + numbers;
    directory += "PK\x01\x02" + Number(20, 2) + Number(20, 2) + flags + method + Number(0, 4) +
                 numbers + Number(name.size(), 2) + Number(0, 12) + Number(at, 4) + name;
  }
  const uint64_t at = out.size(), size = directory.size(), count = records.size();
  out += directory;
  if (options.end64) {
    const uint64_t end64 = out.size();
    out += "PK\x06\x06" + Number(44, 8) + Number(45, 2) + Number(45, 2) + Number(0, 8) +
           Number(count, 8) + Number(count, 8) + Number(size, 8) + Number(at, 8);
    out += "PK\x06\x07" + Number(0, 4) + Number(end64, 8) + Number(1, 4);
  }
  return out + "PK\x05\x06" + Number(0, 4) + Number(count, 2) + Number(count, 2) + Number(size, 4) +
         Number(at, 4) + Number(options.comment.size(), 2) + options.comment;
}

inline std::string TorchZip(size_t size, uint32_t seed, const ZipOptions& options = {}) {
  return Zip({{"last/data.pkl", "\x80\x02}q\x00."},
              {"last/data/0", Noise(size, seed)},
              {"last/data/1", Noise(size / 3, seed + 1)},
              {"last/version", "3\n"}},
             options);
}

inline std::string Field(int number, std::string_view bytes) {
  std::string out(1, static_cast<char>(number << 3 | 2));
  size_t size = bytes.size();
  for (; size >= 0x80; size >>= 7) out += static_cast<char>((size & 0x7f) | 0x80);
  return out.append(1, static_cast<char>(size)).append(bytes);
}

inline std::string Onnx(size_t size, uint32_t seed) {
  return "\x08\x07" + Field(2, "a producer") + Field(7, Noise(size, seed)) +
         Field(8, std::string("\x10\x0d"));
}

inline std::string LegacyTorch(size_t size, uint32_t seed) {
  return "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e" + Noise(size, seed);
}

}  // namespace stoker::vault::handmade
