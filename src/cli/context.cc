#include "cli/context.h"

namespace stoker::cli {

std::string Context::Env(std::string_view name) const {
  for (const std::string& entry : environment) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
  }
  return {};
}

std::string Context::vault_folder() const {
  return settings.vault_folder.empty() ? home.vault() : settings.vault_folder;
}

void Context::PrintJson(const Json& json) const { out(DumpJson(json, 1) + "\n"); }

}  // namespace stoker::cli
