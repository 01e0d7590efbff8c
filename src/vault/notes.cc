#include "vault/notes.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace stoker::vault {

ledger::Event CheckpointEvent(WallTime at, std::string_view kind, ledger::Severity severity,
                              const ledger::Checkpoint& checkpoint, std::string_view text) {
  ledger::Event event;
  event.at = at;
  event.kind = kind;
  event.severity = severity;
  event.job = checkpoint.job;
  const std::string epoch =
      checkpoint.epoch ? fmt::format(" (epoch {:g})", *checkpoint.epoch) : std::string();
  event.text = fmt::format("{}{} {}", Printable(BaseName(checkpoint.path)), epoch, text);
  Json data = {{"checkpoint", checkpoint.id},
               {"path", checkpoint.path},
               {"role", ledger::CheckpointRoleName(checkpoint.role)},
               {"bytes", checkpoint.bytes},
               {"waited_s", static_cast<double>((at - checkpoint.seen_at).count()) / 1000}};
  if (checkpoint.epoch) data["epoch"] = *checkpoint.epoch;
  if (!checkpoint.sha256.empty()) data["sha256"] = checkpoint.sha256;
  if (!checkpoint.reason.empty()) data["reason"] = checkpoint.reason;
  event.data_json = DumpJson(data);
  return event;
}

}  // namespace stoker::vault
