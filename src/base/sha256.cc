#include "base/sha256.h"

#include <fcntl.h>
#include <openssl/evp.h>

#include "base/check.h"
#include "base/text.h"

namespace stoker {

struct Sha256::State {
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  STOKER_CHECK(EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr) == 1);
}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::Update(std::string_view bytes) {
  STOKER_CHECK(EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()) == 1);
}

std::string Sha256::FinishHex() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  STOKER_CHECK(EVP_DigestFinal_ex(state_->context.get(), digest, &size) == 1);
  return HexEncode({reinterpret_cast<const char*>(digest), size});
}

std::string Sha256Hex(std::string_view bytes) {
  Sha256 hash;
  hash.Update(bytes);
  return hash.FinishHex();
}

Result<std::string> Sha256OfFile(const std::string& path) {
  STOKER_ASSIGN(const Fd fd, OpenFile(path, O_RDONLY));
  Sha256 hash;
  std::string buffer(1 << 20, '\0');
  while (true) {
    STOKER_ASSIGN(const size_t got, ReadSome(fd, buffer.data(), buffer.size(), path));
    if (got == 0) return hash.FinishHex();
    hash.Update({buffer.data(), got});
  }
}

}  // namespace stoker
