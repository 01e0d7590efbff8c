// Serves the pages over a made-up night; see README.md.
#include <fmt/core.h>

#include <atomic>
#include <iostream>
#include <string>

#include "base/file.h"
#include "base/log.h"
#include "base/thread.h"
#include "made_up_night.h"
#include "web/server.h"

namespace stoker::e2e {
namespace {

Status AddEvent(ledger::Ledger& ledger, const std::string& text, WallTime at) {
  return ledger.Write([&](ledger::Writer& writer) -> Status {
    ledger::Event event;
    event.at = at;
    event.kind = "note";
    event.severity = ledger::Severity::kNotice;
    event.text = text;
    STOKER_TRY(writer.AddEvent(event));
    return Ok();
  });
}

Status Serve() {
  const SystemClock clock;
  STOKER_ASSIGN(const TempDir folder, TempDir::Make());
  STOKER_ASSIGN(auto ledger, ledger::Ledger::Open(JoinPath(folder.path(), "ledger.db"),
                                                  ledger::Ledger::Mode::kWriter, clock));
  STOKER_TRY(WriteNight(*ledger, clock.Now()));
  const auto log = MakeFdLogger(Fd(2), LogLevel::kInfo, clock);
  STOKER_ASSIGN(auto server, web::Server::Bind({.port = 0}, *ledger, *log, clock));
  std::atomic<bool> frozen = false;
  NamedThread collect("collect", [&](StopSignal& stop) {
    while (!stop.WaitFor(Millis(1000))) {
      if (!frozen) Ignore(WriteReadings(*ledger, clock.Now()));
    }
  });
  NamedThread web("web", [&](StopSignal&) { server->Run(); });
  fmt::print("http://127.0.0.1:{}/\n", server->port());
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "freeze") frozen = true;
    if (line.starts_with("event ")) Ignore(AddEvent(*ledger, line.substr(6), clock.Now()));
  }
  server->Stop();
  return Ok();
}

}  // namespace
}  // namespace stoker::e2e

int main() {
  const stoker::Status done = stoker::e2e::Serve();
  if (!done) fmt::print(stderr, "page_server: {}\n", done.error().Line());
  return done ? 0 : 1;
}
