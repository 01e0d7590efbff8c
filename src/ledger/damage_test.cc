// What must not happen to a ledger, and what is said when it does.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "base/check.h"
#include "base/durable_file.h"
#include "base/file.h"
#include "ledger/open.h"
#include "ledger/schema.h"

namespace stoker::ledger {
namespace {

constexpr int64_t kStart = 1'790'000'000'000;

class DamageTest : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = TempDir::Make().value();
    path_ = dir_->path() + "/ledger.db";
  }
  Result<std::unique_ptr<Ledger>> Open(Ledger::Mode mode) {
    return Ledger::Open(path_, mode, clock_);
  }
  // A ledger with a job, events and an imported hour of watts.
  void MakeLedger() {
    auto ledger = Open(Ledger::Mode::kWriter).value();
    const Status made = ledger->Write([&](Writer& w) -> Status {
      Job job;
      job.id = 1;
      STOKER_TRY(w.PutJob(job));
      for (int i = 0; i < 500; ++i) STOKER_TRY(w.AddEvent(SomeEvent()));
      STOKER_ASSIGN(series_, w.SeriesFor(Metric::kPowerW, {Scope::kCard, 1, ""}));
      std::vector<Sample> samples;
      for (int i = 0; i < 3600; ++i) {
        samples.push_back({WallTime{kStart + i * 1000}, (i * 2654435761u % 600'011) / 1000.0});
      }
      return w.AddSamples(series_, samples);
    });
    ASSERT_TRUE(made) << made.error().Line();
  }
  static Event SomeEvent(size_t text_bytes = 100) {
    Event event;
    event.kind = "test.event";
    event.text.assign(text_bytes, 'x');
    return event;
  }
  // Overwrites a piece of the closed file with nonsense.
  void Spoil(int64_t from, size_t size) {
    std::string bytes = ReadFile(path_).value();
    for (size_t i = 0; i < size; ++i) {
      bytes[static_cast<size_t>(from) + i] = static_cast<char>(0xa5 + i);
    }
    ASSERT_TRUE(WriteDurably(path_, bytes));
  }
  int64_t RootPage(const std::string& table) {
    const auto db = Db::Open(path_, Db::Access::kRead).value();
    return db->AskInt("SELECT rootpage FROM sqlite_master WHERE name = ?", table).value().value();
  }
  int64_t PageSize() {
    return Db::Open(path_, Db::Access::kRead).value()->AskInt("PRAGMA page_size")->value();
  }

  FakeClock clock_{WallTime{kStart}};
  std::optional<TempDir> dir_;
  std::string path_;
  SeriesId series_ = 0;
};

TEST_F(DamageTest, ADamagedTableStopsTheWriterAndNotTheReadersOfTheOthers) {
  MakeLedger();
  Spoil((RootPage("events") - 1) * PageSize(), 4000);
  const std::string before = ReadFile(path_).value();
  const auto refused = Open(Ledger::Mode::kWriter);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kCorrupt);
  EXPECT_NE(refused.error().advice.find(".recover"), std::string::npos);
  EXPECT_EQ(refused.error().Line().find('\n'), std::string::npos);
  EXPECT_TRUE(ReadFile(path_).value() == before);

  auto reader = Open(Ledger::Mode::kReader).value();
  EXPECT_EQ(reader->Jobs({})->size(), 1u);
  EXPECT_EQ(reader->Scan(series_, WallTime{0}, WallTime{kStart * 2})->size(), 3600u);
  EXPECT_EQ(reader->Events({}).error().code, Code::kCorrupt);
}

TEST_F(DamageTest, ADamagedChunkIsSaidAndNeverShown) {
  MakeLedger();
  int64_t at = 0;
  {
    const std::string bytes = ReadFile(path_).value();
    const auto db = Db::Open(path_, Db::Access::kRead).value();
    Query q = db->Ask("SELECT data FROM chunks LIMIT 1").value();
    ASSERT_TRUE(q.Step().value());
    const std::string chunk(q.Bytes());
    ASSERT_GT(chunk.size(), 100u);
    at = static_cast<int64_t>(bytes.find(chunk.substr(0, 100)));
    ASSERT_GT(at, 0);
  }
  Spoil(at + 50, 1);
  auto ledger = Open(Ledger::Mode::kWriter).value();
  const auto scan = ledger->Scan(series_, WallTime{0}, WallTime{kStart * 2});
  ASSERT_FALSE(scan);
  EXPECT_EQ(scan.error().code, Code::kCorrupt);
  // The tiers of the same hour and the records stand.
  EXPECT_GT(ledger
                ->ScanBuckets(series_, WallTime{kStart - kStart % 900'000},
                              WallTime{kStart - kStart % 900'000 + 7'200'000}, 100)
                ->size(),
            25u);
  EXPECT_TRUE(ledger->Write([](Writer& w) { return w.SetMark("a", "b"); }));
}

TEST_F(DamageTest, HalfAFileAndNoFileOfOursAreRefusedAndLeftAlone) {
  MakeLedger();
  const std::string whole = ReadFile(path_).value();
  for (const std::string& bytes : {whole.substr(0, whole.size() / 2),
                                   std::string("this is a text file\n"), whole.substr(0, 50)}) {
    ASSERT_TRUE(WriteDurably(path_, bytes));
    const auto writer = Open(Ledger::Mode::kWriter);
    ASSERT_FALSE(writer) << bytes.size();
    EXPECT_EQ(writer.error().code, Code::kCorrupt) << writer.error().Line();
    EXPECT_FALSE(writer.error().advice.empty());
    EXPECT_TRUE(ReadFile(path_).value() == bytes);
  }
  ASSERT_TRUE(RemoveFile(path_));
  {
    const auto other = Db::Open(path_, Db::Access::kWrite).value();
    ASSERT_TRUE(other->Script("CREATE TABLE recipes (dish TEXT)"));
  }
  for (const auto mode : {Ledger::Mode::kWriter, Ledger::Mode::kReader}) {
    const auto refused = Open(mode);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kInvalid);
  }
}

TEST_F(DamageTest, ALedgerOfANewerStokerIsLeftAlone) {
  MakeLedger();
  {
    const auto db = Db::Open(path_, Db::Access::kWrite).value();
    ASSERT_TRUE(db->Script("PRAGMA user_version = 999"));
  }
  for (const auto mode : {Ledger::Mode::kWriter, Ledger::Mode::kReader}) {
    const auto refused = Open(mode);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kUnsupported);
    EXPECT_NE(refused.error().Line().find("newer"), std::string::npos);
    EXPECT_FALSE(refused.error().advice.empty());
  }
}

TEST_F(DamageTest, AnEmptyFileIsNoLedgerYet) {
  ASSERT_TRUE(WriteDurably(path_, ""));
  EXPECT_EQ(Open(Ledger::Mode::kReader).error().code, Code::kNotFound);
  MakeLedger();
  EXPECT_EQ(Open(Ledger::Mode::kReader).value()->Jobs({})->size(), 1u);
}

TEST_F(DamageTest, MigrationStepsRunOnceInOrderAndWhole) {
  const auto db = Db::Open(path_, Db::Access::kWrite).value();
  std::vector<SchemaStep> steps{{1, "CREATE TABLE a (x); INSERT INTO a VALUES (1)"}};
  ASSERT_TRUE(Migrate(*db, steps));
  ASSERT_TRUE(Migrate(*db, steps));
  EXPECT_EQ(db->AskInt("SELECT count(*) FROM a").value(), 1);
  steps.push_back({2, "ALTER TABLE a ADD COLUMN y DEFAULT 7"});
  steps.push_back({3, "CREATE TABLE b (x); INSERT INTO nowhere VALUES (1)"});
  EXPECT_FALSE(Migrate(*db, steps));
  EXPECT_EQ(db->AskInt("PRAGMA user_version").value(), 2);
  EXPECT_EQ(db->AskInt("SELECT y FROM a").value(), 7);
  EXPECT_EQ(db->AskInt("SELECT count(*) FROM sqlite_master WHERE name = 'b'").value(), 0);
  steps.back().sql = "CREATE TABLE b (x)";
  EXPECT_TRUE(Migrate(*db, steps));
  EXPECT_EQ(db->AskInt("PRAGMA user_version").value(), 3);
}

// A limit on the size of files stands for a full disk.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) {
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit small = before_;
    small.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST_F(DamageTest, AFullDiskIsSaidAndPassesAway) {
  MakeLedger();
  auto ledger = Open(Ledger::Mode::kWriter).value();
  size_t kept = ledger->Events({})->size();
  const auto add = [&](size_t bytes) {
    return ledger->Write([&](Writer& w) -> Status {
      STOKER_TRY(w.AddEvent(SomeEvent(bytes)));
      return w.AddTick(clock_.Now(), {{series_, 1}});
    });
  };
  ASSERT_TRUE(add(10));
  ++kept;
  {
    const SmallDisk small(200'000);
    Status last = Ok();
    for (int i = 0; i < 100 && last; ++i) {
      clock_.Tick(Millis(1000));
      last = add(20'000);
      if (last) ++kept;
    }
    ASSERT_FALSE(last);
    EXPECT_EQ(last.error().code, Code::kUnavailable) << last.error().Line();
    EXPECT_NE(last.error().Line().find("disk is full"), std::string::npos) << last.error().Line();
    EXPECT_EQ(ledger->Events({})->size(), kept);  // reading goes on
  }
  EXPECT_EQ(ledger->Events({})->size(), kept);
  const Status again = add(20'000);
  ASSERT_TRUE(again) << again.error().Line();
  EXPECT_EQ(ledger->Events({})->size(), kept + 1);
  EXPECT_TRUE(ledger->Maintain());
}

// Another user, who may read the home and write nothing in it.
class Stranger {
 public:
  Stranger() : root_(geteuid() == 0) {
    if (root_) STOKER_CHECK(seteuid(65534) == 0);
  }
  ~Stranger() {
    if (root_) STOKER_CHECK(seteuid(0) == 0);
  }

 private:
  const bool root_;
};

TEST_F(DamageTest, AReaderNeedsNoRightToWrite) {
  MakeLedger();
  ASSERT_EQ(chmod(dir_->path().c_str(), 0555), 0);
  for (const bool with_log : {true, false}) {
    if (!with_log) {
      ASSERT_EQ(chmod(dir_->path().c_str(), 0755), 0);
      ASSERT_TRUE(RemoveFile(path_ + "-wal"));
      ASSERT_TRUE(RemoveFile(path_ + "-shm"));
      ASSERT_EQ(chmod(dir_->path().c_str(), 0555), 0);
    }
    const Stranger stranger;
    const auto reader = Open(Ledger::Mode::kReader);
    ASSERT_TRUE(reader) << reader.error().Line();
    EXPECT_EQ((*reader)->Jobs({})->size(), 1u);
    EXPECT_EQ((*reader)->Scan(series_, WallTime{0}, WallTime{kStart * 2})->size(), 3600u);
  }
  ASSERT_EQ(chmod(dir_->path().c_str(), 0755), 0);
}

}  // namespace
}  // namespace stoker::ledger
