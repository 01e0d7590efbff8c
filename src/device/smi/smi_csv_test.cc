#include "device/smi/smi_csv.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.h"

namespace stoker::device {
namespace {

std::string Data(const std::string& name) {
  const char* data = std::getenv("STOKER_DATA");
  const char* source = std::getenv("STOKER_SOURCE");
  const std::string root =
      data != nullptr ? data : JoinPath(source != nullptr ? source : ".", "../shared/data");
  return JoinPath(root, name);
}

TEST(SmiCsvTest, ReadsUnitsReasonsAndAbsences) {
  const auto log = ParseSmiCsv(
      "timestamp, index, uuid, utilization.gpu [%], power.draw [W], temperature.gpu.tlimit, "
      "memory.used [MiB], "
      "clocks_event_reasons.active\n"
      "2026/10/18 06:35:00.569, 3, GPU-a, 86 %, 403.10 W, 46, 34000 MiB, 0x0000000000000008\n"
      "2026/10/18 06:35:30.569, 3, GPU-a, [N/A], [Unknown Error], [GPU is lost], 1 MiB, 0x4\n",
      "log");
  ASSERT_TRUE(log) << log.error().Line();
  ASSERT_EQ(log->rows.size(), 2u);
  const GpuReading& first = log->rows[0].reading;
  EXPECT_EQ(log->rows[0].gpu, 3);
  EXPECT_EQ(FormatTime(first.at), "2026-10-18T06:35:00.569Z");
  EXPECT_DOUBLE_EQ(first.busy->value, 0.86);
  EXPECT_DOUBLE_EQ(first.power_average->value, 403.10);
  EXPECT_DOUBLE_EQ(first.memory_used->value, 34000.0 * 1048576);
  EXPECT_EQ(*first.throttle, kReasonHwSlowdown);
  const GpuReading& second = log->rows[1].reading;
  EXPECT_EQ(second.busy.absence(), Absence::kUnsupported);
  EXPECT_EQ(second.power_average.absence(), Absence::kError);
  EXPECT_EQ(second.margin.absence(), Absence::kLost);
  EXPECT_EQ(second.limit.absence(), Absence::kNotYet);
}

TEST(SmiCsvTest, TakesAnyOrderNoUnitsNoHeaderAndACutLastLine) {
  const auto log =
      ParseSmiCsv("75, 2026/10/18 06:35:00, 0\n80, 2026/10/18 06:35:01, 0\n81, 2026/10", "log",
                  "utilization.gpu,timestamp,index");
  ASSERT_TRUE(log);
  EXPECT_EQ(log->rows.size(), 2u);
  EXPECT_EQ(log->dropped_lines, 1);
  EXPECT_DOUBLE_EQ(log->rows[1].reading.busy->value, 0.8);
}

TEST(SmiCsvTest, DealsRowsToCardsWhereTheLogHasNoIndex) {
  std::string text = "timestamp, power.draw [W]\n";
  for (int read = 0; read < 20; ++read) {
    for (int card = 0; card < 4; ++card) {
      text += "2026/10/18 06:35:" + std::to_string(10 + read) + ".00" + std::to_string(card) +
              ", " + std::to_string(100 * card) + " W\n";
    }
  }
  const auto log = ParseSmiCsv(text, "log");
  ASSERT_TRUE(log);
  EXPECT_EQ(log->cards, 4);
  EXPECT_TRUE(log->guessed_cards);
  for (const SmiRow& row : log->rows)
    EXPECT_DOUBLE_EQ(row.reading.power_average->value, 100.0 * row.gpu);
}

TEST(SmiCsvTest, RefusesWhatIsNoLog) {
  EXPECT_EQ(ParseSmiCsv("hello\nworld\n", "x").error().where, "x");
  EXPECT_FALSE(ParseSmiCsv("", "x"));
  EXPECT_FALSE(ParseSmiCsv("index, power.draw [W]\n0, 3 W\n", "x"));
  EXPECT_FALSE(ParseSmiCsv("timestamp, power.draw [W]\n", "x"));
}

TEST(SmiCsvTest, ReadsTheRecordedNightAndTheHundredMillisecondLog) {
  const auto night = ReadFile(Data("night/sidecar.csv"));
  if (!night) GTEST_SKIP() << night.error().Line();
  const auto log = ParseSmiCsv(*night, "night");
  ASSERT_TRUE(log) << log.error().Line();
  EXPECT_EQ(log->rows.size(), 18'400u);
  EXPECT_EQ(log->cards, 8);
  EXPECT_EQ(log->dropped_lines, 0);
  const auto fast = ReadFile(Data("gpu_telemetry/h100x8_ckpt_sync/ckpt50.csv"));
  ASSERT_TRUE(fast);
  EXPECT_EQ(ParseSmiCsv(*fast, "fast")->cards, 8);
}

}  // namespace
}  // namespace stoker::device
