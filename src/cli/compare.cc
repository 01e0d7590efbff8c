// stoker compare ID ID…
#include "explain/compare.h"

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/books.h"
#include "cli/command.h"
#include "cli/explain_job.h"
#include "cli/options.h"
#include "report/json.h"

namespace stoker::cli {
namespace {

// "A=12,B=13": letters of arms and the jobs that ran them.
Result<explain::Arms> ReadArms(Context& context, ledger::Ledger& books, const std::string& text) {
  explain::Arms arms;
  for (const std::string_view part : Split(text, ',')) {
    const size_t equals = part.find('=');
    const std::string letter(Trim(part.substr(0, equals)));
    const bool known = std::find(std::begin(explain::kArmNames), std::end(explain::kArmNames),
                                 letter) != std::end(explain::kArmNames);
    if (equals == std::string_view::npos || !known) {
      return Invalid("not of the form A=ID,A'=ID,B=ID,…", "stoker compare --arms",
                     "the letters are A A' B C D E F G");
    }
    STOKER_ASSIGN(const int64_t id, ParseJobId(std::string(Trim(part.substr(equals + 1)))));
    STOKER_ASSIGN(const auto explanation, ExplainJob(context, books, id));
    const auto step = explain::SideOf(explanation).step_ms();
    if (!step) {
      return Unsupported("the run tells no steps and epochs to take a step's time from",
                         "job " + std::to_string(id), "log \"step\" and \"epoch\" at each epoch");
    }
    arms[letter] = *step;
  }
  return arms;
}

}  // namespace

Result<int> CompareCommand(Context& context, const std::vector<std::string>& args) {
  std::vector<std::string> ids;
  std::string arms_text;
  Options options("compare", "ID ID… [--arms A=ID,…]",
                  "Holds jobs against the first: speed, watts, energy a unit, and where they "
                  "contradict each other.");
  options.Rest("ID", ids, "the jobs' numbers", true)
      .Text("--arms", arms_text,
            "jobs that were arms of one experiment: what of a step was lost to what");
  STOKER_PARSE(options, args, context);
  if (ids.size() < 2 && arms_text.empty()) {
    return Invalid("one job alone cannot be compared", "stoker compare", "name two or more");
  }
  STOKER_ASSIGN(const auto books, OpenBooks(context));
  std::vector<explain::Side> sides;
  for (const std::string& text : ids) {
    STOKER_ASSIGN(const int64_t id, ParseJobId(text));
    STOKER_ASSIGN(const auto explanation, ExplainJob(context, *books, id));
    sides.push_back(explain::SideOf(explanation));
  }
  const explain::Comparison comparison = explain::Compare(std::move(sides));
  std::optional<explain::Decomposition> parts;
  if (!arms_text.empty()) {
    STOKER_ASSIGN(const auto arms, ReadArms(context, *books, arms_text));
    parts = explain::Decompose(arms);
    if (!parts) {
      return Invalid("these arms do not make a whole set", "stoker compare --arms",
                     "B, C, D and E; or A, A', B, D, E and G");
    }
  }
  if (context.json) {
    context.PrintJson(report::CompareJson(comparison, parts ? &*parts : nullptr));
  } else {
    context.out(report::CompareText(comparison, parts ? &*parts : nullptr, context.style));
  }
  return 0;
}

}  // namespace stoker::cli
