// stoker vault status and stoker vault verify.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "blob/dir/dir_store.h"
#include "cli/books.h"
#include "cli/command.h"
#include "cli/options.h"
#include "vault/status.h"
#include "vault/vault.h"
#include "vault/verify.h"

namespace stoker::cli {
namespace {

Result<int> VaultStatusCommand(Context& context, const std::vector<std::string>& args) {
  Options options("vault status", "", "How far the copies are, and what waits.");
  STOKER_PARSE(options, args, context);
  STOKER_ASSIGN(const auto books, OpenBooks(context));
  STOKER_ASSIGN(const auto status, vault::ReadStatus(*books, context.clock.Now()));
  Json json;
  json["schema_version"] = 1;
  json["store"] = {{"name", vault::Config().store_name}, {"folder", context.vault_folder()}};
  json["waiting"] = status.waiting;
  json["waiting_bytes"] = status.waiting_bytes;
  json["behind_s"] = status.behind.count();
  json["last_safe_at"] =
      status.last_safe_at ? Json(FormatTime(*status.last_safe_at)) : Json(nullptr);
  json["states"] = Json::object();
  for (const auto& [state, count] : status.by_state) {
    json["states"][std::string(ledger::CheckpointStateName(state))] = {{"count", count.count},
                                                                       {"bytes", count.bytes}};
  }
  if (context.json) {
    context.PrintJson(json);
    return 0;
  }
  context.out(fmt::format("store {}: {}\n", vault::Config().store_name, context.vault_folder()));
  for (const auto& [state, count] : status.by_state) {
    context.out(fmt::format("  {:<11} {:>6}  {}\n", ledger::CheckpointStateName(state), count.count,
                            FormatBytes(static_cast<double>(count.bytes))));
  }
  context.out(status.waiting == 0
                  ? "nothing waits\n"
                  : fmt::format("{} wait ({}), the oldest for {}\n", status.waiting,
                                FormatBytes(static_cast<double>(status.waiting_bytes)),
                                FormatDuration(status.behind)));
  return 0;
}

Result<int> VaultVerifyCommand(Context& context, const std::vector<std::string>& args) {
  std::string id_text;
  Options options("vault verify", "[ID]", "Reads every copy again and compares its SHA-256.");
  options.Optional("ID", id_text, "only copies of this job");
  STOKER_PARSE(options, args, context);
  std::optional<int64_t> job;
  STOKER_ASSIGN(const auto books, OpenBooks(context));
  if (!id_text.empty()) {
    STOKER_ASSIGN(job, ParseJobId(id_text));
    STOKER_TRY(books->JobById(*job));
  }
  STOKER_ASSIGN(const auto store, blob::OpenDirStore(context.vault_folder()));
  STOKER_ASSIGN(const auto report,
                vault::VerifyCopies(*books, *store, vault::Config().store_name, job));
  Json json;
  json["schema_version"] = 1;
  json["copies"] = report.copies.size();
  json["bad"] = Json::array();
  for (const auto& check : report.copies) {
    if (check.good) continue;
    json["bad"].push_back({{"checkpoint", check.checkpoint.id},
                           {"path", check.checkpoint.path},
                           {"reason", check.reason}});
    if (!context.json)
      context.out(
          fmt::format("BAD {}: {}\n", Printable(check.checkpoint.path), Printable(check.reason)));
  }
  json["bytes_read"] = report.bytes_read;
  if (context.json) {
    context.PrintJson(json);
  } else {
    context.out(fmt::format("{} copies read ({}), {} bad\n", report.copies.size(),
                            FormatBytes(static_cast<double>(report.bytes_read)), report.bad));
  }
  return report.bad == 0 ? 0 : 1;
}

constexpr const char* kUsage = "usage: stoker vault status\n       stoker vault verify [ID]\n";

}  // namespace

Result<int> VaultCommand(Context& context, const std::vector<std::string>& args) {
  const std::string verb = args.empty() ? "" : args.front();
  const std::vector<std::string> rest(args.begin() + (args.empty() ? 0 : 1), args.end());
  if (verb == "status") return VaultStatusCommand(context, rest);
  if (verb == "verify") return VaultVerifyCommand(context, rest);
  if (verb == "--help" || verb == "-h") {
    context.out(kUsage);
    return 0;
  }
  return Invalid(verb.empty() ? "say what to do" : "no such command: " + verb, "stoker vault",
                 "status or verify");
}

}  // namespace stoker::cli
