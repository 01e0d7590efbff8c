#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace stoker {

void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "stoker: internal error: %s does not hold at %s:%d\n", condition, file,
               line);
  std::abort();
}

}  // namespace stoker
