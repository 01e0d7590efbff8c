// STOKER_CHECK ends the program on a bug of ours. Never used on input: bad input is an Error.
#pragma once

namespace stoker {
[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);
}  // namespace stoker

#define STOKER_CHECK(condition) \
  ((condition) ? void(0) : ::stoker::CheckFailed(#condition, __FILE__, __LINE__))
