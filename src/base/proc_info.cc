#include "base/proc_info.h"

#include <pwd.h>
#include <unistd.h>

#include <map>

#include "base/file.h"
#include "base/text.h"

namespace stoker {
namespace {

// Fields of /proc/PID/stat from the third on; the second may hold spaces and brackets.
Result<std::vector<std::string>> StatFields(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  STOKER_ASSIGN(const std::string text, ReadFile(path, 16 << 10));
  const size_t close = text.rfind(") ");
  if (close == std::string::npos) return NotFound("no such process", path);
  std::vector<std::string> fields;
  for (const std::string_view field : Split(Trim(std::string_view(text).substr(close + 2)), ' ')) {
    fields.emplace_back(field);
  }
  if (fields.size() < 20) return NotFound("no such process", path);
  return fields;
}

constexpr size_t kState = 0, kParent = 1, kStartTicks = 19;

}  // namespace

Result<std::string> BootId() {
  STOKER_ASSIGN(const std::string text, ReadFile("/proc/sys/kernel/random/boot_id", 256));
  return std::string(Trim(text));
}

Result<ProcessIdentity> IdentifyProcess(pid_t pid) {
  STOKER_ASSIGN(const auto fields, StatFields(pid));
  if (fields[kState] == "Z" || fields[kState] == "X") {
    return NotFound("the process has ended", std::to_string(pid));
  }
  ProcessIdentity identity;
  STOKER_ASSIGN(identity.boot_id, BootId());
  identity.pid = pid;
  identity.start_ticks = ParseInt(fields[kStartTicks]).value_or(0);
  return identity;
}

bool IsAlive(const ProcessIdentity& identity) {
  const auto now = IdentifyProcess(identity.pid);
  return now && *now == identity;
}

Result<std::vector<std::string>> ProcessArguments(pid_t pid) {
  STOKER_ASSIGN(std::string text, ReadFile("/proc/" + std::to_string(pid) + "/cmdline", 1 << 20));
  if (!text.empty() && text.back() == '\0') text.pop_back();
  std::vector<std::string> arguments;
  for (const std::string_view argument : Split(text, '\0')) arguments.emplace_back(argument);
  return arguments;
}

std::vector<std::pair<pid_t, pid_t>> ProcessParents() {
  std::vector<std::pair<pid_t, pid_t>> out;
  const auto entries = ListDir("/proc");
  if (!entries) return out;
  for (const DirEntry& entry : *entries) {
    const auto pid = ParseInt(entry.name);
    if (!pid) continue;
    const auto fields = StatFields(static_cast<pid_t>(*pid));
    if (!fields) continue;  // ended meanwhile
    out.emplace_back(static_cast<pid_t>(*pid),
                     static_cast<pid_t>(ParseInt((*fields)[kParent]).value_or(0)));
  }
  return out;
}

std::vector<pid_t> Descendants(pid_t root) {
  std::multimap<pid_t, pid_t> children;
  for (const auto& [pid, parent] : ProcessParents()) children.emplace(parent, pid);
  std::vector<pid_t> out{root};
  for (size_t i = 0; i < out.size(); ++i) {
    const auto [first, last] = children.equal_range(out[i]);
    for (auto it = first; it != last; ++it) out.push_back(it->second);
  }
  out.erase(out.begin());
  return out;
}

std::string UserName(uid_t uid) {
  passwd entry{};
  passwd* found = nullptr;
  std::string buffer(16 << 10, '\0');
  if (::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    return found->pw_name;
  }
  return std::to_string(uid);
}

std::string HostName() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0) return "unknown";
  return name;
}

}  // namespace stoker
