#include "device/nvml/nvml_library.h"

#include <fmt/format.h>

#include <initializer_list>
#include <type_traits>
#include <utility>

#include "base/file.h"
#include "base/text.h"

namespace stoker::device::nvml {
namespace {

constexpr char kUsualName[] = "libnvidia-ml.so.1";

// The first of `names`, newest first, that the library has. Only names whose struct is the slot's:
// the functions without a suffix write older, smaller structs.
template <typename Pointer>
void Load(const DynLib& library, Pointer& slot, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    slot = library.Find<std::remove_pointer_t<Pointer>>(name);
    if (slot != nullptr) return;
  }
}

Functions LoadAll(const DynLib& lib) {
  Functions f;
  Load(lib, f.init, {"nvmlInit_v2", "nvmlInit"});
  Load(lib, f.shutdown, {"nvmlShutdown"});
  Load(lib, f.error_string, {"nvmlErrorString"});
  Load(lib, f.driver_version, {"nvmlSystemGetDriverVersion"});
  Load(lib, f.nvml_version, {"nvmlSystemGetNVMLVersion"});
  Load(lib, f.cuda_version,
       {"nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"});
  Load(lib, f.count, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"});
  Load(lib, f.handle_by_index, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"});
  Load(lib, f.name, {"nvmlDeviceGetName"});
  Load(lib, f.uuid, {"nvmlDeviceGetUUID"});
  Load(lib, f.pci_info, {"nvmlDeviceGetPciInfo_v3"});
  Load(lib, f.field_values, {"nvmlDeviceGetFieldValues"});
  Load(lib, f.power_usage, {"nvmlDeviceGetPowerUsage"});
  Load(lib, f.energy, {"nvmlDeviceGetTotalEnergyConsumption"});
  Load(lib, f.enforced_limit,
       {"nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetPowerManagementLimit"});
  Load(lib, f.default_limit, {"nvmlDeviceGetPowerManagementDefaultLimit"});
  Load(lib, f.limit_constraints, {"nvmlDeviceGetPowerManagementLimitConstraints"});
  Load(lib, f.utilization, {"nvmlDeviceGetUtilizationRates"});
  Load(lib, f.memory_v2, {"nvmlDeviceGetMemoryInfo_v2"});
  Load(lib, f.memory_v1, {"nvmlDeviceGetMemoryInfo"});
  Load(lib, f.temperature_v, {"nvmlDeviceGetTemperatureV"});
  Load(lib, f.temperature, {"nvmlDeviceGetTemperature"});
  Load(lib, f.threshold, {"nvmlDeviceGetTemperatureThreshold"});
  Load(lib, f.margin, {"nvmlDeviceGetMarginTemperature"});
  Load(lib, f.clock, {"nvmlDeviceGetClockInfo"});
  Load(lib, f.reasons,
       {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  Load(lib, f.pcie_generation, {"nvmlDeviceGetCurrPcieLinkGeneration"});
  Load(lib, f.pcie_width, {"nvmlDeviceGetCurrPcieLinkWidth"});
  Load(lib, f.pcie_generation_max, {"nvmlDeviceGetMaxPcieLinkGeneration"});
  Load(lib, f.pcie_width_max, {"nvmlDeviceGetMaxPcieLinkWidth"});
  Load(lib, f.processes_v3,
       {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"});
  Load(lib, f.processes_v1, {"nvmlDeviceGetComputeRunningProcesses"});
  return f;
}

// What the loader's refusal means. Only a library that was not asked for by name may be absent in
// silence; a named one that cannot be loaded is a mistake of whoever named it.
Error NotLoaded(const std::string& asked, const Error& loader) {
  if (asked.empty()) {
    return NotFound("no NVIDIA driver on this machine: " + loader.what, kUsualName,
                    "a box without cards needs none");
  }
  if (asked.find('/') != std::string::npos && !FileExists(asked)) {
    return NotFound("there is no such library", asked, "give the path of a libnvidia-ml.so.1");
  }
  return Invalid("it cannot be loaded as a library: " + loader.what, asked,
                 "give the path of a libnvidia-ml.so.1");
}

std::string VersionText(int (*ask)(char*, uint32_t)) {
  char text[kVersionBytes + 1] = {};
  if (ask == nullptr || ask(text, kVersionBytes) != kSuccess) return {};
  return Printable(text);
}

}  // namespace

Absence AbsenceOf(int code) {
  switch (code) {
    case kNotSupported:
    case kFunctionNotFound:
    case kArgumentVersionMismatch:
    case kDeprecated:
      return Absence::kUnsupported;
    case kNoPermission:
      return Absence::kDenied;
    case kTimedOut:
      return Absence::kTimeout;
    case kGpuIsLost:
    case kResetRequired:
      return Absence::kLost;
    default:
      return Absence::kError;
  }
}

bool IsForEver(int code) { return AbsenceOf(code) == Absence::kUnsupported; }

Library::Library(DynLib library, std::string path)
    : library_(std::move(library)), path_(std::move(path)), functions_(LoadAll(library_)) {}

Library::~Library() {
  if (initialised_ && functions_.shutdown != nullptr) functions_.shutdown();
}

Result<std::unique_ptr<Library>> Library::Open(const std::string& path) {
  const std::string asked = path.empty() ? kUsualName : path;
  auto loaded = DynLib::Open(asked);
  if (!loaded) return NotLoaded(path, loaded.error());
  std::unique_ptr<Library> library(new Library(std::move(*loaded), asked));
  const Functions& f = library->functions_;
  if (f.init == nullptr || f.count == nullptr || f.handle_by_index == nullptr) {
    return Invalid("it is a library, but not NVIDIA's management library: nvmlInit is missing",
                   asked, "give the path of a libnvidia-ml.so.1");
  }
  STOKER_TRY(library->Initialise());
  library->driver_version_ = VersionText(f.driver_version);
  library->simulated_ = library->library_.Find<int()>("stokerSimulated") != nullptr ||
                        library->driver_version_.find("simulated") != std::string::npos;
  return library;
}

Status Library::Initialise() {
  if (initialised_ && functions_.shutdown != nullptr) functions_.shutdown();
  const int code = functions_.init();
  initialised_ = code == kSuccess;
  switch (code) {
    case kSuccess:
      return Ok();
    case kDriverNotLoaded:
      return Unavailable("the NVIDIA driver is installed but not loaded", path_,
                         "load it with: modprobe nvidia");
    case kVersionMismatch:
      return Unavailable("the driver's library and its kernel module have different versions",
                         path_, "reboot, or reload the nvidia module");
    case kNoPermission:
      return Denied("the NVIDIA driver refuses this user", path_,
                    "give the user access to /dev/nvidia*");
    default:
      return Unavailable(fmt::format("the driver does not start: {}", Explain(code)), path_,
                         "see dmesg for NVRM lines");
  }
}

std::string Library::Explain(int code) const {
  const char* words = functions_.error_string != nullptr ? functions_.error_string(code) : nullptr;
  if (words == nullptr) return fmt::format("code {}", code);
  return fmt::format("{} (code {})", Printable(words), code);
}

std::string Library::nvml_version() const { return VersionText(functions_.nvml_version); }

std::string Library::cuda_version() const {
  int version = 0;
  if (functions_.cuda_version == nullptr || functions_.cuda_version(&version) != kSuccess)
    return {};
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace stoker::device::nvml
