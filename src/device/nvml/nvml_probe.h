// GpuProbe over the vendor's management library, loaded at run time. Our own declarations, no
// header.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "device/gpu_probe.h"

namespace stoker::device {

// `library` empty: libnvidia-ml.so.1 from the loader's path. kNotFound where there is no driver,
// which is normal on a box without cards; kUnavailable where the driver does not answer.
Result<std::unique_ptr<GpuProbe>> OpenNvml(const std::string& library, const Clock& clock);

}  // namespace stoker::device
