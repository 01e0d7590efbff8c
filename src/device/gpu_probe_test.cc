#include "device/gpu_probe.h"

#include <gtest/gtest.h>

namespace stoker::device {
namespace {

using Names = std::vector<std::string>;

TEST(ThrottleReasonNames, NamesKnownBitsInOrder) {
  EXPECT_EQ(ThrottleReasonNames(0), Names());
  EXPECT_EQ(ThrottleReasonNames(kReasonPowerCap | kReasonPowerBrake),
            (Names{"power_cap", "power_brake"}));
  EXPECT_EQ(ThrottleReasonNames(kThrottling),
            (Names{"power_cap", "hw_slowdown", "sw_thermal", "hw_thermal", "power_brake"}));
}

TEST(ThrottleReasonNames, ShowsUnknownBitsAsNumbers) {
  EXPECT_EQ(ThrottleReasonNames(kReasonGpuIdle | 0x200), (Names{"gpu_idle", "0x200"}));
}

}  // namespace
}  // namespace stoker::device
