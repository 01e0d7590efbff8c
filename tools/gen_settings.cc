// Generates src/cli/settings.h, settings_table.cc, docs/settings.md and docs/stoker.toml from
// src/cli/settings.json. `gen_settings SOURCE_DIR` writes, `gen_settings --check SOURCE_DIR`
// compares.
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Json = nlohmann::ordered_json;

std::string ReadText(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

// "serve.listen" becomes serve_listen.
std::string Field(std::string key) {
  for (char& c : key) {
    if (c == '.') c = '_';
  }
  return key;
}

bool IsInt(const Json& s) { return s["type"] == "int"; }

std::string Header(const Json& settings) {
  std::string out =
      "// Generated from settings.json by tools/gen_settings.cc: edit that file, not this one.\n"
      "// clang-format off\n"
      "#pragma once\n\n#include <cstdint>\n#include <string>\n#include <vector>\n\n"
      "namespace stoker::cli {\n\n"
      "// What stoker.toml may say, with the defaults in place.\nstruct Settings {\n";
  for (const Json& s : settings) {
    const std::string sentence = s["sentence"];
    out +=
        "  // " + std::string(1, static_cast<char>(std::toupper(sentence[0]))) + sentence.substr(1);
    out += s["unit"] == "" ? ".\n" : " (" + s["unit"].get<std::string>() + ").\n";
    out += IsInt(s) ? "  int64_t " : "  std::string ";
    out += Field(s["key"]) + " = " + s["default"].dump() + ";\n";
  }
  out +=
      "};\n\n"
      "// One row of settings.json; exactly one of `text` and `number` is set.\n"
      "struct SettingRow {\n  const char* key;\n  const char* sentence;\n"
      "  std::string Settings::*text;\n  int64_t Settings::*number;\n"
      "  int64_t min;\n  int64_t max;\n};\n"
      "const std::vector<SettingRow>& SettingRows();\n\n}  // namespace stoker::cli\n";
  return out;
}

std::string Table(const Json& settings) {
  std::string out =
      "// Generated from settings.json by tools/gen_settings.cc: edit that file, not this one.\n"
      "// clang-format off\n"
      "#include \"cli/settings.h\"\n\nnamespace stoker::cli {\n\n"
      "const std::vector<SettingRow>& SettingRows() {\n"
      "  static const std::vector<SettingRow> kRows = {\n";
  for (const Json& s : settings) {
    const std::string field = "&Settings::" + Field(s["key"]);
    out += "      {" + s["key"].dump() + ",\n       " + s["sentence"].dump() + ",\n       ";
    out += (IsInt(s) ? "nullptr, " + field : field + ", nullptr");
    out += ", " + std::to_string(s.value("min", int64_t{0})) + ", " +
           std::to_string(s.value("max", int64_t{0})) + "},\n";
  }
  return out + "  };\n  return kRows;\n}\n\n}  // namespace stoker::cli\n";
}

std::string Manual(const Json& settings) {
  std::string out =
      "# Settings\n\nGenerated from `src/cli/settings.json`. They stand in `stoker.toml` in "
      "Stoker's "
      "home; `docs/stoker.toml` is an\nexample with every default.\n\n"
      "| setting | default | unit | what it does |\n|---|---|---|---|\n";
  for (const Json& s : settings) {
    const std::string value = IsInt(s) ? s["default"].dump() : s["default"].get<std::string>();
    out += "| `" + s["key"].get<std::string>() + "` | " + (value.empty() ? "" : "`" + value + "`") +
           " | " + s["unit"].get<std::string>() + " | " + s["sentence"].get<std::string>() + " |\n";
  }
  return out;
}

std::string Example(const Json& settings) {
  std::string out = "# Generated from src/cli/settings.json: every setting with its default.\n";
  std::string section;
  for (const Json& s : settings) {
    const std::string key = s["key"];
    const std::string head = key.substr(0, key.find('.'));
    if (head != section) out += "\n[" + head + "]\n";
    section = head;
    out += "# " + s["sentence"].get<std::string>() + "\n" + key.substr(head.size() + 1) + " = " +
           s["default"].dump() + "\n";
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  const bool check = !args.empty() && args[0] == "--check";
  if (args.size() != (check ? 2u : 1u)) {
    std::cerr << "usage: gen_settings [--check] SOURCE_DIR\n";
    return 2;
  }
  const std::string root = args.back() + "/";
  const Json settings = Json::parse(ReadText(root + "src/cli/settings.json"))["settings"];
  const std::map<std::string, std::string> files = {
      {"src/cli/settings.h", Header(settings)},
      {"src/cli/settings_table.cc", Table(settings)},
      {"docs/settings.md", Manual(settings)},
      {"docs/stoker.toml", Example(settings)},
  };
  int stale = 0;
  for (const auto& [name, text] : files) {
    if (!check) {
      std::ofstream(root + name, std::ios::binary) << text;
    } else if (ReadText(root + name) != text) {
      std::cerr << name << ": differs from settings.json (run gen_settings " << args.back()
                << ")\n";
      stale = 1;
    }
  }
  return stale;
}
