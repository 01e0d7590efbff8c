// The physics of one simulated card: power from load and limit, temperature from power, clocks and
// throttle reasons from both. Plain data and pure functions of them.
#pragma once

#include <cstdint>
#include <string>

namespace stoker::sim {

// What a card is; the defaults resemble a 600 W, 96 GB Blackwell-class workstation card.
struct CardSpec {
  std::string name = "NVIDIA RTX PRO 6000 Blackwell (simulated)";
  std::string uuid, pci_bus_id;
  double memory_bytes = 97887.0 * 1024 * 1024;
  double memory_reserved_bytes = 600.0 * 1024 * 1024;
  double limit_min_w = 150, limit_max_w = 600, limit_w = 600;
  double idle_w = 45;
  double draw_max_w = 640;  // what full effort would draw without any limit
  double ambient_c = 30;
  double thermal_resistance_c_per_w = 0.086;
  double time_constant_s = 45;
  double slowdown_c = 93;
  double sm_clock_max_mhz = 2430, sm_clock_idle_mhz = 180;
  double memory_clock_max_mhz = 12481, memory_clock_idle_mhz = 405;
  int pcie_generation = 5, pcie_width = 16;
  double noise_ratio = 0.02;  // of the instant power and of the busy share
};

// What all processes of a card ask of it together; ratios from 0 to 1.
struct Load {
  double busy_ratio = 0;  // share of time with a kernel running
  double memory_busy_ratio = 0;
  double power_ratio = 0;  // effort: 0 draws idle_w, 1 draws draw_max_w
  double memory_bytes = 0;
};
// Two processes on one card: they overlap in time, their effort and memory add up.
Load operator+(const Load& a, const Load& b);

// What moves on and must not be forgotten between two reads. Stored as bytes in the box's state
// file.
struct CardState {
  double temperature_c = 0;
  double power_average_w = 0;
  double energy_mj = 0;
  double limit_w = 0;
  uint64_t power_cap_ns = 0, sw_thermal_ns = 0, hw_thermal_ns = 0;
};
CardState StartState(const CardSpec& spec);

// What a look at the card shows.
struct CardView {
  double power_w = 0;  // without noise
  double sm_clock_mhz = 0, memory_clock_mhz = 0;
  uint64_t reasons = 0;  // bits as the driver's
  Load load;
};
CardView Look(const CardSpec& spec, const CardState& state, const Load& load);

// Moves the state on by `seconds` under a steady load.
void Step(const CardSpec& spec, const Load& load, double seconds, CardState& state);

// A repeatable number from -1 to 1 for a card, a quantity and an instant of simulated time.
double Noise(int card, int quantity, int64_t sim_ns);

}  // namespace stoker::sim
