// Finding and starting `stoker serve` from a command.
#pragma once

#include <optional>
#include <string>

#include "base/file.h"
#include "base/result.h"
#include "cli/context.h"

namespace stoker::cli {

// Held by the daemon for as long as it lives. kUnavailable: another one serves this home.
Result<FileLock> TakeServeLock(const Home& home);
bool DaemonRuns(const Home& home);
// "127.0.0.1:8090" of the running daemon.
std::optional<std::string> DaemonAddress(const Home& home);
// Starts the daemon of this home where none runs, in a session of its own, and waits until it
// serves (bounded). The error says why it could not start.
Status EnsureDaemon(Context& context);

}  // namespace stoker::cli
