// What is known of a running pipeline: n targets that feed m drafters, or n equal workers (drafters
// 0), on cards of one kind. Read from a description file or from live records.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/curve.h"

namespace stoker::plan {

struct Problem {
  std::string unit = "unit";  // "token", "photo"
  int cards = 8;
  int targets = 8;
  int drafters = 0;
  double throughput_per_s = 0;  // today, of the whole pipeline
  // What all drafters together could do if never starved; absent: as much as today's throughput.
  std::optional<double> drafter_capacity_per_s;
  double busy_w = 600;    // draw of a card that works all the time at full limit
  double waiting_w = 60;  // draw of a card whose process waits
  double idle_w = 60;     // draw of a parked card
  double limit_w = 600;
  double min_limit_w = 150;
  double host_w = 0;          // what the box draws beside its cards
  double psu_efficiency = 1;  // of the power supplies, 0 to 1
  std::optional<double> remaining_units;
  double restart_lost_units = 0;  // work that a change of topology throws away
  // Queue between the stages; both must be known for the loss to be counted.
  std::optional<double> queue_slots;
  std::optional<double> service_variation;  // squared coefficient of variation of a service time
  std::vector<CurvePoint> curve;            // of one card
  std::vector<std::string> assumed;         // fields that were left out, with the value taken
};

// Reads the description of the command contract (one JSON object). Fields that are left out take
// the values above and are listed in `assumed`; wrong types, negative numbers and counts that do
// not fit the cards are kInvalid.
Result<Problem> ParseProblem(std::string_view json, const std::string& where);

}  // namespace stoker::plan
