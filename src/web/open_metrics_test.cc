#include "web/open_metrics.h"

#include <gtest/gtest.h>

namespace stoker::web {
namespace {

query::Now TwoCards() {
  query::Now now;
  now.box = ledger::Box{1, "stokehold", "b", "{}", {}};
  now.simulated = true;
  query::CardNow card;
  card.card.gpu = 0;
  card.card.uuid = "GPU-a\"b\\c\n";
  card.readings["power_w"] = 412.5;
  card.readings["energy_j"] = 1e6;
  card.readings["temperature_c"] = Absence::kTimeout;
  now.cards.push_back(card);
  card.card.gpu = 1;
  card.card.uuid = "GPU-old";
  card.age_s = 60;
  now.cards.push_back(card);
  now.host["load_1m"] = 1.5;
  now.cores = {0.5, Absence::kError};
  return now;
}

TEST(OpenMetrics, NamesUnitsAndLabels) {
  const std::string text = OpenMetrics(TwoCards());
  const std::string uuid = R"(uuid="GPU-a\"b\\c)";
  EXPECT_NE(text.find("# TYPE stoker_power_w gauge\n"), std::string::npos) << text;
  EXPECT_NE(text.find("stoker_power_w{gpu=\"0\"," + uuid), std::string::npos) << text;
  EXPECT_NE(text.find("} 412.5\n"), std::string::npos);
  EXPECT_NE(text.find("# TYPE stoker_energy_j counter\n"), std::string::npos);
  EXPECT_NE(text.find("stoker_energy_j_total{gpu=\"0\","), std::string::npos);
  EXPECT_NE(text.find("stoker_load_1m 1.5\n"), std::string::npos);
  EXPECT_NE(text.find("stoker_core_busy_ratio{core=\"0\"} 0.5\n"), std::string::npos);
  EXPECT_NE(text.find("stoker_box_info{hostname=\"stokehold\",simulated=\"true\"} 1\n"),
            std::string::npos);
  EXPECT_TRUE(text.ends_with("# EOF\n"));
}

// A failed read has no sample, and neither has one that is too old to be the latest.
TEST(OpenMetrics, AbsentAndOldReadingsHaveNoSample) {
  const std::string text = OpenMetrics(TwoCards());
  EXPECT_EQ(text.find("stoker_temperature_c{"), std::string::npos);
  EXPECT_NE(text.find("metric=\"temperature_c\",reason=\"timeout\"} 1\n"), std::string::npos);
  EXPECT_EQ(text.find("stoker_power_w{gpu=\"1\""), std::string::npos);
  EXPECT_NE(text.find("stoker_card_reading_age_s{gpu=\"1\",uuid=\"GPU-old\"} 60\n"),
            std::string::npos);
  EXPECT_EQ(text.find("core=\"1\""), std::string::npos);
}

TEST(OpenMetrics, EveryLineIsACommentOrASample) {
  const std::string text = OpenMetrics(TwoCards());
  size_t begin = 0;
  while (begin < text.size()) {
    const std::string line = text.substr(begin, text.find('\n', begin) - begin);
    begin += line.size() + 1;
    EXPECT_TRUE(line.starts_with("# ") || line.starts_with("stoker_")) << line;
  }
  EXPECT_TRUE(OpenMetrics(query::Now{}).ends_with("# EOF\n"));
}

}  // namespace
}  // namespace stoker::web
