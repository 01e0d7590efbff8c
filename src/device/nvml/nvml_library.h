// The vendor's library, loaded and initialised, as a table of functions; a function that this
// driver lacks is null. Shuts the library down when it goes.
#pragma once

#include <memory>
#include <string>

#include "base/dynlib.h"
#include "base/reading.h"
#include "base/result.h"
#include "device/nvml/nvml_abi.h"

namespace stoker::device::nvml {

using AskU32 = int(Device, uint32_t*);
using AskText = int(Device, char*, uint32_t);

struct Functions {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*driver_version)(char*, uint32_t) = nullptr;
  int (*nvml_version)(char*, uint32_t) = nullptr;
  int (*cuda_version)(int*) = nullptr;
  int (*count)(uint32_t*) = nullptr;
  int (*handle_by_index)(uint32_t, Device*) = nullptr;

  AskText* name = nullptr;
  AskText* uuid = nullptr;
  int (*pci_info)(Device, PciInfo*) = nullptr;
  int (*field_values)(Device, int, FieldValue*) = nullptr;
  AskU32* power_usage = nullptr;
  int (*energy)(Device, uint64_t*) = nullptr;
  AskU32* enforced_limit = nullptr;
  AskU32* default_limit = nullptr;
  int (*limit_constraints)(Device, uint32_t*, uint32_t*) = nullptr;
  int (*utilization)(Device, Utilization*) = nullptr;
  int (*memory_v1)(Device, MemoryV1*) = nullptr;
  int (*memory_v2)(Device, MemoryV2*) = nullptr;
  int (*temperature_v)(Device, TemperatureV*) = nullptr;
  int (*temperature)(Device, int, uint32_t*) = nullptr;
  int (*threshold)(Device, int, uint32_t*) = nullptr;
  int (*margin)(Device, MarginTemperature*) = nullptr;
  int (*clock)(Device, int, uint32_t*) = nullptr;
  int (*reasons)(Device, uint64_t*) = nullptr;
  AskU32* pcie_generation = nullptr;
  AskU32* pcie_width = nullptr;
  AskU32* pcie_generation_max = nullptr;
  AskU32* pcie_width_max = nullptr;
  int (*processes_v3)(Device, uint32_t*, ProcessV3*) = nullptr;
  int (*processes_v1)(Device, uint32_t*, ProcessV1*) = nullptr;
};

class Library {
 public:
  // Errors as OpenNvml (nvml_probe.h).
  static Result<std::unique_ptr<Library>> Open(const std::string& path);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  const Functions& functions() const { return functions_; }
  const std::string& path() const { return path_; }
  const std::string& driver_version() const { return driver_version_; }
  std::string nvml_version() const;
  std::string cuda_version() const;  // "13.0"; empty where unknown
  bool simulated() const { return simulated_; }

  // Initialises once more, after the driver was reloaded under us.
  Status Initialise();
  // The driver's words for a code, safe to show.
  std::string Explain(int code) const;

 private:
  Library(DynLib library, std::string path);
  DynLib library_;
  const std::string path_;
  Functions functions_;
  std::string driver_version_;
  bool simulated_ = false;
  bool initialised_ = false;
};

// Why a field has no value, from the driver's code; never called with kSuccess.
Absence AbsenceOf(int code);
// True where asking again can never help.
bool IsForEver(int code);

}  // namespace stoker::device::nvml
