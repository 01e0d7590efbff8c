// A writer is killed again and again, at any instant of its work; every tick that it knew to be
// committed is found again, whole, and sealing goes on where it was.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "ledger/open.h"

namespace stoker::ledger {
namespace {

constexpr int64_t kStart = 1'790'000'000'000;
constexpr int kRounds = 100;

Tuning SmallTuning() {
  Tuning tuning;
  tuning.seal_above = 40;
  tuning.keep = 10;
  tuning.batch = 30;
  return tuning;
}

Status WriteOne(Ledger& ledger, int64_t n, const std::vector<SeriesId>& series) {
  return ledger.Write([&](Writer& w) -> Status {
    std::vector<TickValue> tick;
    for (const SeriesId id : series) tick.push_back({id, static_cast<double>(n)});
    STOKER_TRY(w.AddTick(WallTime{kStart + n * 1000}, tick));
    if (n % 10 == 0) {
      Event event;
      event.at = WallTime{kStart + n * 1000};
      event.kind = "test.tick";
      STOKER_TRY(w.AddEvent(event));
    }
    return w.SetMark("ticks", std::to_string(n + 1));
  });
}

// The writer that is killed: this program, started again by the test below.
TEST(CrashChild, DISABLED_WritesUntilItIsKilled) {
  const char* path = std::getenv("STOKER_CRASH_LEDGER");
  ASSERT_NE(path, nullptr);
  const FakeClock clock(WallTime{kStart});
  auto ledger = OpenTuned(path, Ledger::Mode::kWriter, clock, SmallTuning());
  ASSERT_TRUE(ledger) << ledger.error().Line();
  std::vector<SeriesId> series;
  ASSERT_TRUE((*ledger)->Write([&](Writer& w) -> Status {
    for (int64_t card = 0; card < 3; ++card) {
      STOKER_ASSIGN(const SeriesId id, w.SeriesFor(Metric::kPowerW, {Scope::kCard, card, ""}));
      series.push_back(id);
    }
    return Ok();
  }));
  Fd out(1);
  const std::optional<std::string> mark = (*ledger)->Mark("ticks").value();
  for (int64_t n = mark ? ParseInt(*mark).value() : 0;; ++n) {
    const Status written = WriteOne(**ledger, n, series);
    ASSERT_TRUE(written) << written.error().Line();
    if (!WriteAll(out, "kept " + std::to_string(n) + "\n", "pipe")) break;
    if (n % 7 == 0) {
      ASSERT_TRUE((*ledger)->Maintain());
    }
  }
  out.Release();
}

// The number in the last whole line "kept N" of what the child said.
int64_t LastKept(const std::string& said) {
  const size_t end = said.rfind('\n');
  if (end == std::string::npos) return -1;
  const size_t begin = said.rfind("kept ", end);
  if (begin == std::string::npos) return -1;
  const size_t stop = said.find('\n', begin);
  return ParseInt(std::string_view(said).substr(begin + 5, stop - begin - 5)).value_or(-1);
}

// Runs the child until it has said `lines` lines, a little longer, and kills it.
int64_t RunAndKill(const std::string& path, int lines, std::chrono::microseconds longer) {
  Pipe pipe = MakePipe().value();
  Command command;
  command.argv = {std::filesystem::read_symlink("/proc/self/exe").string(),
                  "--gtest_filter=CrashChild.DISABLED_WritesUntilItIsKilled",
                  "--gtest_also_run_disabled_tests"};
  command.environment = {"STOKER_CRASH_LEDGER=" + path, "GTEST_COLOR=no"};
  command.stdout_fd = pipe.write.get();
  auto child = Process::Start(command);
  EXPECT_TRUE(child) << child.error().Line();
  pipe.write.Close();
  std::string said;
  char buffer[4096];
  const auto read = [&] {
    const auto got = ReadSome(pipe.read, buffer, sizeof buffer, "pipe");
    if (!got || *got == 0) return false;
    said.append(buffer, *got);
    return true;
  };
  const auto count = [&] { return std::count(said.begin(), said.end(), '\n'); };
  while (count() < lines && read()) continue;
  const auto until = std::chrono::steady_clock::now() + longer;
  while (std::chrono::steady_clock::now() < until) continue;
  EXPECT_TRUE(child->SignalGroup(SIGKILL));
  EXPECT_TRUE(child->Wait(Millis(30'000)).value());
  while (read()) continue;
  return LastKept(said);
}

TEST(CrashTest, EveryCommittedTickOutlivesAHundredKills) {
  const TempDir dir = TempDir::Make().value();
  const std::string path = dir.path() + "/ledger.db";
  const FakeClock clock(WallTime{kStart});
  std::mt19937_64 random(41);
  int64_t kept = -1;
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(round);
    const int lines = 4 + static_cast<int>(random() % 40);
    kept = std::max(kept, RunAndKill(path, lines, std::chrono::microseconds(random() % 4000)));
    auto ledger = OpenTuned(path, Ledger::Mode::kReader, clock, SmallTuning());
    if (!ledger && kept < 0) continue;  // killed before there was a ledger
    ASSERT_TRUE(ledger) << ledger.error().Line();
    const std::optional<std::string> mark = (*ledger)->Mark("ticks").value();
    const int64_t found = mark ? ParseInt(*mark).value() : 0;
    ASSERT_GT(found, kept);
    const auto all_series = (*ledger)->AllSeries().value();
    for (const Series& series : all_series) {
      const auto samples = (*ledger)->Scan(series.id, WallTime{0}, WallTime{kStart * 2}).value();
      ASSERT_EQ(static_cast<int64_t>(samples.size()), found);
      for (int64_t n = 0; n < found; ++n) {
        const Sample& sample = samples[static_cast<size_t>(n)];
        ASSERT_EQ(sample.at.ms, kStart + n * 1000);
        ASSERT_EQ(sample.value, static_cast<double>(n));
      }
    }
    ASSERT_EQ(static_cast<int64_t>((*ledger)->Events({})->size()), (found + 9) / 10);
    kept = std::max(kept, found - 1);
  }
  EXPECT_GT(kept, kRounds);
  // Sealing kept up through all of it.
  const auto db = Db::Open(path, Db::Access::kRead).value();
  EXPECT_LT(db->AskInt("SELECT count(*) FROM ticks").value(), 100);
  EXPECT_GT(db->AskInt("SELECT count(*) FROM chunks").value(), 0);
}

}  // namespace
}  // namespace stoker::ledger
