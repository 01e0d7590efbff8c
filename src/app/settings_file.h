// Reads stoker.toml into Settings. An absent file is all defaults; an unknown key is an error with
// a suggestion, so that a typing slip never passes for a default.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/settings.h"

namespace stoker::app {

Result<cli::Settings> LoadSettings(const std::string& path);

}  // namespace stoker::app
