// A range coder for bytes of one distribution (rANS, Duda 2013, arXiv:1311.2540): close to the
// entropy where a dictionary finds nothing, as in noise. Decoding is bounded and refuses damage.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stoker::ledger {

// `bytes` must not be empty.
std::string RansEncode(std::string_view bytes);
// Exactly `size` bytes into `out`; false where `coded` does not hold them or holds more.
bool RansDecode(std::string_view coded, size_t size, std::string& out);

}  // namespace stoker::ledger
