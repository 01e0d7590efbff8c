// Packs columns of integers small and refuses damaged ones: the inner part of every chunk. The best
// of a few transforms (line, distance from the middle, delta,
// delta of delta) is chosen by size, after division by the
// greatest common divisor; then zstd or a range coder. The bytes: docs/formats/ledger.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stoker::ledger {

// Reads forward through foreign bytes; once it ran out or met nonsense it stays failed and gives 0.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && bytes_.empty(); }
  void Fail() { ok_ = false; }
  uint8_t Byte();
  uint64_t Varint();  // LEB128, at most ten bytes
  int64_t Signed();   // zigzag
  std::string_view Take(uint64_t size);
  std::string_view Rest() { return Take(bytes_.size()); }

 private:
  std::string_view bytes_;
  bool ok_ = true;
};

void PutVarint(std::string& out, uint64_t value);
void PutSigned(std::string& out, int64_t value);

// Holds the compressor's memory between calls. Not thread-safe.
class IntCodec {
 public:
  IntCodec();
  ~IntCodec();

  // kSize packs as small as it can; kSpeed leaves out what takes long to read.
  enum class Aim { kSize, kSpeed };
  void Encode(std::span<const int64_t> values, std::string& out, Aim aim = Aim::kSize);
  // Exactly `count` integers; false (and a failed reader) where the bytes do not hold them.
  bool Decode(ByteReader& in, size_t count, std::vector<int64_t>& out);

 private:
  struct Zstd;
  struct Plan;
  void EncodeTokens(std::string& out);
  void EncodeBytes(std::string& out);
  void PutPacked(std::string_view raw, std::string& out);
  bool TakePacked(ByteReader& in, size_t raw_size, std::string& out);
  bool DecodeTokens(ByteReader& in, size_t count);
  bool DecodeBytes(ByteReader& in, size_t count);
  void Transform(std::span<const int64_t> values, const Plan& plan, std::vector<uint64_t>& out);

  std::unique_ptr<Zstd> zstd_;
  std::vector<uint64_t> symbols_;  // the transformed column in hand
  std::vector<uint64_t> trial_;
  std::string raw_, packed_, frame_;
  Aim aim_ = Aim::kSize;
};

}  // namespace stoker::ledger
