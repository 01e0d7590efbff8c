// Words that only some folders may use, and the plain looks of a file.
#pragma once

#include <vector>

#include "tree.h"

namespace stoker::house {

// A line that must break a ban says so on the same line: `// house: allow WORD: why`.
std::vector<Finding> CheckBans(const Tree& tree);

}  // namespace stoker::house
