// What the faces show, as plain data. A Reading is a value or the reason for its absence.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/reading.h"
#include "ledger/ledger.h"
#include "ledger/records.h"

namespace stoker::query {

// A job with what the joins add.
struct JobView {
  ledger::Job job;
  double wall_s = 0;                     // so far, where it runs
  std::optional<double> gpu_energy_j;    // so far, where it runs
  std::optional<double> progress_ratio;  // epochs done of planned
  std::optional<double> eta_s;
};

// A card now: the newest reading of each metric by its name in metrics.json.
struct CardNow {
  ledger::Card card;
  double age_s = 0;  // since the newest reading; old data must look old
  std::map<std::string, Reading<double>> readings;
  std::vector<std::string> throttle;  // names of the reasons in force that cost speed
  std::vector<int64_t> jobs;          // running jobs on it
};

struct Now {
  WallTime at;
  std::optional<ledger::Box> box;
  bool simulated = false;
  std::vector<CardNow> cards;
  std::map<std::string, Reading<double>> host;  // by metric name
  std::vector<Reading<double>> cores;           // busy ratio by core
  double host_age_s = 0;
  std::vector<JobView> running;
  double gpu_power_w = 0;  // sum over cards that answered
  int cards_answering = 0;
};

struct ThrottleUse {
  std::string reason;  // "power_cap", "hw_thermal", …
  int64_t samples = 0;
  std::optional<double> seconds;          // from the card's own counters, where it has them
  std::optional<double> first_s, last_s;  // seconds after the start of the job
};

// One card over the window of a job.
struct CardUse {
  int gpu = 0;
  int64_t card = 0;
  std::string name;
  int64_t samples = 0;  // reads with a busy or power value
  int64_t unread = 0;   // reads that gave neither
  std::optional<double> busy_mean_ratio, power_mean_w, power_peak_w;
  std::optional<double> energy_j;  // counter where there is one, else the integral
  std::optional<double> energy_counter_j, energy_integral_j;
  std::optional<double> temperature_mean_c, temperature_max_c, margin_min_c;
  std::optional<double> memory_peak_bytes, limit_w;
  int64_t throttled_samples = 0;  // reads with a reason that costs speed
  std::vector<ThrottleUse> throttle;
  std::optional<double> period_s;    // median time between reads
  double energy_gap_s = 0;           // seconds of the job that energy_j does not cover
  std::vector<int64_t> shared_with;  // other jobs that had the card in the same window
};

struct UseTotal {
  int64_t samples = 0;
  int64_t unread = 0;
  int64_t throttled_samples = 0;
  std::optional<double> gpu_energy_j, busy_mean_ratio, power_mean_w, power_peak_w;
  std::optional<double> after_best_energy_j;  // the part of gpu_energy_j after the best was reached
};

struct HostUse {
  std::optional<double> cpu_mean_ratio, cpu_peak_ratio, memory_peak_bytes, pressure_cpu_mean_ratio,
      pressure_io_mean_ratio;
};

// When the cards of a job worked together and when they stood still together.
struct Rhythm {
  struct Stall {
    WallTime from, to;
  };
  WallTime from, to;        // the working time: while the job held its memory
  double step_s = 0;        // how far apart the reads lie
  double power_mean_w = 0;  // of all cards together, in the working time
  double power_p90_w = 0;
  std::optional<double> busy_mean_ratio;
  // Total power under half of its 90th percentile for a second or more, and then up again.
  std::vector<Stall> stalls;
  double stalled_s = 0;
  std::optional<double> stall_median_s;  // how long one lasted
  std::optional<double> stall_period_s;  // from the start of one to the start of the next, median
  std::optional<double> stall_power_w;   // of all cards together
  std::vector<std::pair<int, double>> stall_busy_ratio;  // by gpu

  double work_s() const { return static_cast<double>((to - from).count()) / 1000; }
};

// The ledger of a job: what it used.
struct JobUse {
  std::vector<CardUse> cards;
  UseTotal total;
  HostUse host;
  WallTime from, to;             // the window: the job's start to its end, or to now
  std::optional<Rhythm> rhythm;  // nullopt: too few reads of all cards together
};

// One metric of a run against epochs (or steps, where it has no epochs).
struct MetricCurve {
  std::string name;
  std::vector<ledger::MetricPoint> points;
};

struct CheckpointView {
  ledger::Checkpoint checkpoint;
  std::vector<ledger::Copy> copies;
};

struct JobDetail {
  JobView view;
  std::vector<ledger::Attempt> attempts;
  std::vector<MetricCurve> curves;
  std::vector<ledger::Phase> phases;
  std::vector<CheckpointView> checkpoints;
  std::vector<ledger::Event> events;
};

// A line for a chart.
struct SeriesView {
  ledger::Series series;
  std::string label;  // "GPU 3", "core 5", "host"
  std::vector<ledger::Bucket> buckets;
};

}  // namespace stoker::query
