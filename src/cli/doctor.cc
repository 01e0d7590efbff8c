// stoker doctor: what this machine can and cannot do for Stoker, and how to fix it.
#include <fcntl.h>
#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "cli/books.h"
#include "cli/command.h"
#include "cli/daemon.h"
#include "cli/options.h"
#include "device/host_probe.h"
#include "device/nvml/nvml_probe.h"
#include "ledger/ledger.h"

namespace stoker::cli {
namespace {

struct Finding {
  std::string what;   // "cards"
  std::string state;  // ok, note, problem
  std::string text;
  std::string advice;  // how to fix it; may be empty
};
using Findings = std::vector<Finding>;

Finding HomeFinding(const Context& context) {
  const std::string& root = context.home.root();
  if (const Status made = MakeDirs(root, 0750); !made) {
    return {"home", "problem", made.error().Line(), "choose another with --home or $STOKER_HOME"};
  }
  const auto probe = OpenFile(root + "/.doctor", O_WRONLY | O_CREAT, 0600);
  if (!probe)
    return {"home", "problem", probe.error().Line(), "choose another with --home or $STOKER_HOME"};
  Ignore(RemoveFile(root + "/.doctor"));
  const auto free = FreeBytes(root);
  constexpr int64_t kLittle = 2'000'000'000;
  const std::string text =
      fmt::format("{}, {} free", root, FormatBytes(static_cast<double>(free.value_or(0))));
  if (free && *free < kLittle) {
    return {"home", "problem", text, "records are safe, but checkpoints may not fit: make room"};
  }
  return {"home", "ok", text, ""};
}

Finding BooksFinding(Context& context) {
  const auto books = OpenBooks(context);
  if (!books) return {"ledger", "problem", books.error().Line(), ""};
  const auto stat = StatFile(context.home.ledger());
  return {"ledger", "ok",
          fmt::format("{}, {}", context.home.ledger(),
                      stat ? FormatBytes(static_cast<double>(stat->size_bytes)) : "new"),
          ""};
}

// What the daemon itself cost at its last reading.
std::string OwnCost(ledger::Ledger& books) {
  const auto latest = [&](ledger::Metric metric) -> std::optional<double> {
    const auto series = books.FindSeries(metric, {.scope = ledger::Scope::kHost});
    if (!series || !*series) return std::nullopt;
    const auto sample = books.Latest(**series);
    if (!sample || !*sample || (*sample)->absence != Absence::kNone) return std::nullopt;
    return (*sample)->value;
  };
  const auto cpu = latest(ledger::Metric::kServeCpuRatio);
  const auto memory = latest(ledger::Metric::kServeMemoryBytes);
  if (!cpu || !memory) return "";
  return fmt::format("; it uses {:.1f} % of one core and {}", *cpu * 100, FormatBytes(*memory));
}

Finding DaemonFinding(Context& context) {
  const auto address = DaemonAddress(context.home);
  if (!address) {
    return {"daemon", "note",
            "not running: nothing is sampled and no checkpoint is copied meanwhile",
            "stoker serve, or any stoker run, starts it"};
  }
  std::string cost;
  if (const auto books = OpenBooks(context)) cost = OwnCost(**books);
  return {"daemon", "ok", "http://" + *address + cost, ""};
}

Findings CardFindings(const Context& context) {
  auto probe = device::OpenNvml(context.settings.serve_nvml, context.clock);
  if (!probe) {
    return {{"cards", "note", "none: " + probe.error().Line(),
             "install NVIDIA's driver if this box has cards; without cards Stoker shows the host "
             "alone"}};
  }
  std::string facts;
  for (const auto& [key, value] : (*probe)->Facts())
    facts += fmt::format("{}{} {}", facts.empty() ? "" : ", ", key, value);
  Findings out = {{"driver", (*probe)->simulated() ? "note" : "ok",
                   facts + ((*probe)->simulated() ? " (SIMULATED)" : ""), ""}};
  const auto cards = (*probe)->List();
  if (!cards) {
    out.push_back({"cards", "problem", cards.error().Line(), "see dmesg for NVRM and Xid lines"});
    return out;
  }
  for (const auto& card : *cards) {
    const auto reading = (*probe)->Read(card.index, {.slow = true});
    std::string missing;
    const auto need = [&](const char* name, bool has, Absence why) {
      if (!has)
        missing += fmt::format("{}{} ({})", missing.empty() ? "" : ", ", name, AbsenceName(why));
    };
    need("power", reading.power_average || reading.power_instant, reading.power_average.absence());
    need("energy counter", reading.energy.has_value(), reading.energy.absence());
    need("margin", reading.margin.has_value(), reading.margin.absence());
    need("throttle reasons", reading.throttle.has_value(), reading.throttle.absence());
    need("temperature", reading.temperature.has_value(), reading.temperature.absence());
    out.push_back({fmt::format("GPU {}", card.index), missing.empty() ? "ok" : "note",
                   card.name + (missing.empty() ? ", gives everything Stoker reads"
                                                : "; does not give: " + missing),
                   ""});
  }
  return out;
}

Findings HostFindings(const Context& context) {
  const auto probe = device::MakeProcfsProbe("", context.clock);
  const auto facts = probe->Facts();
  const auto reading = probe->Read();
  Findings out = {
      {"host", "ok",
       fmt::format("{}, {} cores, {}, Linux {}", facts.hostname, facts.cores,
                   facts.memory_total ? FormatBytes(facts.memory_total->value) : "memory unknown",
                   facts.kernel),
       ""}};
  if (reading.pressure_cpu.absence() == Absence::kUnsupported) {
    out.push_back({"pressure", "note", "the kernel gives no pressure stall information",
                   "boot with psi=1 to see waiting for CPU and disks"});
  }
  return out;
}

Findings ProgramFindings(Context& context) {
  Findings out;
  const auto need = [&](const std::string& program, const char* state, const std::string& without,
                        const std::string& advice) {
    const bool there = FileExists(context.bin_dir + "/" + program);
    out.push_back(
        {program, there ? "ok" : state, there ? "beside stoker" : without, there ? "" : advice});
  };
  need("stoker-shim", "problem", "missing: stoker run cannot start jobs",
       "build or install it beside stoker");
  need("stoker-train", "note", "missing: no native training here",
       "install LibTorch (scripts/setup) and build again");
  for (const char* program : {"git", "rsvg-convert"}) {
    const bool there = FindProgram(program, context.environment, "").has_value();
    const std::string without = std::string(program) == "git"
                                    ? "jobs are recorded without their commit"
                                    : "stoker photos dishes cannot draw";
    out.push_back({program, there ? "ok" : "note", there ? "found" : "missing: " + without,
                   there ? "" : "install it"});
  }
  return out;
}

void Print(Context& context, const Findings& findings) {
  Json json;
  json["schema_version"] = 1;
  json["findings"] = Json::array();
  for (const Finding& f : findings) {
    if (context.json) {
      json["findings"].push_back(
          {{"what", f.what}, {"state", f.state}, {"text", f.text}, {"advice", f.advice}});
    } else {
      const char* mark = f.state == "ok" ? "ok     " : f.state == "note" ? "note   " : "PROBLEM";
      context.out(fmt::format("{} {:<13} {}\n", mark, f.what, Printable(f.text)));
      if (!f.advice.empty())
        context.out(fmt::format("        {:<13} -> {}\n", "", Printable(f.advice)));
    }
  }
  if (context.json) context.PrintJson(json);
}

}  // namespace

Result<int> DoctorCommand(Context& context, const std::vector<std::string>& args) {
  Options options("doctor", "",
                  "What this machine can and cannot do for Stoker, and how to fix it.");
  STOKER_PARSE(options, args, context);
  Findings findings = {HomeFinding(context), BooksFinding(context), DaemonFinding(context)};
  for (const auto& more :
       {CardFindings(context), HostFindings(context), ProgramFindings(context)}) {
    findings.insert(findings.end(), more.begin(), more.end());
  }
  Print(context, findings);
  for (const Finding& f : findings) {
    if (f.state == "problem") return 1;
  }
  return 0;
}

}  // namespace stoker::cli
