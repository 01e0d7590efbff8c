#include "vault/roles.h"

#include <cctype>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace stoker::vault {
namespace {

using ledger::CheckpointRole;

// Runs of letters and runs of digits: "epoch=4-step=8595" is epoch, 4, step, 8595.
std::vector<std::string> Words(std::string_view name) {
  std::vector<std::string> out;
  int last = 0;  // 1 letters, 2 digits
  for (const char c : ToLower(name)) {
    const auto byte = static_cast<unsigned char>(c);
    const int kind = std::isalpha(byte) != 0 ? 1 : std::isdigit(byte) != 0 ? 2 : 0;
    if (kind != 0 && kind != last) out.emplace_back();
    if (kind != 0) out.back() += c;
    last = kind;
  }
  return out;
}

std::string_view Stem(std::string_view name) { return name.substr(0, name.rfind('.')); }

CheckpointRole RoleOfWords(const std::vector<std::string>& words) {
  CheckpointRole role = CheckpointRole::kUnknown;
  for (const std::string& word : words) {
    if (word == "best") return CheckpointRole::kBest;
    if (word == "last" || word == "latest") role = CheckpointRole::kLast;
    if (role != CheckpointRole::kUnknown) continue;
    if (word == "final") role = CheckpointRole::kFinal;
    if (word == "epoch" || word == "step" || word == "checkpoint") role = CheckpointRole::kPeriodic;
  }
  const bool numbered = !words.empty() && std::isdigit(static_cast<unsigned char>(words.back()[0]));
  // "checkpoint.pt" alone is rewritten in place: that is a last one.
  if (role == CheckpointRole::kPeriodic && !numbered && words.size() == 1) {
    return CheckpointRole::kLast;
  }
  return role;
}

}  // namespace

CheckpointRole RoleFromName(std::string_view path) {
  const std::string name = BaseName(path);
  const CheckpointRole role = RoleOfWords(Words(Stem(name)));
  if (role != CheckpointRole::kUnknown) return role;
  // "checkpoint-500/optimizer.pt", "best/model.safetensors"; not "checkpoints/model.pt".
  return RoleOfWords(Words(BaseName(DirName(path))));
}

std::optional<double> EpochFromName(std::string_view path) {
  const std::vector<std::string> words = Words(Stem(BaseName(path)));
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "epoch" || words[i] == "ep" || words[i] == "e") {
      const std::optional<int64_t> number = ParseInt(words[i + 1]);
      if (number) return static_cast<double>(*number);
    }
  }
  return std::nullopt;
}

std::optional<CheckpointRole> ParseRole(std::string_view word) {
  for (const CheckpointRole role : {CheckpointRole::kBest, CheckpointRole::kLast,
                                    CheckpointRole::kPeriodic, CheckpointRole::kFinal}) {
    if (word == ledger::CheckpointRoleName(role)) return role;
  }
  return std::nullopt;
}

}  // namespace stoker::vault
