#include "device/nvml/nvml_probe.h"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "device/nvml/nvml_card.h"
#include "device/nvml/nvml_library.h"

namespace stoker::device {
namespace {

using nvml::Card;

constexpr uint32_t kCardsMost = 256;  // more is a broken answer, not a box

class NvmlProbe final : public GpuProbe {
 public:
  NvmlProbe(std::unique_ptr<nvml::Library> library, const Clock& clock)
      : library_(std::move(library)), clock_(clock) {}

  Result<std::vector<GpuIdentity>> List() override {
    STOKER_ASSIGN(const uint32_t count, Count());
    slots_.resize(count);
    std::vector<GpuIdentity> cards;
    for (uint32_t i = 0; i < count; ++i) {
      Meet(static_cast<int>(i), slots_[i]);
      cards.push_back(slots_[i].identity);
    }
    return cards;
  }

  GpuReading Read(int index, const ReadPlan& plan) override {
    if (index < 0 || static_cast<size_t>(index) >= slots_.size()) {
      return nvml::NothingBecause(Absence::kLost, clock_);
    }
    Slot& slot = slots_[static_cast<size_t>(index)];
    if (!slot.card) return nvml::NothingBecause(slot.why, clock_);
    return slot.card->Read(plan);
  }

  std::vector<std::pair<std::string, std::string>> Facts() override {
    std::vector<std::pair<std::string, std::string>> facts = {
        {"driver", library_->driver_version()},
        {"nvml", library_->nvml_version()},
        {"cuda", library_->cuda_version()},
        {"library", library_->path()}};
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].card) {
        facts.emplace_back(fmt::format("gpu{}.sources", i), slots_[i].card->Sources());
      }
    }
    std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
    return facts;
  }

  bool simulated() const override { return library_->simulated(); }

 private:
  struct Slot {
    std::unique_ptr<Card> card;      // null while the driver gives no handle
    Absence why = Absence::kNotYet;  // reason where there is no card
    GpuIdentity identity;            // the last that was known
  };

  Result<uint32_t> Count() {
    uint32_t count = 0;
    int code = library_->functions().count(&count);
    if (code == nvml::kUninitialized) {
      // The driver was reloaded under us: every handle is stale.
      slots_.clear();
      STOKER_TRY(library_->Initialise());
      code = library_->functions().count(&count);
    }
    if (code != nvml::kSuccess) {
      return Unavailable("counting the cards failed: " + library_->Explain(code), library_->path());
    }
    if (count > kCardsMost) {
      return Internal(fmt::format("the driver counts {} cards", count), library_->path());
    }
    return count;
  }

  // Keeps a card that is still the one we know, else gets to know the one that is there now.
  void Meet(int index, Slot& slot) {
    nvml::Device handle = nullptr;
    const int code = library_->functions().handle_by_index(static_cast<uint32_t>(index), &handle);
    if (code != nvml::kSuccess) {
      slot.card.reset();
      slot.why = nvml::AbsenceOf(code);
      slot.identity.index = index;
      return;
    }
    if (slot.card && slot.card->StillIs(handle)) return;
    auto card = std::make_unique<Card>(library_->functions(), index, handle, clock_);
    // A lost card has a handle but says nothing; what was known of it stays.
    const bool silent = card->lost() && card->identity().uuid.empty();
    if (!silent) slot.identity = card->identity();
    slot.identity.index = index;
    slot.card = std::move(card);
  }

  std::unique_ptr<nvml::Library> library_;
  const Clock& clock_;
  std::vector<Slot> slots_;
};

}  // namespace

Result<std::unique_ptr<GpuProbe>> OpenNvml(const std::string& library, const Clock& clock) {
  STOKER_ASSIGN(auto loaded, nvml::Library::Open(library));
  auto probe = std::make_unique<NvmlProbe>(std::move(loaded), clock);
  STOKER_TRY(probe->List());
  return std::unique_ptr<GpuProbe>(std::move(probe));
}

}  // namespace stoker::device
