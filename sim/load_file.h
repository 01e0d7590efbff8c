// A load file: what one process asks of the cards it was given. docs/formats/sim-box.md.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/card_model.h"

namespace stoker::sim {

struct LoadFile {
  std::optional<pid_t> pid;  // the process that it speaks for, where it says so
  Load load;                 // without phases, or before them
  struct Phase {
    double wall_s = 0;
    Load load;
  };
  std::vector<Phase> phases;
  bool repeat = false;

  // The load `seconds` after the process began; the last phase stays unless they repeat.
  const Load& At(double seconds) const;
};

Result<LoadFile> ParseLoadFile(std::string_view text, const std::string& where);
// The text of a load file without phases.
std::string FormatLoad(pid_t pid, const Load& load);

}  // namespace stoker::sim
