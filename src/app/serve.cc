#include "app/serve.h"

#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <memory>

#include "base/durable_file.h"
#include "base/file.h"
#include "base/proc_info.h"
#include "base/text.h"
#include "base/thread.h"
#include "blob/dir/dir_store.h"
#include "cli/daemon.h"
#include "cli/options.h"
#include "collect/collector.h"
#include "device/nvml/nvml_probe.h"
#include "jobs/keeper.h"
#include "ledger/ledger.h"
#include "query/query.h"
#include "vault/vault.h"
#include "web/server.h"

namespace stoker::app {
namespace {

using ledger::Ledger;

struct ServeOptions {
  std::string listen;
  std::string nvml;
  bool any_port = false;
};

// "127.0.0.1:8090", "[::1]:8090" or ":8090".
Result<web::Config> ParseListen(const std::string& text) {
  const size_t colon = text.rfind(':');
  const auto port = colon == std::string::npos ? std::nullopt : ParseInt(text.substr(colon + 1));
  if (!port || *port < 0 || *port > 65535) {
    return Invalid("not an address and port such as 127.0.0.1:8090",
                   "stoker serve: --listen " + text);
  }
  std::string address = text.substr(0, colon);
  if (address.size() > 2 && address.front() == '[') address = address.substr(1, address.size() - 2);
  return web::Config{.address = address.empty() ? "127.0.0.1" : address,
                     .port = static_cast<uint16_t>(*port)};
}

// A command may hold the books for a moment; the daemon waits for it.
Result<std::unique_ptr<Ledger>> OpenAsWriter(cli::Context& context) {
  constexpr Millis kLook{50};
  for (Millis waited{0};; waited += kLook) {
    auto ledger = Ledger::Open(context.home.ledger(), Ledger::Mode::kWriter, context.clock);
    if (ledger || ledger.error().code != Code::kUnavailable || waited > Millis{5000}) return ledger;
    if (context.interrupted.WaitFor(kLook)) return ledger;
  }
}

// No driver is normal: the box then shows its host alone. A library that was named must load.
Result<std::unique_ptr<device::GpuProbe>> OpenCards(const std::string& nvml,
                                                    cli::Context& context) {
  auto probe = device::OpenNvml(nvml, context.clock);
  if (probe || !nvml.empty()) return probe;
  context.log.Info("device", "no cards: {}", probe.error().Line());
  return std::unique_ptr<device::GpuProbe>();
}

// Runs `step` about every `interval` until stopped; the next start is planned from the last one, so
// that a slow step does not shift the beat.
void Beat(StopSignal& stop, const Clock& clock, Millis interval,
          const std::function<void()>& step) {
  MonoTime next = clock.Mono();
  do {
    step();
    next = next + interval;
    const MonoTime now = clock.Mono();
    if (next < now) next = now;
  } while (!stop.WaitFor(std::chrono::duration_cast<Millis>(next - clock.Mono())));
}

void LogFailure(Logger& log, const char* module, const Status& status) {
  if (!status) log.Error(module, "{}", status.error().Line());
}

struct Parts {
  std::unique_ptr<Ledger> ledger;          // collect's and vault's
  std::unique_ptr<Ledger> pages;           // the pages' own reader
  std::unique_ptr<device::GpuProbe> gpus;  // null: none
  std::unique_ptr<device::HostProbe> host;
  std::unique_ptr<blob::ObjectStore> store;
  std::unique_ptr<web::Server> server;
  std::unique_ptr<collect::Collector> collector;
  std::unique_ptr<vault::Vault> vault;
};

Result<std::unique_ptr<web::Server>> BindServer(const ServeOptions& options, cli::Context& context,
                                                Ledger& ledger) {
  STOKER_ASSIGN(web::Config config, ParseListen(options.listen));
  config.names = {HostName()};
  auto server = web::Server::Bind(config, ledger, context.log, context.clock);
  if (server || !options.any_port || server.error().code != Code::kUnavailable) return server;
  config.port = 0;
  return web::Server::Bind(config, ledger, context.log, context.clock);
}

Result<Parts> OpenParts(const ServeOptions& options, cli::Context& context) {
  Parts parts;
  STOKER_ASSIGN(parts.gpus, OpenCards(options.nvml, context));
  STOKER_ASSIGN(parts.ledger, OpenAsWriter(context));
  STOKER_ASSIGN(parts.pages,
                Ledger::Open(context.home.ledger(), Ledger::Mode::kReader, context.clock));
  STOKER_ASSIGN(parts.store, blob::OpenDirStore(context.vault_folder()));
  STOKER_ASSIGN(parts.server, BindServer(options, context, *parts.pages));
  parts.host = device::MakeProcfsProbe("", context.clock);
  parts.collector = std::make_unique<collect::Collector>(
      collect::Config{.slow_every = static_cast<int>(context.settings.collect_slow_every)},
      parts.gpus.get(), *parts.host, *parts.ledger, context.log, context.clock);
  parts.vault = std::make_unique<vault::Vault>(
      vault::Config{.quiet = Millis(context.settings.vault_quiet_ms)}, *parts.ledger, *parts.store,
      context.log, context.clock);
  // Before anyone is told that we serve: a job that asks for cards must find them.
  LogFailure(context.log, "collect", parts.collector->Begin());
  return parts;
}

void RunCollect(StopSignal& stop, Parts& parts, cli::Context& context) {
  MonoTime maintained = context.clock.Mono();
  Beat(stop, context.clock, Millis(context.settings.collect_interval_ms), [&] {
    LogFailure(context.log, "collect", parts.collector->Tick());
    if (context.clock.Mono() - maintained < std::chrono::minutes(1)) return;
    maintained = context.clock.Mono();
    LogFailure(context.log, "ledger", parts.ledger->Maintain());
  });
}

void RunKeeper(StopSignal& stop, Parts& parts, cli::Context& context) {
  jobs::Keeper keeper(context.home, *parts.ledger, context.log, context.clock);
  Beat(stop, context.clock, Millis(500), [&] {
    LogFailure(context.log, "jobs", keeper.Tick());
    LogFailure(context.log, "query", query::SettleEndedJobs(*parts.ledger, context.clock));
  });
}

void RunVault(StopSignal& stop, Parts& parts, cli::Context& context) {
  while (!stop.stopped()) {
    const auto more = parts.vault->Tick(Millis(250));
    if (more) continue;
    context.log.Error("vault", "{}", more.error().Line());
    stop.WaitFor(Millis(1000));
  }
}

Status Announce(const Parts& parts, const web::Config& config, cli::Context& context) {
  const std::string address = fmt::format("{}:{}", config.address, parts.server->port());
  STOKER_TRY(WriteDurably(context.home.pid_file(), std::to_string(::getpid()) + "\n"));
  STOKER_TRY(WriteDurably(context.home.address_file(), address + "\n"));
  context.log.Info("serve", "serving http://{} from {}{}", address, context.home.root(),
                   parts.gpus && parts.gpus->simulated() ? " with SIMULATED cards" : "");
  return Ok();
}

Status RunUntilStopped(Parts& parts, cli::Context& context) {
  NamedThread collect("collect", [&](StopSignal& stop) { RunCollect(stop, parts, context); });
  NamedThread keeper("jobs", [&](StopSignal& stop) { RunKeeper(stop, parts, context); });
  NamedThread vault("vault", [&](StopSignal& stop) { RunVault(stop, parts, context); });
  NamedThread web("web", [&](StopSignal&) { parts.server->Run(); });
  while (!context.interrupted.WaitFor(Millis(3'600'000))) {
  }
  parts.server->Stop();
  parts.vault->Cancel();  // a copy in flight waits for the next start
  return Ok();
}

}  // namespace

Result<int> ServeCommand(cli::Context& context, const std::vector<std::string>& args) {
  ServeOptions serve{.listen = context.settings.serve_listen, .nvml = context.settings.serve_nvml};
  cli::Options options(
      "serve", "[--listen 127.0.0.1:8090] [--nvml FILE]",
      "The daemon: reads the cards, follows the jobs, ships the checkpoints, serves the pages.");
  options.Text("--listen", serve.listen, "address and port of the pages; port 0 takes any free one")
      .Text("--nvml", serve.nvml, "another NVML library, such as the simulator's")
      .Flag("--any-port", serve.any_port, "take a free port where the one asked for is in use");
  STOKER_PARSE(options, args, context);
  STOKER_ASSIGN(const web::Config config, ParseListen(serve.listen));
  auto lock = cli::TakeServeLock(context.home);
  if (!lock && lock.error().code == Code::kUnavailable) {
    return Unavailable("another stoker serve runs for this home", context.home.root(),
                       "its address is in serve.address");
  }
  if (!lock) return lock.error();
  STOKER_ASSIGN(Parts parts, OpenParts(serve, context));
  STOKER_TRY(Announce(parts, config, context));
  STOKER_TRY(RunUntilStopped(parts, context));
  Ignore(RemoveFile(context.home.address_file()));
  Ignore(RemoveFile(context.home.pid_file()));
  context.log.Info("serve", "stopped");
  return 0;
}

}  // namespace stoker::app
