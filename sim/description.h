// The description of a simulated box, from JSON: docs/formats/sim-box.md.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/card_model.h"

namespace stoker::sim {

constexpr int kCardsMost = 32;
// A pretended code: the call succeeds and its answer is all ones.
constexpr int kGarbage = -1;

struct DescribedCard {
  CardSpec spec;
  // What calls answer instead of working: by function name, "field:186" or "*" for every call.
  std::map<std::string, int, std::less<>> fail;
};

struct Description {
  std::string driver = "580.95.05-simulated";
  double speed = 1;  // simulated seconds a second; 0: only stokerSimAdvance() moves the time
  std::vector<DescribedCard> cards;
};

// `text` empty: the default box of eight cards. kInvalid names the member that is wrong.
Result<Description> ParseDescription(std::string_view text, const std::string& where);

}  // namespace stoker::sim
