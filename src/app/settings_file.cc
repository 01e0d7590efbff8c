#include "app/settings_file.h"

#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"

namespace stoker::app {
namespace {

using cli::SettingRow;
using cli::Settings;

Status Take(const SettingRow& row, const toml::node& node, const std::string& where,
            Settings& settings) {
  if (row.text != nullptr) {
    const auto text = node.value_exact<std::string>();
    if (!text) return Invalid(std::string(row.key) + " must be a text in quotes", where);
    settings.*row.text = *text;
    return Ok();
  }
  const auto number = node.value_exact<int64_t>();
  if (!number || *number < row.min || *number > row.max) {
    return Invalid(std::string(row.key) + " must be a whole number from " +
                       std::to_string(row.min) + " to " + std::to_string(row.max),
                   where);
  }
  settings.*row.number = *number;
  return Ok();
}

Error UnknownKey(const std::string& key, const std::string& where) {
  std::vector<std::string> keys;
  for (const SettingRow& row : cli::SettingRows()) keys.emplace_back(row.key);
  const auto meant = Suggest(key, keys);
  return Invalid("no such setting: " + key, where,
                 meant ? "did you mean " + *meant + "?" : "docs/settings.md lists them");
}

// The library's exceptions end here.
Result<toml::table> Parse(std::string_view text, const std::string& path) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    return Invalid(std::string(error.description()),
                   path + ":" + std::to_string(error.source().begin.line));
  }
}

}  // namespace

Result<Settings> LoadSettings(const std::string& path) {
  Settings settings;
  const auto text = ReadFile(path, 1 << 20);
  if (!text && text.error().code == Code::kNotFound) return settings;
  if (!text) return text.error();
  STOKER_ASSIGN(const toml::table parsed, Parse(*text, path));
  for (const auto& [section, node] : parsed) {
    const toml::table* table = node.as_table();
    if (table == nullptr) return UnknownKey(std::string(section.str()), path);
    for (const auto& [key, value] : *table) {
      const std::string full = std::string(section.str()) + "." + std::string(key.str());
      const std::string where = path + ":" + std::to_string(value.source().begin.line);
      const auto& rows = cli::SettingRows();
      const auto row = std::find_if(rows.begin(), rows.end(),
                                    [&](const SettingRow& r) { return full == r.key; });
      if (row == rows.end()) return UnknownKey(full, where);
      STOKER_TRY(Take(*row, value, where, settings));
    }
  }
  return settings;
}

}  // namespace stoker::app
