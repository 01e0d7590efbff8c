#include "ledger/records.h"

#include <array>
#include <cstddef>

namespace stoker::ledger {
namespace {

// Names by the number of the enum, which is also what the ledger stores: append only.
constexpr std::array<std::string_view, 6> kJobStates{"queued", "running", "succeeded",
                                                     "failed", "stopped", "lost"};
constexpr std::array<std::string_view, 4> kJobOrigins{"launched", "adopted", "imported", "slurm"};
constexpr std::array<std::string_view, 5> kRoles{"best", "last", "periodic", "final", "unknown"};
constexpr std::array<std::string_view, 7> kCheckpointStates{
    "seen", "whole", "shipping", "safe", "damaged", "superseded", "gone"};
constexpr std::array<std::string_view, 4> kSeverities{"info", "notice", "warning", "fault"};

template <typename Enum, size_t kSize>
std::optional<Enum> Find(const std::array<std::string_view, kSize>& names, std::string_view name) {
  for (size_t i = 0; i < kSize; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view JobStateName(JobState state) { return kJobStates[static_cast<size_t>(state)]; }
std::optional<JobState> ParseJobState(std::string_view name) {
  return Find<JobState>(kJobStates, name);
}
std::string_view JobOriginName(JobOrigin origin) {
  return kJobOrigins[static_cast<size_t>(origin)];
}
std::optional<JobOrigin> ParseJobOrigin(std::string_view name) {
  return Find<JobOrigin>(kJobOrigins, name);
}
std::string_view CheckpointRoleName(CheckpointRole role) {
  return kRoles[static_cast<size_t>(role)];
}
std::string_view CheckpointStateName(CheckpointState state) {
  return kCheckpointStates[static_cast<size_t>(state)];
}
std::string_view SeverityName(Severity severity) {
  return kSeverities[static_cast<size_t>(severity)];
}

}  // namespace stoker::ledger
