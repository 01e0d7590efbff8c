// Feeds Examine() with anything under each of the names that choose a parser. Properties: no crash,
// no endless loop, and a file called whole is no longer whole with its last byte cut off.
// Run: build/fuzz/bin/checkpoint_fuzz -max_len=4096 -timeout=5 -rss_limit_mb=512
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/fd.h"
#include "vault/handmade.h"
#include "vault/whole.h"

using stoker::Fd;
using stoker::Ignore;
using stoker::WriteAll;
namespace vault = stoker::vault;
namespace handmade = stoker::vault::handmade;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static constexpr const char* kNames[] = {"a.pt", "a.safetensors", "a.onnx", "a.bin"};
  const std::string name = kNames[data[0] % 4];
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Fd fd(::memfd_create("fuzz", MFD_CLOEXEC));
  STOKER_CHECK(fd.valid());
  Ignore(WriteAll(fd, bytes, name));
  const auto verdict = vault::ExamineFd(fd, name);
  if (!verdict || verdict->proof != vault::Proof::kWhole || verdict->format == "onnx") return 0;
  STOKER_CHECK(::ftruncate(fd.get(), static_cast<off_t>(bytes.size()) - 1) == 0);
  const auto cut = vault::ExamineFd(fd, name);
  STOKER_CHECK(!cut || cut->proof != vault::Proof::kWhole);
  return 0;
}

// Starts from whole files, which random bytes would hardly ever become.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  if (size > 1 && seed % 61 != 0) return LLVMFuzzerMutate(data, size, max_size);
  const handmade::ZipOptions options{seed % 3 == 0, seed % 5 == 0, true, seed % 7 == 0, ""};
  const std::string made = seed % 4 == 0   ? handmade::TorchZip(seed % 200, seed, options)
                           : seed % 4 == 1 ? handmade::SimpleSafetensors(seed % 200, seed)
                           : seed % 4 == 2 ? handmade::Onnx(seed % 200, seed)
                                           : handmade::LegacyTorch(seed % 200, seed);
  if (made.size() + 1 > max_size) return LLVMFuzzerMutate(data, size, max_size);
  data[0] = static_cast<uint8_t>(seed % 4);
  made.copy(reinterpret_cast<char*>(data) + 1, made.size());
  return made.size() + 1;
}
