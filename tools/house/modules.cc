#include "modules.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

namespace stoker::house {
namespace {

constexpr std::string_view kBegin = "<!-- modules: written by `house table --write` -->";
constexpr std::string_view kEnd = "<!-- /modules -->";
constexpr std::string_view kForm =
    "begin with one sentence, then the lines `Rank: N` and `May include: a, b`";

std::vector<std::string> Names(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const size_t comma = list.find(',');
    const std::string_view name = Trim(list.substr(0, comma));
    if (!name.empty() && name != "nothing") names.emplace_back(name);
    if (comma == list.npos) break;
    list.remove_prefix(comma + 1);
  }
  return names;
}

Module ParseReadme(std::string name, const File& readme, std::vector<Finding>& findings) {
  Module module;
  module.name = std::move(name);
  bool has_may = false, in_sentence = true;
  const auto lines = Lines(readme.text);
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = Trim(lines[i]);
    if (in_sentence && line.empty() && !module.sentence.empty()) in_sentence = false;
    if (line.starts_with("Rank:")) {
      const std::string_view number = Trim(line.substr(5));
      std::from_chars(number.data(), number.data() + number.size(), module.rank);
    } else if (line.starts_with("May include:")) {
      has_may = true;
      module.may_line = static_cast<int>(i) + 1;
      module.may_include = Names(line.substr(12));
    } else if (in_sentence && !line.empty()) {
      if (!module.sentence.empty()) module.sentence += ' ';
      module.sentence += line;
    }
  }
  if (module.rank < 0 || !has_may || module.sentence.empty()) {
    findings.push_back({readme.path, 1, "the module does not say what it is", std::string(kForm)});
  }
  return module;
}

// What one file includes from other modules, as findings and as edges for the note on unused names.
class RankCheck {
 public:
  RankCheck(const Tree& tree, std::vector<Finding>& findings) : tree_(tree), findings_(findings) {
    for (Module& module : ReadModules(tree, findings)) modules_.emplace(module.name, module);
  }

  void Run() {
    for (const auto& [name, module] : modules_) Line(module);
    for (const File& file : tree_.files()) {
      const std::string from(ModuleOf(file.path));
      if (!from.empty() && IsCode(file.path)) One(file, modules_[from]);
    }
    for (const auto& [name, module] : modules_) Unused(module);
  }

 private:
  // The README line itself: only lower ranks, so no pair can point both ways.
  void Line(const Module& module) {
    for (const std::string& other : module.may_include) {
      auto at = modules_.find(other);
      if (at == modules_.end() || at->second.rank < module.rank) continue;
      findings_.push_back({"src/" + module.name + "/README.md", module.may_line,
                           "rank " + std::to_string(module.rank) + " may not include " + other +
                               ", rank " + std::to_string(at->second.rank),
                           "includes point to lower ranks only"});
    }
  }

  void One(const File& file, const Module& from) {
    for (const Include& include : Includes(file.text)) {
      if (!include.quoted) continue;
      const size_t slash = include.path.find('/');
      const std::string to = include.path.substr(0, slash);
      auto at = modules_.find(to);
      if (slash == std::string::npos || at == modules_.end()) {
        findings_.push_back({file.path, include.line,
                             "\"" + include.path + "\" does not begin with a module",
                             "write \"module/file.h\" for ours and <file.h> for others"});
        continue;
      }
      if (to == from.name) continue;
      used_[from.name].insert(to);
      const auto& may = from.may_include;
      if (std::find(may.begin(), may.end(), to) == may.end()) {
        findings_.push_back({file.path, include.line, from.name + " may not include " + to,
                             at->second.rank < from.rank
                                 ? "name it in src/" + from.name + "/README.md or do without"
                                 : "rank " + std::to_string(from.rank) + " to rank " +
                                       std::to_string(at->second.rank) +
                                       ": move what both need to a lower rank"});
      }
    }
  }

  void Unused(const Module& module) {
    if (!used_.contains(module.name)) return;  // nothing built yet
    for (const std::string& other : module.may_include) {
      if (used_[module.name].contains(other)) continue;
      findings_.push_back({"src/" + module.name + "/README.md", module.may_line,
                           "names " + other + ", which nothing includes", "take it from the line",
                           true});
    }
  }

  const Tree& tree_;
  std::vector<Finding>& findings_;
  std::map<std::string, Module> modules_;
  std::map<std::string, std::set<std::string>> used_;
};

}  // namespace

std::vector<Module> ReadModules(const Tree& tree, std::vector<Finding>& findings) {
  std::set<std::string> names;
  for (const File& file : tree.files()) {
    if (const auto name = ModuleOf(file.path); !name.empty()) names.emplace(name);
  }
  std::vector<Module> modules;
  for (const std::string& name : names) {
    const std::string path = "src/" + name + "/README.md";
    if (const File* readme = tree.Find(path)) {
      modules.push_back(ParseReadme(name, *readme, findings));
    } else {
      findings.push_back({path, 1, "the module has no README.md", std::string(kForm)});
      modules.push_back({name, "", -1, 1, {}});
    }
  }
  std::stable_sort(modules.begin(), modules.end(),
                   [](const Module& a, const Module& b) { return a.rank < b.rank; });
  return modules;
}

std::vector<Finding> CheckRanks(const Tree& tree) {
  std::vector<Finding> findings;
  RankCheck(tree, findings).Run();
  return findings;
}

std::string ModuleTable(const std::vector<Module>& modules) {
  std::string table = "| rank | module | its one sentence | may include |\n|---|---|---|---|\n";
  for (const Module& module : modules) {
    std::string may;
    for (const std::string& name : module.may_include) may += (may.empty() ? "" : ", ") + name;
    std::string sentence = module.sentence;
    for (size_t at = sentence.find('|'); at != sentence.npos; at = sentence.find('|', at + 2)) {
      sentence.insert(at, "\\");
    }
    table += "| " + std::to_string(module.rank) + " | [`" + module.name + "/`](src/" + module.name +
             ") | " + sentence + " | " + (may.empty() ? "nothing" : may) + " |\n";
  }
  return table;
}

std::string WithModuleTable(const std::string& document, const std::vector<Module>& modules) {
  const size_t begin = document.find(kBegin);
  const size_t end = document.find(kEnd);
  if (begin == document.npos || end == document.npos || end < begin) return document;
  const size_t body = begin + kBegin.size();
  return document.substr(0, body) + "\n" + ModuleTable(modules) + document.substr(end);
}

std::vector<Finding> CheckTable(const Tree& tree) {
  const std::string path = "ARCHITECTURE.md";
  std::vector<Finding> findings;
  const File* document = tree.Find(path);
  if (!document || document->text.find(kBegin) == std::string::npos ||
      document->text.find(kEnd) == std::string::npos) {
    findings.push_back(
        {path, 1, "the module table is missing",
         "put it between the lines " + std::string(kBegin) + " and " + std::string(kEnd)});
    return findings;
  }
  const std::string renewed = WithModuleTable(document->text, ReadModules(tree, findings));
  if (renewed != document->text) {
    const int line = LineAt(document->text, document->text.find(kBegin));
    findings.push_back({path, line, "the module table differs from src/*/README.md",
                        "run tools/house/run table --write"});
  }
  return findings;
}

}  // namespace stoker::house
