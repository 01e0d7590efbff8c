// Generated from settings.json by tools/gen_settings.cc: edit that file, not this one.
// clang-format off
#include "cli/settings.h"

namespace stoker::cli {

const std::vector<SettingRow>& SettingRows() {
  static const std::vector<SettingRow> kRows = {
      {"serve.listen",
       "address and port of the pages and the API; port 0 takes any free one",
       &Settings::serve_listen, nullptr, 0, 0},
      {"serve.nvml",
       "another NVML library, such as the simulator's; empty: the driver's own",
       &Settings::serve_nvml, nullptr, 0, 0},
      {"collect.interval_ms",
       "time between two reads of the cards and the host",
       nullptr, &Settings::collect_interval_ms, 100, 60000},
      {"collect.slow_every",
       "memory, processes and links are read once in so many reads",
       nullptr, &Settings::collect_slow_every, 1, 3600},
      {"vault.folder",
       "folder that checkpoints are copied to; empty: vault under Stoker's home",
       &Settings::vault_folder, nullptr, 0, 0},
      {"vault.quiet_ms",
       "a checkpoint of a format without an end mark is whole after this long unwritten",
       nullptr, &Settings::vault_quiet_ms, 0, 600000},
      {"jobs.grace_s",
       "time a stopped job has to end by itself before it is killed",
       nullptr, &Settings::jobs_grace_s, 0, 3600},
  };
  return kRows;
}

}  // namespace stoker::cli
