#include "report/notebook.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.h"
#include "query/fake_ledger.h"
#include "query/night_fixture.h"
#include "query/query.h"

namespace stoker::report {
namespace {

size_t Count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}
bool Has(const std::string& text, const std::string& part) { return Count(text, part) > 0; }

// Every tag that opens also closes, in order; the few that close themselves are known.
std::string Unbalanced(const std::string& html) {
  std::vector<std::string> open;
  for (size_t at = html.find('<'); at != html.npos; at = html.find('<', at + 1)) {
    if (html.compare(at, 2, "<!") == 0) continue;
    const size_t end = html.find('>', at);
    if (end == html.npos) return "no end of tag";
    std::string name = html.substr(at + 1, html.find_first_of(" \t\n/>", at + 2) - at - 1);
    if (html[end - 1] == '/' || name == "meta") continue;
    if (name[0] != '/') {
      open.push_back(name);
    } else if (open.empty() || open.back() != name.substr(1)) {
      return name + (open.empty() ? "" : " in " + open.back());
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : "open: " + open.back();
}

query::SeriesView Series(const char* label, double mean, int64_t card) {
  query::SeriesView view;
  view.label = label;
  view.series.subject = {ledger::Scope::kCard, card, ""};
  for (int i = 0; i < 60; ++i) {
    ledger::Bucket b{
        WallTime{1'790'000'000'000 + i * 60'000}, mean - 5, mean, mean + 5, mean, 60, 0};
    if (i == 30) b = {b.from, 0, 0, 0, 0, 0, 60};
    view.buckets.push_back(b);
  }
  return view;
}

NotebookJob Page() {
  NotebookJob page;
  query::JobDetail& detail = page.explanation.detail;
  ledger::Job& job = detail.view.job;
  job.id = 12;
  job.name = "dishes";
  job.state = ledger::JobState::kSucceeded;
  job.command = {"stoker-train", "classify"};
  job.started_at = WallTime{1'790'000'000'000};
  job.ended_at = *job.started_at + Millis(3'600'000);
  job.gpus = {0};
  job.best = ledger::Best{"val/accuracy", 0.75, true, 40.0, *job.started_at + Millis(2'400'000)};
  job.last_epoch = job.epochs_planned = 60;
  detail.view.wall_s = 3600;
  for (const char* name : {"val/accuracy", "train/loss", "val/loss"}) {
    query::MetricCurve curve{name, {}};
    for (int e = 1; e <= 60; ++e) {
      curve.points.push_back({name, e == 40 ? 0.75 : 0.7 / e, static_cast<double>(e), std::nullopt,
                              *job.started_at + Millis(60'000 * e)});
    }
    detail.curves.push_back(curve);
  }
  const WallTime t = *job.started_at;
  detail.phases = {{12, "startup", t, t + Millis(60'000)}, {12, "train", t + Millis(60'000), {}}};
  ledger::Checkpoint checkpoint;
  checkpoint.id = 1;
  checkpoint.path = "/runs/best.safetensors";
  checkpoint.role = ledger::CheckpointRole::kBest;
  checkpoint.state = ledger::CheckpointState::kSafe;
  checkpoint.bytes = 6'200'000;
  checkpoint.seen_at = t + Millis(2'400'000);
  detail.checkpoints = {{checkpoint, {{1, "home", "12/best.safetensors", t + Millis(2'401'000)}}}};
  page.explanation.use.from = t;
  page.explanation.use.to = *job.ended_at;
  query::CardUse card;
  card.card = 1;
  card.samples = 3600;
  card.busy_mean_ratio = 0.86;
  card.power_mean_w = 415;
  card.limit_w = 600;
  card.temperature_max_c = 76;
  card.energy_j = 1.5e6;
  page.explanation.use.cards = {card};
  page.explanation.use.total = {3600, 0, 0, 1.5e6, 0.86, 415.0, 459.0, std::nullopt};
  page.explanation.findings = {{"overfit",
                                "warning",
                                "The validation loss rose.",
                                {{"onset_epoch", 38}, {"onset_uncertainty_epochs", 4}},
                                "Why."}};
  page.busy = {Series("GPU 0", 0.86, 1)};
  page.power = {Series("GPU 0", 415, 1)};
  page.temperature = {Series("GPU 0", 70, 1)};
  page.cpu = {Series("host", 0.2, 0)};
  return page;
}

Notebook Night() {
  Notebook notebook;
  notebook.written_at = WallTime{1'790'010'000'000};
  notebook.box = ledger::Box{1, "rack-3", "boot", "{}", {}};
  notebook.jobs = {Page()};
  return notebook;
}

TEST(NotebookTest, HoldsFiguresTablesAndFindings) {
  const std::string html = NotebookHtml(Night());
  for (const char* part :
       {"<title>dishes · Stoker</title>", "rack-3, written 2026-09-21 17:00:00 UTC", "succeeded",
        "The validation loss rose.", "Not told by these numbers: Why.", "after the best: 20 epochs",
        "0.750 at 40", "Fig. 1", "86 %", "415 W", "76 °C max", "417 Wh", "best.safetensors",
        "6.2 MB", "home:12/best.safetensors", "60/60 epochs", "startup", "stoker-train classify"}) {
    EXPECT_TRUE(Has(html, part)) << part;
  }
  EXPECT_EQ(Count(html, "<figure>"), 7u);  // metric, losses, timeline, busy, power, heat, cpu
  EXPECT_EQ(Unbalanced(html), "");
  EXPECT_FALSE(Has(html, "Simulated"));
}

TEST(NotebookTest, NothingIsLoadedFromOutside) {
  const std::string html = NotebookHtml(Night());
  for (const char* part :
       {"http://", "https://", "<script", "<link", "<img", "src=", "@import", "url("}) {
    EXPECT_FALSE(Has(html, part)) << part;
  }
  EXPECT_TRUE(Has(html, "default-src 'none'"));
  EXPECT_TRUE(Has(html, "prefers-color-scheme: dark"));
}

TEST(NotebookTest, HostileTextStaysText) {
  Notebook notebook = Night();
  const std::string evil = "</title><script>alert(1)</script>\"'&\x1b[2J\xff";
  NotebookJob& page = notebook.jobs[0];
  ledger::Job& job = page.explanation.detail.view.job;
  job.name = job.cwd = job.user = job.reason = job.run_log = evil;
  job.command = {evil};
  job.git_json = R"({"commit":"<b>x","branch":"<i>"})";
  job.best->metric = evil;
  for (auto& curve : page.explanation.detail.curves) curve.name = evil;
  page.explanation.detail.phases[0].name = evil;
  page.explanation.detail.checkpoints[0].checkpoint.path = evil;
  page.explanation.detail.checkpoints[0].copies[0].key = evil;
  page.explanation.findings[0].text = page.explanation.findings[0].cannot_tell = evil;
  page.explanation.findings[0].severity = evil;
  page.busy[0].label = evil;
  notebook.box->hostname = evil;
  const std::string html = NotebookHtml(notebook);
  EXPECT_FALSE(Has(html, "<script"));
  EXPECT_FALSE(Has(html, "<b>x"));
  EXPECT_FALSE(Has(html, "\x1b"));
  EXPECT_EQ(Count(html, "</title>"), 1u + Count(html, "<title>") - 1u);
  EXPECT_EQ(Unbalanced(html), "");
}

TEST(NotebookTest, SeveralJobsHaveContents) {
  Notebook notebook = Night();
  notebook.simulated = true;
  notebook.jobs.push_back(Page());
  notebook.jobs[1].explanation.detail.view.job.id = 13;
  const std::string html = NotebookHtml(notebook);
  EXPECT_TRUE(Has(html, "<h1>2 jobs of 21 September 2026</h1>"));
  EXPECT_TRUE(Has(html, "href=\"#job-13\""));
  EXPECT_TRUE(Has(html, "Simulated cards"));
  EXPECT_TRUE(Has(html, "Fig. 14"));
}

TEST(NotebookTest, AJobOfWhichNothingIsKnownStillHasAPage) {
  Notebook notebook;
  notebook.jobs.resize(1);
  notebook.jobs[0].explanation.detail.view.job.command = {"sleep", "1"};
  const std::string html = NotebookHtml(notebook);
  EXPECT_TRUE(Has(html, "sleep 1"));
  EXPECT_TRUE(Has(html, "There is nothing to say yet."));
  EXPECT_EQ(Unbalanced(html), "");
}

TEST(NotebookTest, TheRecordedNightFitsInOneFile) {
  const char* given = std::getenv("STOKER_DATA");
  const char* source = std::getenv("STOKER_SOURCE");
  const std::string folder =
      given != nullptr
          ? std::string(given) + "/night"
          : (source != nullptr ? std::string(source) : std::string(".")) + "/../shared/data/night";
  if (!FileExists(folder + "/sidecar.csv")) GTEST_SKIP() << "no " << folder;
  query::FakeLedger ledger;
  FakeClock clock;
  const auto job = query::LoadNight(ledger, folder);
  ASSERT_TRUE(job) << job.error().Line();
  NotebookJob page;
  page.explanation = explain::Explain(query::GetJob(ledger, 1, clock).value(),
                                      query::GetJobUse(ledger, *job, clock).value());
  const auto series = [&](ledger::Metric metric) {
    return query::GetJobSeries(ledger, *job, metric, 600, clock).value();
  };
  page.busy = series(ledger::Metric::kBusyRatio);
  page.power = series(ledger::Metric::kPowerW);
  page.temperature = series(ledger::Metric::kTemperatureC);
  const std::string html = NotebookHtml({clock.Now(), std::nullopt, false, {page}});
  EXPECT_EQ(Unbalanced(html), "");
  EXPECT_LT(html.size(), 2u << 20);
  for (const char* part : {"GPU 7", "after the best: 188 epochs", "0.527 at 412", "63.6 kWh"}) {
    EXPECT_TRUE(Has(html, part)) << part;
  }
}

}  // namespace
}  // namespace stoker::report
