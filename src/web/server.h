// The HTTP face: JSON under /api/v1, server-sent events, and the pages built into the program. Read
// only (GET and HEAD); loopback by default. One thread runs it, whatever the number of viewers; no
// request, however broken or slow, ends it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "base/units.h"
#include "ledger/ledger.h"

namespace stoker::web {

struct Config {
  std::string address = "127.0.0.1";  // an IP address, or "localhost"
  uint16_t port = 8090;               // 0: any free one
  // Names that a request's Host header may carry beside loopback and the bound address. A page of a
  // hostile site that points its own name at this machine (DNS rebinding) is refused by that.
  std::vector<std::string> names;
  size_t max_connections = 256;      // one more is answered 503 and closed
  size_t max_viewers = 64;           // of them at /api/v1/live
  size_t max_queue_bytes = 1 << 20;  // waiting for one viewer; a slower one is dropped
  int send_buffer_bytes = 0;         // of the kernel for one viewer; 0: its default
  Millis request_timeout{15'000};    // for a whole request head, and between two of them
  Millis write_timeout{30'000};      // for one answer, or one live frame, to be taken
  Millis live_interval{1'000};       // the ledger is read this often for all viewers together
};

class Server {
 public:
  // Binds at once: kUnavailable where the port is in use, kDenied, kInvalid for an address that is
  // not of this machine. `ledger`, `log` and `clock` outlive the server.
  static Result<std::unique_ptr<Server>> Bind(Config config, ledger::Ledger& ledger, Logger& log,
                                              const Clock& clock);
  virtual ~Server() = default;
  virtual uint16_t port() const = 0;
  virtual void Run() = 0;   // until Stop(); one thread, once
  virtual void Stop() = 0;  // from any thread, also before Run()
};

}  // namespace stoker::web
