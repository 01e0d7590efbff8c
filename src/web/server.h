// The HTTP face: JSON under /api/v1, server-sent events, and the pages built into the program. Read
// only; loopback by default. One thread runs it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "ledger/ledger.h"

namespace stoker::web {

struct Config {
  std::string address = "127.0.0.1";
  uint16_t port = 8090;  // 0: any free one
};

class Server {
 public:
  // Binds at once: kUnavailable where the port is in use.
  static Result<std::unique_ptr<Server>> Bind(Config config, ledger::Ledger& ledger, Logger& log,
                                              const Clock& clock);
  virtual ~Server() = default;
  virtual uint16_t port() const = 0;
  virtual void Run() = 0;   // until Stop()
  virtual void Stop() = 0;  // from any thread
};

}  // namespace stoker::web
