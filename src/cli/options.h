// The options of one command: declared, then parsed. A thin front of CLI11, which stays in
// options.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace stoker::cli {

class Options {
 public:
  // `usage` is what follows "stoker NAME": "[--name N] -- CMD…".
  Options(const std::string& name, const std::string& usage, const std::string& sentence);
  ~Options();

  // Targets keep their value where the option is absent, and must outlive Parse().
  Options& Flag(const std::string& names, bool& target, const std::string& help);
  Options& Text(const std::string& names, std::string& target, const std::string& help);
  Options& Number(const std::string& names, int64_t& target, const std::string& help);
  Options& Texts(const std::string& names, std::vector<std::string>& target,
                 const std::string& help);
  Options& Required(const std::string& place, std::string& target, const std::string& help);
  Options& Optional(const std::string& place, std::string& target, const std::string& help);
  Options& Rest(const std::string& place, std::vector<std::string>& target, const std::string& help,
                bool required);

  // Help was asked for: the text to print. Wrong usage: kInvalid with where = "stoker NAME".
  Result<std::optional<std::string>> Parse(std::vector<std::string> args);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Declares nothing more, parses, and returns early from a command for --help.
#define STOKER_PARSE(options, args, context)                 \
  do {                                                       \
    auto stoker_help = (options).Parse(args);                \
    if (!stoker_help) return std::move(stoker_help).error(); \
    if (*stoker_help) {                                      \
      (context).out(**stoker_help);                          \
      return 0;                                              \
    }                                                        \
  } while (false)

}  // namespace stoker::cli
