// What the exported functions share: the one box of this process, its lock, and the rules that each
// call keeps (initialised, a known card, the description's faults).
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "device/nvml/nvml_abi.h"
#include "sim/box.h"

#define STOKER_SIM_EXPORT extern "C" __attribute__((visibility("default")))

namespace stoker::sim {

namespace nvml = device::nvml;

// The interface is one of free functions: somewhere the box has to live.
struct Library {
  std::mutex mutex;
  int users = 0;  // nvmlInit counts
  std::unique_ptr<Box> box;
  std::string trouble;  // why the last nvmlInit failed

  static Library& Get();
};

// Handles are small numbers, so that a foreign pointer is told from ours.
nvml::Device HandleOf(int card);
std::optional<int> CardOf(const Box& box, nvml::Device handle);

int CopyText(std::string_view text, char* out, uint32_t size);

// Runs `body(box)` under the lock, brought up to now.
template <typename Body>
int OnBox(Body body) {
  Library& library = Library::Get();
  const std::lock_guard<std::mutex> lock(library.mutex);
  if (!library.box) return nvml::kUninitialized;
  library.box->Sync();
  return body(*library.box);
}

// The same for a call on one card that answers in `out`.
template <typename Out, typename Body>
int OnCard(nvml::Device device, const char* call, Out* out, Body body) {
  if (out == nullptr) return nvml::kInvalidArgument;
  return OnBox([&](Box& box) -> int {
    const auto card = CardOf(box, device);
    if (!card) return nvml::kInvalidArgument;
    const auto fault = box.Fault(*card, call);
    if (!fault) return body(box, *card);
    if (*fault != kGarbage) return *fault;
    std::memset(out, 0xff, sizeof *out);
    return nvml::kSuccess;
  });
}

// The field of GetFieldValues, or a refusal, in `field`.
void AnswerField(const Box& box, int card, nvml::FieldValue& field);
uint32_t PowerInstantMw(const Box& box, int card);
uint32_t PowerAverageMw(const Box& box, int card);
uint32_t TemperatureC(const Box& box, int card);

}  // namespace stoker::sim
