// Which commit a job ran from.
#pragma once

#include <string>

namespace stoker::jobs {

// {"commit":"…","branch":"main","dirty":true} of the work tree that `cwd` lies in; {} where there
// is none, or no git, or where git does not answer soon. Untracked files do not make a tree dirty.
std::string GitFacts(const std::string& cwd);

}  // namespace stoker::jobs
