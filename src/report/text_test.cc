#include "report/text.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "report/table.h"

namespace stoker::report {
namespace {

constexpr TextStyle kPlain{100, false};

void ExpectWidth(const std::string& text, int width) {
  for (const std::string_view line : Split(text, '\n')) {
    EXPECT_LE(DisplayWidth(line), width) << line;
  }
}
bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

query::JobView View() {
  query::JobView view;
  ledger::Job& job = view.job;
  job.id = 12;
  job.name = "train-x";
  job.state = ledger::JobState::kRunning;
  job.command = {"yolo", "train"};
  job.gpus = {0, 1, 2, 3, 6};
  job.started_at = WallTime{1'790'000'000'000};
  job.best = ledger::Best{"val/map50_95", 0.527, true, 412.0, std::nullopt};
  job.last_epoch = 450;
  job.epochs_planned = 600;
  job.checkpoints_seen = 4;
  job.checkpoints_safe = 3;
  view.wall_s = 51'000;
  view.gpu_energy_j = 1.7e8;
  view.eta_s = 17'250;
  return view;
}

query::Now Box() {
  query::Now now;
  now.at = WallTime{1'790'000'000'000};
  now.box = ledger::Box{1, "rack-3", "b", "{}", {}};
  for (int gpu = 0; gpu < 8; ++gpu) {
    query::CardNow card;
    card.card.gpu = gpu;
    card.card.memory_bytes = 96e9;
    card.age_s = 0.4;
    card.readings = {{"busy_ratio", 0.86},    {"power_w", 415.0}, {"limit_w", 600.0},
                     {"temperature_c", 65.0}, {"margin_c", 19.0}, {"memory_used_bytes", 34.1e9},
                     {"throttle_bits", 0.0}};
    now.cards.push_back(card);
  }
  now.host = {{"cpu_busy_ratio", 0.16}, {"load_1m", 20.5}, {"host_memory_used_bytes", 211e9}};
  now.cores.assign(128, Reading<double>(0.5));
  now.gpu_power_w = 3320;
  now.cards_answering = 8;
  return now;
}

TEST(TextTest, JobsInColumns) {
  const std::string text = JobsText({View()}, {160, false});
  EXPECT_EQ(
      text,
      "ID  STATE    NAME     GPUS   STARTED                  TIME                     EPOCH        "
      "BEST    ENERGY  KEPT\n"
      "12  running  train-x  0-3,6  2026-09-21 14:13  14 h 10 min  450/600, 4 h 48 min left  "
      "0.527 @412  47.2 kWh   3/4\n");
}

TEST(TextTest, NoJobsSaysWhatToDo) { EXPECT_TRUE(Has(JobsText({}, kPlain), "stoker run")); }

TEST(TextTest, AFailedJobShowsItsEnd) {
  query::JobView view = View();
  view.job.state = ledger::JobState::kFailed;
  view.job.exit_code = 3;
  EXPECT_TRUE(Has(JobsText({view}, {160, false}), "exit 3"));
}

TEST(TextTest, TopHasARowACardWithUnits) {
  const std::string text = NowText(Box(), {120, false});
  EXPECT_TRUE(Has(text, "rack-3  2026-09-21 14:13:20 UTC  8 cards, 3.32 kW")) << text;
  EXPECT_TRUE(Has(text, "86 %")) << text;
  EXPECT_TRUE(Has(text, "415/600 W")) << text;
  EXPECT_TRUE(Has(text, "34.1/96 GB")) << text;
  EXPECT_TRUE(Has(text, "load 20.5")) << text;
  EXPECT_FALSE(Has(text, "SIMULATED"));
  ExpectWidth(text, 120);
  ExpectWidth(NowText(Box(), {80, false}), 80);
}

TEST(TextTest, TopSaysWhatIsSimulatedOldOrSilent) {
  query::Now now = Box();
  now.simulated = true;
  now.cards[1].age_s = 7200;
  now.cards[2].readings["power_w"] = Absence::kLost;
  now.cards[3].throttle = {"power_cap"};
  now.cards_answering = 6;
  const std::string text = NowText(now, {130, false});
  EXPECT_TRUE(Has(text, "SIMULATED"));
  EXPECT_TRUE(Has(text, "read 2 h ago")) << text;
  EXPECT_TRUE(Has(text, "lost")) << text;
  EXPECT_TRUE(Has(text, "power_cap"));
  EXPECT_TRUE(Has(text, "2 silent"));
}

TEST(TextTest, ABoxWithoutCardsIsNormal) {
  query::Now now = Box();
  now.cards.clear();
  EXPECT_TRUE(Has(NowText(now, kPlain), "no cards"));
}

TEST(TextTest, NoColourMeansNoEscapes) {
  EXPECT_FALSE(Has(NowText(Box(), {120, false}), "\x1b"));
  EXPECT_TRUE(Has(NowText(Box(), {120, true}), "\x1b["));
}

TEST(TextTest, HostileNamesStayOnTheirLine) {
  query::JobView view = View();
  view.job.name = "evil\x1b[2J\nname\r\xff";
  const std::string text = JobsText({view}, {200, false});
  EXPECT_FALSE(Has(text, "\x1b"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
}

TEST(TextTest, AJobWithItsMetricsCheckpointsAndEvents) {
  query::JobDetail detail;
  detail.view = View();
  detail.curves = {{"val/loss",
                    {{"val/loss", 2.0, 1.0, std::nullopt, WallTime{}},
                     {"val/loss", 1.5, 2.0, std::nullopt, WallTime{}}}}};
  ledger::Checkpoint c;
  c.id = 3;
  c.job = 12;
  c.path = "/runs/weights/best.pt";
  c.role = ledger::CheckpointRole::kBest;
  c.state = ledger::CheckpointState::kSafe;
  c.bytes = 40'000'000;
  detail.checkpoints = {{c, {{3, "home", "12/best.pt", WallTime{1}}}}};
  ledger::Event event;
  event.kind = "checkpoint.safe";
  event.text = "best.pt is safe";
  detail.events.assign(20, event);
  const std::string text = JobText(detail, kPlain);
  for (const char* part : {"#12  train-x", "yolo train", "GPU 0-3,6", "val/loss", "1.500",
                           "best.pt", "40.0 MB", "home:12/best.pt", "Last 8 of 20 events"}) {
    EXPECT_TRUE(Has(text, part)) << part << "\n" << text;
  }
  ExpectWidth(text, 100);
}

TEST(TextTest, FindingsAreSentencesThatFitTheTerminal) {
  explain::Explanation e;
  e.detail.view = View();
  query::CardUse card;
  card.gpu = 2;
  card.samples = 2300;
  card.busy_mean_ratio = 0.86;
  card.power_mean_w = 412.6;
  card.throttle = {{"power_cap", 15, std::nullopt, 1.0, 2.0}};
  e.use.cards = {card};
  e.findings = {{"overfit",
                 "warning",
                 "From about epoch 400 the validation loss rose while the train loss kept falling: "
                 "the model was learning the training data instead of the task.",
                 {},
                 "Which change of recipe would help."},
                {"use", "info", "One card.", {}, ""}};
  const std::string text = ExplainText(e, {72, false});
  EXPECT_TRUE(Has(text, "86 %"));
  EXPECT_TRUE(Has(text, "413 W"));
  EXPECT_TRUE(Has(text, "power_cap 15×"));
  EXPECT_TRUE(Has(text, "  ! From about epoch 400"));
  EXPECT_TRUE(Has(text, "Cannot tell: Which change"));
  ExpectWidth(text, 72);
}

}  // namespace
}  // namespace stoker::report
