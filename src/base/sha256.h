// SHA-256, incremental and of whole files.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace stoker {

class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();
  void Update(std::string_view bytes);
  std::string FinishHex();  // 64 lower-case hex digits; the object is spent

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string Sha256Hex(std::string_view bytes);
Result<std::string> Sha256OfFile(const std::string& path);

}  // namespace stoker
