#include "report/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

namespace stoker::report {
namespace {

std::set<std::string> Keys(const Json& object) {
  std::set<std::string> keys;
  for (const auto& item : object.items()) keys.insert(item.key());
  return keys;
}

void ExpectKeys(const Json& object, const std::set<std::string>& wanted) {
  const std::set<std::string> keys = Keys(object);
  for (const std::string& key : wanted) EXPECT_TRUE(keys.contains(key)) << key;
}

query::JobView View() {
  query::JobView view;
  ledger::Job& job = view.job;
  job.id = 7;
  job.name = "dishes";
  job.state = ledger::JobState::kRunning;
  job.command = {"python", "train.py"};
  job.gpus = {0, 3};
  job.started_at = WallTime{1'790'000'000'000};
  job.best = ledger::Best{"val/accuracy", 0.751, true, 12.0, std::nullopt};
  job.checkpoints_seen = 4;
  job.checkpoints_safe = 3;
  view.wall_s = 61.5;
  view.gpu_energy_j = 12'000;
  return view;
}

TEST(JsonTest, JobsHaveTheShapeOfTheContract) {
  const Json json = JobsJson({View()});
  EXPECT_EQ(json["schema_version"], 1);
  const Json& job = json["jobs"].at(0);
  ExpectKeys(job,
             {"id", "name", "state", "origin", "command", "cwd", "user", "gpus", "started_at",
              "ended_at", "exit_code", "signal", "wall_s", "gpu_energy_j", "best", "checkpoints"});
  EXPECT_EQ(job["state"], "running");
  EXPECT_EQ(job["origin"], "launched");
  EXPECT_EQ(job["gpus"], (Json{0, 3}));
  EXPECT_EQ(job["started_at"], "2026-09-21T14:13:20.000Z");
  EXPECT_TRUE(job["ended_at"].is_null());
  EXPECT_TRUE(job["exit_code"].is_null());
  EXPECT_EQ(job["best"]["metric"], "val/accuracy");
  EXPECT_EQ(job["best"]["epoch"], 12.0);
  EXPECT_TRUE(job["best"]["at"].is_null());
  EXPECT_EQ(job["checkpoints"]["seen"], 4);
  EXPECT_EQ(job["checkpoints"]["safe"], 3);
}

TEST(JsonTest, AJobCarriesItsMetricsCheckpointsAttemptsAndOrigins) {
  query::JobDetail detail;
  detail.view = View();
  detail.view.job.git_json = R"({"commit":"abc","dirty":true})";
  detail.view.job.environment_json = "{broken";
  detail.curves = {{"train/loss", {{"train/loss", NAN, 1.0, std::nullopt, WallTime{5}}}}};
  ledger::Checkpoint checkpoint;
  checkpoint.id = 3;
  checkpoint.job = 7;
  checkpoint.path = "/runs/best.pt";
  checkpoint.role = ledger::CheckpointRole::kBest;
  checkpoint.state = ledger::CheckpointState::kSafe;
  detail.checkpoints = {{checkpoint, {{3, "home", "7/best.pt", WallTime{9}}}}};
  detail.attempts = {{7, 1, 4242}};
  const Json job = JobJson(detail)["job"];
  EXPECT_EQ(job["metrics"][0]["name"], "train/loss");
  EXPECT_TRUE(job["metrics"][0]["points"][0]["value"].is_null());
  ExpectKeys(job["checkpoints"][0],
             {"id", "job", "path", "role", "epoch", "bytes", "sha256", "state", "copies"});
  EXPECT_EQ(job["checkpoints"][0]["state"], "safe");
  EXPECT_EQ(job["checkpoints"][0]["copies"][0]["store"], "home");
  EXPECT_EQ(job["checkpoints"][0]["copies"][0]["verified_at"], "1970-01-01T00:00:00.009Z");
  EXPECT_EQ(job["attempts"][0]["pid"], 4242);
  EXPECT_EQ(job["git"]["commit"], "abc");
  EXPECT_EQ(job["environment"], Json::object());
}

TEST(JsonTest, ExplainHasTheShapeOfTheContract) {
  explain::Explanation e;
  e.detail.view = View();
  query::CardUse card;
  card.gpu = 3;
  card.samples = 100;
  card.busy_mean_ratio = 0.5;
  card.throttle = {{"power_cap", 4, 2.5, 1.0, 9.0}};
  e.use.cards = {card};
  e.use.total.samples = 100;
  e.findings = {{"use", "info", "One card.", {{"samples", 100}, {"odd", INFINITY}}, ""}};
  const Json json = ExplainJson(e);
  EXPECT_EQ(json["job"], 7);
  ExpectKeys(json["cards"][0], {"gpu", "samples", "busy_mean_ratio", "power_mean_w", "power_peak_w",
                                "energy_j", "temperature_max_c", "margin_min_c", "throttle"});
  EXPECT_TRUE(json["cards"][0]["power_mean_w"].is_null());
  EXPECT_EQ(json["cards"][0]["throttle"][0]["reason"], "power_cap");
  EXPECT_EQ(json["cards"][0]["throttle"][0]["samples"], 4);
  EXPECT_EQ(json["cards"][0]["throttle"][0]["seconds"], 2.5);
  ExpectKeys(json["total"], {"samples", "gpu_energy_j", "busy_mean_ratio", "power_mean_w",
                             "power_peak_w", "throttled_samples"});
  ExpectKeys(json["findings"][0], {"id", "severity", "text", "numbers", "cannot_tell"});
  EXPECT_EQ(json["findings"][0]["numbers"]["samples"], 100);
  EXPECT_TRUE(json["findings"][0]["numbers"]["odd"].is_null());
  EXPECT_EQ(json["best"]["value"], 0.751);
}

TEST(JsonTest, NowSaysAValueOrAReason) {
  query::Now now;
  now.simulated = true;
  now.box = ledger::Box{1, "rack-3", "boot", R"({"cores":128})", {}};
  query::CardNow card;
  card.card.gpu = 2;
  card.readings["power_w"] = 415.5;
  card.readings["margin_c"] = Absence::kUnsupported;
  card.jobs = {7};
  now.cards = {card};
  now.cores = {Reading<double>(0.5), Reading<double>(Absence::kNotYet)};
  const Json json = NowJson(now);
  EXPECT_EQ(json["simulated"], true);
  EXPECT_EQ(json["box"]["facts"]["cores"], 128);
  EXPECT_EQ(json["cards"][0]["readings"]["power_w"], 415.5);
  EXPECT_FALSE(json["cards"][0]["readings"].contains("margin_c"));
  EXPECT_EQ(json["cards"][0]["absent"]["margin_c"], "unsupported");
  EXPECT_TRUE(json["cores"][1].is_null());
  EXPECT_TRUE(json["gpu_power_w"].is_null());  // no card answered: not 0 W
}

TEST(JsonTest, SeriesNameTheirUnitAndKeepGaps) {
  query::SeriesView view;
  view.series.metric = ledger::Metric::kPowerW;
  view.series.subject.scope = ledger::Scope::kCard;
  view.label = "GPU 0";
  ledger::Bucket full{WallTime{0}, 1, 2, 3, 2, 10, 0};
  ledger::Bucket gap{WallTime{1000}, 0, 0, 0, 0, 0, 10};
  view.buckets = {full, gap};
  const Json json = SeriesJson({view})["series"][0];
  EXPECT_EQ(json["metric"], "power_w");
  EXPECT_EQ(json["unit"], "W");
  EXPECT_EQ(json["buckets"][0]["max"], 3);
  EXPECT_TRUE(json["buckets"][1]["mean"].is_null());
  EXPECT_EQ(json["buckets"][1]["absent"], 10);
}

TEST(JsonTest, EventsAreOneSentenceAndItsNumbers) {
  ledger::Event event;
  event.id = 1;
  event.kind = "checkpoint.safe";
  event.severity = ledger::Severity::kNotice;
  event.text = "best.pt is safe";
  event.data_json = R"({"bytes":12})";
  const Json json = EventsJson({event})["events"][0];
  EXPECT_EQ(json["severity"], "notice");
  EXPECT_EQ(json["data"]["bytes"], 12);
  EXPECT_TRUE(json["job"].is_null());
}

TEST(JsonTest, BytesThatAreNoTextDoNotBreakTheDocument) {
  query::JobView view = View();
  view.job.name = "bad\xff\"name\n";
  const std::string text = DumpJson(JobsJson({view}));
  EXPECT_TRUE(ParseJson(text)) << text;
}

}  // namespace
}  // namespace stoker::report
