// The figures of a recorded night of 19 hours on eight cards.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "query/fake_ledger.h"
#include "query/night_fixture.h"
#include "query/query.h"

namespace stoker::query {
namespace {

std::string DataFolder() {
  if (const char* data = std::getenv("STOKER_DATA")) return data;
  const char* source = std::getenv("STOKER_SOURCE");
  return (source != nullptr ? std::string(source) : std::string(".")) + "/../shared/data";
}

TEST(NightTest, GivesTheFiguresThatWereRecorded) {
  const std::string folder = DataFolder() + "/night";
  if (!FileExists(folder + "/expected.json")) GTEST_SKIP() << "no " << folder;
  FakeLedger ledger;
  FakeClock clock;
  const auto loaded = LoadNight(ledger, folder);
  ASSERT_TRUE(loaded) << loaded.error().Line();
  const auto text = ReadFile(folder + "/expected.json");
  const Json expected = ParseJson(*text).value();
  const auto use = GetJobUse(ledger, *loaded, clock);
  ASSERT_TRUE(use) << use.error().Line();
  const UseTotal& total = use->total;
  EXPECT_EQ(total.samples, expected["samples"].get<int64_t>());
  EXPECT_NEAR(*total.busy_mean_ratio, expected["busy_mean_ratio"].get<double>(), 1e-6);
  EXPECT_NEAR(*total.power_mean_w, expected["power_mean_w"].get<double>(), 1e-3);
  EXPECT_NEAR(*total.power_peak_w, expected["power_peak_w"].get<double>(), 1e-6);
  const double joules = expected["energy_j_rectangle"].get<double>();
  EXPECT_NEAR(*total.gpu_energy_j, joules, 0.001 * joules);
  EXPECT_EQ(total.throttled_samples, expected["throttled_samples"].get<int64_t>());
  double margin = 1e9;
  int64_t slowdown = 0, capped = 0;
  ASSERT_EQ(use->cards.size(), expected["per_card"].size());
  for (size_t i = 0; i < use->cards.size(); ++i) {
    const CardUse& card = use->cards[i];
    const Json& wanted = expected["per_card"][i];
    EXPECT_EQ(card.gpu, wanted["gpu"].get<int>());
    EXPECT_EQ(card.samples, wanted["samples"].get<int64_t>());
    EXPECT_NEAR(*card.power_mean_w, wanted["power_mean_w"].get<double>(), 1e-3);
    EXPECT_NEAR(*card.power_peak_w, wanted["power_peak_w"].get<double>(), 1e-6);
    EXPECT_NEAR(*card.temperature_max_c, wanted["temperature_max_c"].get<double>(), 1e-9);
    margin = std::min(margin, *card.margin_min_c);
    for (const ThrottleUse& reason : card.throttle) {
      if (reason.reason == "hw_slowdown") {
        slowdown += reason.samples;
        EXPECT_LE(*reason.last_s, 91);
      } else {
        EXPECT_EQ(reason.reason, "power_cap");
        EXPECT_EQ(card.gpu, 2);
        capped += reason.samples;
      }
    }
  }
  EXPECT_EQ(margin, expected["margin_min_c"].get<double>());
  EXPECT_EQ(slowdown, expected["throttle"]["hw_slowdown"]["samples"].get<int64_t>());
  EXPECT_EQ(capped, expected["throttle"]["sw_power_cap"]["samples"].get<int64_t>());
}

}  // namespace
}  // namespace stoker::query
