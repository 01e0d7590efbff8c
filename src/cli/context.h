// What a command gets from app/: where the home is, how to print, and the programs beside it. No
// command reads the environment or writes to a descriptor by itself.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/home.h"
#include "base/json.h"
#include "base/log.h"
#include "base/thread.h"
#include "cli/settings.h"
#include "report/text.h"

namespace stoker::cli {

struct Context {
  Home home;
  Settings settings;
  bool json = false;
  report::TextStyle style;
  bool out_is_terminal = false;
  std::vector<std::string> environment;  // "K=V"
  std::string cwd;
  std::string bin_dir;  // folder of the running program
  std::string user;
  const Clock& clock;
  Logger& log;
  StopSignal& interrupted;                    // set by SIGINT and SIGTERM
  std::function<void(std::string_view)> out;  // standard output
  std::function<void(std::string_view)> err;  // standard error

  // Value of an environment variable; empty where it is not set.
  std::string Env(std::string_view name) const;
  std::string vault_folder() const;
  void PrintJson(const Json& json) const;  // indented, with a final newline
};

}  // namespace stoker::cli
