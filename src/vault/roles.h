// What a checkpoint's name says about it, where the run said nothing.
#pragma once

#include <optional>
#include <string_view>

#include "ledger/records.h"

namespace stoker::vault {

// "best.pt", "model_best.pth", "last.ckpt", "epoch=4-step=8595.ckpt",
// "checkpoint-500/model.safetensors".
ledger::CheckpointRole RoleFromName(std::string_view path);
// The number after "epoch", "ep" or "e"; as the name counts, which may be from 0.
std::optional<double> EpochFromName(std::string_view path);
// "best", "last", "periodic", "final"; nullopt for other words.
std::optional<ledger::CheckpointRole> ParseRole(std::string_view word);

}  // namespace stoker::vault
