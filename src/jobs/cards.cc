#include "jobs/cards.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/text.h"

namespace stoker::jobs {
namespace {

std::string Numbers(const std::vector<int>& numbers) {
  std::vector<std::string> words;
  for (const int number : numbers) words.push_back(std::to_string(number));
  return Join(words, ",");
}

}  // namespace

Result<std::vector<int>> ChooseFreeCards(const std::vector<int>& all,
                                         const std::vector<ledger::Job>& running, int wanted) {
  const std::set<int> cards(all.begin(), all.end());
  if (wanted < 0) return Invalid("fewer than no cards were asked for", std::to_string(wanted));
  if (static_cast<size_t>(wanted) > cards.size()) {
    return Invalid(fmt::format("{} cards were asked for and this box has {}", wanted, cards.size()),
                   "", "stoker top shows the cards");
  }
  std::set<int> held;
  std::vector<std::string> holders;
  for (const ledger::Job& job : running) {
    if (ledger::IsFinal(job.state) || job.gpus.empty()) continue;
    held.insert(job.gpus.begin(), job.gpus.end());
    holders.push_back(fmt::format("job {} holds {}", job.id, Numbers(job.gpus)));
  }
  std::vector<int> free;
  std::set_difference(cards.begin(), cards.end(), held.begin(), held.end(),
                      std::back_inserter(free));
  if (free.size() < static_cast<size_t>(wanted)) {
    std::sort(holders.begin(), holders.end());
    return Unavailable(fmt::format("{} of {} cards are free and {} were asked for: {}", free.size(),
                                   cards.size(), wanted, Join(holders, "; ")),
                       "", "wait, stop one of them, or name cards to share: --gpus 0,");
  }
  free.resize(static_cast<size_t>(wanted));
  return free;
}

}  // namespace stoker::jobs
