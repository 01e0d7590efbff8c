#include "collect/watch.h"

namespace stoker::collect {

std::vector<ThrottleWatch::Change> ThrottleWatch::Read(const Reading<device::ThrottleBits>& bits,
                                                       MonoTime now) {
  std::vector<Change> changes;
  if (!bits) {
    for (auto& [bit, reason] : reasons_) reason.latch.Miss();
    return changes;
  }
  for (device::ThrottleBits bit = 1; bit != 0 && bit <= device::kThrottling; bit <<= 1) {
    if ((bit & device::kThrottling) == 0) continue;
    const bool set = (*bits & bit) != 0;
    auto found = reasons_.find(bit);
    if (found == reasons_.end()) {
      if (!set) continue;
      found = reasons_.emplace(bit, Reason{Latch(to_set_, to_clear_), now}).first;
    }
    Reason& reason = found->second;
    if (!reason.latch.Read(set)) continue;
    Change change{bit, reason.latch.on(), std::nullopt};
    if (change.began) {
      reason.began = now;
    } else {
      change.lasted = std::chrono::duration_cast<Seconds>(now - reason.began);
    }
    changes.push_back(change);
  }
  return changes;
}

}  // namespace stoker::collect
