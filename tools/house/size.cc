#include "size.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace stoker::house {
namespace {

constexpr int kLongFunction = 60;

struct Entry {
  int lines;
  std::string where;
};

int Percentile(const std::vector<Entry>& sorted, double share) {
  if (sorted.empty()) return 0;
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<size_t>(rank, 1) - 1].lines;
}

void Sort(std::vector<Entry>& entries) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.lines < b.lines; });
}

std::vector<std::string> Longest(const std::vector<Entry>& sorted) {
  std::vector<std::string> out;
  for (size_t i = 0; i < 3 && i < sorted.size(); ++i) {
    const Entry& entry = sorted[sorted.size() - 1 - i];
    out.push_back(entry.where + " " + std::to_string(entry.lines));
  }
  return out;
}

std::string Fixed(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

void Hold(SizeReport& report, const std::string& what, double now, double limit) {
  if (now <= limit + 1e-9) return;
  report.findings.push_back({"tools/house/size.ratchet", 1,
                             what + " is " + Fixed(now) + ", allowed is " + Fixed(limit),
                             "split the longest; tools/house/run size lists them"});
}

void Hold(SizeReport& report, const SizeFigures& limits) {
  Hold(report, "95 % of functions: lines", report.figures.function_p95, limits.function_p95);
  Hold(report, "functions over 60 lines: percent", report.figures.over_60_percent,
       limits.over_60_percent);
  Hold(report, "95 % of files: lines", report.figures.file_p95, limits.file_p95);
}

}  // namespace

SizeReport MeasureSize(const Tree& tree, const SizeFigures& ratchet) {
  SizeReport report;
  std::vector<Entry> files, functions;
  for (const File& file : tree.files()) {
    if (!IsCode(file.path) || IsGenerated(file.text)) continue;
    const int lines = static_cast<int>(Lines(file.text).size());
    if (lines > ratchet.file_max) {
      report.findings.push_back(
          {file.path, 1,
           std::to_string(lines) + " lines, allowed are " + std::to_string(ratchet.file_max),
           "split it by what it does"});
    }
    if (ForTests(file.path)) continue;
    report.lines += lines;
    files.push_back({lines, file.path});
    for (const Function& f : Functions(file.text)) {
      functions.push_back({f.lines, file.path + ":" + std::to_string(f.line) + " " + f.name});
    }
  }
  Sort(files);
  Sort(functions);
  const auto over = std::count_if(functions.begin(), functions.end(),
                                  [](const Entry& e) { return e.lines > kLongFunction; });
  report.files = static_cast<int>(files.size());
  report.functions = static_cast<int>(functions.size());
  report.function_median = Percentile(functions, 0.5);
  report.function_max = Percentile(functions, 1);
  report.file_median = Percentile(files, 0.5);
  report.figures = {Percentile(functions, 0.95),
                    functions.empty() ? 0 : 100.0 * static_cast<double>(over) / report.functions,
                    Percentile(files, 0.95), Percentile(files, 1)};
  report.longest_functions = Longest(functions);
  report.longest_files = Longest(files);
  Hold(report, ratchet);
  return report;
}

std::string SizeTable(const SizeReport& report, const SizeFigures& ratchet) {
  char text[600];
  const SizeFigures& now = report.figures;
  std::snprintf(text, sizeof text,
                "product code: %d files, %ld lines, %d functions\n"
                "%-18s %7s %5s %5s   %s\n"
                "%-18s %7d %5d %5d   p95 %d; over 60 lines: %.1f %% of %.1f %%\n"
                "%-18s %7d %5d %5d   p95 %d, max %d\n",
                report.files, report.lines, report.functions, "", "median", "p95", "max", "allowed",
                "lines a function", report.function_median, now.function_p95, report.function_max,
                ratchet.function_p95, now.over_60_percent, ratchet.over_60_percent, "lines a file",
                report.file_median, now.file_p95, now.file_max, ratchet.file_p95, ratchet.file_max);
  std::string out = text;
  for (const std::string& entry : report.longest_functions) out += "  longest: " + entry + "\n";
  for (const std::string& entry : report.longest_files) out += "  longest: " + entry + "\n";
  return out;
}

SizeFigures ParseRatchet(std::string_view text) {
  SizeFigures figures;
  for (std::string_view line : Lines(text)) {
    const size_t space = line.find(' ');
    if (line.starts_with("#") || space == line.npos) continue;
    const std::string name(line.substr(0, space));
    const double value = std::strtod(std::string(line.substr(space)).c_str(), nullptr);
    if (value <= 0) continue;
    const SizeFigures limits;
    const auto whole = static_cast<int>(value);
    if (name == "function_p95") figures.function_p95 = std::min(whole, limits.function_p95);
    if (name == "over_60_percent")
      figures.over_60_percent = std::min(value, limits.over_60_percent);
    if (name == "file_p95") figures.file_p95 = std::min(whole, limits.file_p95);
    if (name == "file_max") figures.file_max = std::min(whole, limits.file_max);
  }
  return figures;
}

std::string TightenedRatchet(const SizeFigures& now, const SizeFigures& old) {
  const auto up = [](int value, int step) { return (value + step - 1) / step * step; };
  const double percent = std::max(0.5, std::ceil(now.over_60_percent * 2) / 2);
  return "# Allowed sizes: the best so far, rounded up. They may only fall: house size --write\n"
         "function_p95 " +
         std::to_string(std::min(old.function_p95, up(now.function_p95, 5))) +
         "\nover_60_percent " + Fixed(std::min(old.over_60_percent, percent)) + "\nfile_p95 " +
         std::to_string(std::min(old.file_p95, up(now.file_p95, 50))) + "\nfile_max " +
         std::to_string(std::min(old.file_max, up(now.file_max, 100))) + "\n";
}

}  // namespace stoker::house
