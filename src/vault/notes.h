// The vault's events: what happened to a checkpoint, in a sentence and in numbers.
#pragma once

#include <string>
#include <string_view>

#include "ledger/records.h"

namespace stoker::vault {

// `text` follows the checkpoint's name: "best.pt (epoch 412) " + "is safe in folder /mnt".
ledger::Event CheckpointEvent(WallTime at, std::string_view kind, ledger::Severity severity,
                              const ledger::Checkpoint& checkpoint, std::string_view text);

}  // namespace stoker::vault
