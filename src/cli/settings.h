// Generated from settings.json by tools/gen_settings.cc: edit that file, not this one.
// clang-format off
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stoker::cli {

// What stoker.toml may say, with the defaults in place.
struct Settings {
  // Address and port of the pages and the API; port 0 takes any free one.
  std::string serve_listen = "127.0.0.1:8090";
  // Another NVML library, such as the simulator's; empty: the driver's own.
  std::string serve_nvml = "";
  // Time between two reads of the cards and the host (ms).
  int64_t collect_interval_ms = 1000;
  // Memory, processes and links are read once in so many reads (reads).
  int64_t collect_slow_every = 10;
  // Folder that checkpoints are copied to; empty: vault under Stoker's home.
  std::string vault_folder = "";
  // A checkpoint of a format without an end mark is whole after this long unwritten (ms).
  int64_t vault_quiet_ms = 1500;
  // Time a stopped job has to end by itself before it is killed (s).
  int64_t jobs_grace_s = 15;
};

// One row of settings.json; exactly one of `text` and `number` is set.
struct SettingRow {
  const char* key;
  const char* sentence;
  std::string Settings::*text;
  int64_t Settings::*number;
  int64_t min;
  int64_t max;
};
const std::vector<SettingRow>& SettingRows();

}  // namespace stoker::cli
