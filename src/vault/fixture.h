// A box with a ledger, a store behind a bad line, a work folder and a vault, for tests.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/durable_file.h"
#include "base/file.h"
#include "base/sha256.h"
#include "blob/dir/dir_store.h"
#include "blob/faulty/faulty_store.h"
#include "ledger/ledger.h"
#include "vault/handmade.h"
#include "vault/vault.h"

namespace stoker::vault {

class VaultFixture : public testing::Test {
 protected:
  VaultFixture() {
    EXPECT_TRUE(MakeDirs(work_));
    auto ledger =
        ledger::Ledger::Open(dir_.path() + "/ledger.db", ledger::Ledger::Mode::kWriter, clock_);
    EXPECT_TRUE(ledger) << ledger.error().Line();
    ledger_ = std::move(*ledger);
    disk_ = std::move(*blob::OpenDirStore(dir_.path() + "/store"));
    store_ = std::make_unique<blob::FaultyStore>(*disk_);
    // Named beforehand, so that the first Put through the bad line is a checkpoint's.
    EXPECT_TRUE(blob::PutBytes(*disk_, "store-id", "test"));
  }

  // A run that began long ago in `cwd` and, when it ends, ends far in the future: every file is
  // its.
  ledger::Job PutJob(int64_t id, ledger::JobState state, const std::string& cwd) {
    ledger::Job job;
    job.id = id;
    job.name = "job " + std::to_string(id);
    job.state = state;
    job.cwd = cwd;
    job.folder = dir_.path() + "/jobs/" + std::to_string(id);
    job.created_at = WallTime{1000};
    job.started_at = WallTime{1000 + id};
    if (ledger::IsFinal(state)) job.ended_at = WallTime{4'000'000'000'000};
    Do([&](ledger::Writer& writer) { return writer.PutJob(job); });
    return job;
  }
  void PutJob(const ledger::Job& job) {
    Do([&](ledger::Writer& writer) { return writer.PutJob(job); });
  }
  // Files have real times: a word said by default comes after all of them.
  void Say(int64_t job, const std::string& data_json, WallTime at = WallTime{3'900'000'000'000}) {
    ledger::Event event;
    event.at = at;
    event.kind = "checkpoint.written";
    event.job = job;
    event.data_json = data_json;
    Do([&](ledger::Writer& writer) -> Status {
      const auto id = writer.AddEvent(event);
      return id ? Ok() : Status(id.error());
    });
  }
  void Do(const std::function<Status(ledger::Writer&)>& change) {
    const Status done = ledger_->Write(change);
    ASSERT_TRUE(done) << done.error().Line();
  }

  // Truncates and writes in place, as Ultralytics and torch.save do.
  static void WriteInPlace(const std::string& path, const std::string& bytes) {
    ASSERT_TRUE(MakeDirs(DirName(path)));
    const auto fd = OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC);
    ASSERT_TRUE(fd) << fd.error().Line();
    ASSERT_TRUE(WriteAll(*fd, bytes, path));
  }
  static void SetTime(const std::string& path, int64_t seconds) {
    const timespec times[2] = {{seconds, 0}, {seconds, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }

  void Start(ledger::Ledger* ledger = nullptr) {
    vault_ = std::make_unique<Vault>(config_, ledger != nullptr ? *ledger : *ledger_, *store_, log_,
                                     clock_);
  }
  // Lets `time` pass in steps small enough for everything that is due.
  void Run(Millis time = Millis(4000)) {
    if (!vault_) Start();
    for (Millis passed{0}; passed < time; passed += Millis(200)) {
      clock_.Tick(Millis(200));
      for (int i = 0; i < 100; ++i) {
        const auto more = vault_->Tick(Millis(0));
        ASSERT_TRUE(more) << more.error().Line();
        if (!*more) break;
      }
    }
  }

  std::vector<ledger::Checkpoint> Rows(std::optional<int64_t> job = std::nullopt) {
    return *ledger_->Checkpoints(job);
  }
  // The newest row of the file of this name.
  ledger::Checkpoint RowOf(const std::string& name) {
    ledger::Checkpoint found;
    for (const auto& row : Rows()) {
      if (BaseName(row.path) == name && row.id > found.id) found = row;
    }
    EXPECT_NE(found.id, 0) << "no row of " << name;
    return found;
  }
  std::string StateOf(const std::string& name) {
    return std::string(ledger::CheckpointStateName(RowOf(name).state));
  }
  std::string StatesOf(const std::string& name) {
    std::string out;
    for (const auto& row : Rows()) {
      if (BaseName(row.path) != name) continue;
      out.append(out.empty() ? "" : " ").append(ledger::CheckpointStateName(row.state));
    }
    return out;
  }
  int EventsOf(const std::string& kind) {
    ledger::EventFilter filter;
    filter.kind_prefix = kind;
    return static_cast<int>(ledger_->Events(filter)->size());
  }
  // Every object stands under its own hash, and every safe row has a verified copy of its bytes.
  void ExpectHonestStore() {
    const auto objects = disk_->List("sha256/");
    for (const auto& object : *objects) {
      const std::string bytes = *blob::GetBytes(*disk_, object.key, 64 << 20);
      EXPECT_EQ(BaseName(object.key), Sha256Hex(bytes));
    }
    for (const auto& row : Rows()) {
      if (row.state != ledger::CheckpointState::kSafe) continue;
      const auto copies = *ledger_->Copies(row.id);
      ASSERT_EQ(copies.size(), 1u);
      EXPECT_TRUE(copies[0].verified_at);
      EXPECT_EQ(copies[0].store, "local");
      const auto head = disk_->Head(copies[0].key);
      ASSERT_TRUE(head) << row.path;
      EXPECT_EQ(head->bytes, row.bytes);
      EXPECT_EQ(BaseName(copies[0].key), row.sha256);
    }
  }
  size_t Objects() { return disk_->List("sha256/")->size(); }

  FakeClock clock_;
  MemoryLogger log_;
  // In memory where the machine has such a folder: these tests sync thousands of times.
  TempDir dir_ =
      std::move(*TempDir::Make(FileExists("/dev/shm") ? "/dev/shm/stoker-vault" : "stoker-vault"));
  const std::string work_ = dir_.path() + "/work";
  Config config_;
  std::unique_ptr<ledger::Ledger> ledger_;
  std::unique_ptr<blob::ObjectStore> disk_;
  std::unique_ptr<blob::FaultyStore> store_;
  std::unique_ptr<Vault> vault_;
};

}  // namespace stoker::vault
