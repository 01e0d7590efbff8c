#include "vault/vault.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "vault/fixture.h"

namespace stoker::vault {
namespace {

using handmade::LegacyTorch;
using handmade::SimpleSafetensors;
using handmade::TorchZip;
using ledger::CheckpointRole;
using ledger::JobState;

class VaultTest : public VaultFixture {};

TEST_F(VaultTest, ACheckpointOfARunningJobBecomesSafe) {
  ledger::Job job = PutJob(7, JobState::kRunning, work_);
  Run(Millis(200));
  const std::string bytes = TorchZip(900'000, 1);
  WriteInPlace(work_ + "/runs/weights/best.pt", bytes);
  Run(Millis(1000));
  const ledger::Checkpoint row = RowOf("best.pt");
  EXPECT_EQ(row.state, ledger::CheckpointState::kSafe);
  EXPECT_EQ(row.job, 7);
  EXPECT_EQ(row.role, CheckpointRole::kBest);
  EXPECT_EQ(row.bytes, static_cast<int64_t>(bytes.size()));
  EXPECT_EQ(row.sha256, Sha256Hex(bytes));
  EXPECT_EQ(EventsOf("checkpoint.safe"), 1);
  EXPECT_EQ(store_->puts(), 1);
  ExpectHonestStore();
  Run(Millis(30'000));
  EXPECT_EQ(Rows().size(), 1u) << "looking again finds nothing new";
}

TEST_F(VaultTest, WhatTheRunSaysAndMeasuresIsJoined) {
  ledger::Job job = PutJob(7, JobState::kRunning, work_);
  job.best = ledger::Best{"val/accuracy", 0.9, true, 12.0, WallTime{3000}};
  PutJob(job);
  Do([](ledger::Writer& writer) {
    return writer.AddMetrics(7, {{"val/accuracy", 0.8, 11, {}, WallTime{2000}},
                                 {"val/accuracy", 0.9, 12, {}, WallTime{3000}},
                                 {"val/accuracy", 0.7, 13, {}, WallTime{9'000'000'000'000}}});
  });
  const TempDir elsewhere = std::move(*TempDir::Make());
  WriteInPlace(work_ + "/out/m1.safetensors", SimpleSafetensors(100, 1));
  WriteInPlace(work_ + "/out/m2.safetensors", SimpleSafetensors(100, 2));
  WriteInPlace(elsewhere.path() + "/best.weights", "no known format");
  Run(Millis(200));
  Say(7, R"({"path":"out/m1.safetensors","role":"last","epoch":11})");
  Say(7, R"({"path":")" + elsewhere.path() + R"(/best.weights","role":"best"})");
  Say(7, R"({"path":"none.pt","role":"no such role"})");
  Say(7, "not JSON");
  Run();
  const ledger::Checkpoint told = RowOf("m1.safetensors");
  EXPECT_EQ(told.role, CheckpointRole::kLast);
  EXPECT_EQ(told.epoch, 11);
  ASSERT_TRUE(told.metric);
  EXPECT_EQ(told.metric->value, 0.8);
  const ledger::Checkpoint untold = RowOf("m2.safetensors");
  EXPECT_EQ(untold.role, CheckpointRole::kUnknown);
  EXPECT_EQ(untold.epoch, 12) << "the newest number that was there when the file was written";
  EXPECT_EQ(untold.metric->value, 0.9);
  const ledger::Checkpoint outside = RowOf("best.weights");
  EXPECT_EQ(outside.state, ledger::CheckpointState::kSafe) << "a folder that the run named";
  EXPECT_EQ(outside.role, CheckpointRole::kBest);
  ExpectHonestStore();
}

TEST_F(VaultTest, AWordIsAboutTheVersionWrittenBeforeIt) {
  PutJob(1, JobState::kRunning, work_);
  const std::string path = work_ + "/last.safetensors";
  for (int epoch = 1; epoch <= 2; ++epoch) {
    WriteInPlace(path, handmade::SimpleSafetensors(1000, epoch));
    SetTime(path, 2'000'000'000 + 10 * epoch);
    Run();
  }
  // A quick trainer: both words arrive after both writes.
  for (int epoch = 1; epoch <= 2; ++epoch) {
    Say(1, R"({"path":")" + path + R"(","role":"last","epoch":)" + std::to_string(epoch) + "}",
        WallTime{(2'000'000'000 + 10 * epoch + 1) * int64_t{1000}});
  }
  Run();
  ASSERT_EQ(Rows().size(), 2u);
  EXPECT_EQ(Rows()[0].epoch, 1);
  EXPECT_EQ(Rows()[1].epoch, 2);
}

TEST_F(VaultTest, AHalfWrittenFileWaitsUntilItIsWhole) {
  PutJob(1, JobState::kRunning, work_);
  const std::string bytes = TorchZip(300'000, 1);
  WriteInPlace(work_ + "/last.pt", bytes.substr(0, 100'000));
  Run();
  EXPECT_EQ(StateOf("last.pt"), "seen");
  EXPECT_EQ(RowOf("last.pt").reason, "no end record: the file is cut off");
  EXPECT_EQ(Objects(), 0u);
  WriteInPlace(work_ + "/last.pt", bytes);
  Run(Millis(400));
  EXPECT_EQ(StatesOf("last.pt"), "safe");
  EXPECT_EQ(RowOf("last.pt").reason, "");
}

TEST_F(VaultTest, AFileThatGrowsWithoutBeingClosedIsOneRow) {
  PutJob(1, JobState::kRunning, work_);
  const std::string bytes = TorchZip(300'000, 1);
  auto fd = OpenFile(work_ + "/last.pt", O_WRONLY | O_CREAT);
  for (size_t at = 0; at < bytes.size(); at += 100'000) {
    ASSERT_TRUE(WriteAll(*fd, bytes.substr(at, 100'000), ""));
    Run(Millis(12'000));
    EXPECT_EQ(Rows().size(), 1u);
  }
  fd->Close();
  Run(Millis(400));
  EXPECT_EQ(StatesOf("last.pt"), "safe");
}

TEST_F(VaultTest, LeftHalfWrittenByAnEndedJobItIsDamaged) {
  PutJob(1, JobState::kRunning, work_);
  WriteInPlace(work_ + "/last.pt", TorchZip(300'000, 1).substr(0, 100'000));
  Run();
  PutJob(1, JobState::kFailed, work_);
  Run();
  EXPECT_EQ(StateOf("last.pt"), "damaged");
  EXPECT_EQ(RowOf("last.pt").reason, "no end record: the file is cut off");
  EXPECT_EQ(EventsOf("checkpoint.damaged"), 1);
  EXPECT_TRUE(*ledger_->Mark("vault.final.1"));
}

TEST_F(VaultTest, AJobThatEndedWhileNobodyWatchedIsScannedOnce) {
  PutJob(1, JobState::kSucceeded, work_);
  WriteInPlace(work_ + "/best.pt", TorchZip(1000, 1));
  Run();
  EXPECT_EQ(StateOf("best.pt"), "safe");
  EXPECT_TRUE(*ledger_->Mark("vault.final.1"));
  Start();
  WriteInPlace(work_ + "/best.pt", TorchZip(1000, 2));  // somebody else's, after the end
  Run(Millis(15'000));
  EXPECT_EQ(StatesOf("best.pt"), "safe");
}

TEST_F(VaultTest, ALegacyFileMustBeQuietFirst) {
  PutJob(1, JobState::kRunning, work_);
  Run(Millis(200));
  WriteInPlace(work_ + "/old.pth", LegacyTorch(5000, 1));
  Run(Millis(1200));
  EXPECT_EQ(StateOf("old.pth"), "seen");
  WriteInPlace(work_ + "/old.pth", LegacyTorch(6000, 2));
  Run(Millis(1200));
  EXPECT_EQ(StateOf("old.pth"), "seen") << "it was written again meanwhile";
  Run(Millis(1000));
  EXPECT_EQ(StateOf("old.pth"), "safe");
  EXPECT_EQ(RowOf("old.pth").reason,
            "taken as whole because nobody wrote any more: the old torch format has no end mark");
}

TEST_F(VaultTest, AFileRewrittenInPlaceDuringTheCopyIsNeverStoredWrongly) {
  PutJob(1, JobState::kRunning, work_);
  const std::string path = work_ + "/last.pt";
  const std::string first = TorchZip(900'000, 1), second = TorchZip(900'000, 2);
  WriteInPlace(path, first);
  int rewrites = 0;
  store_->OnPutPiece([&](int64_t taken) {
    if (taken > 0 && rewrites++ == 0) WriteInPlace(path, second);
  });
  Run();
  EXPECT_EQ(StatesOf("last.pt"), "superseded safe");
  EXPECT_EQ(RowOf("last.pt").sha256, Sha256Hex(second));
  EXPECT_EQ(Objects(), 1u);
  ExpectHonestStore();
}

TEST_F(VaultTest, EvenWhenSizeAndTimeAreTheSame) {
  PutJob(1, JobState::kRunning, work_);
  const std::string path = work_ + "/last.pt";
  const std::string first = TorchZip(900'000, 1), second = TorchZip(900'000, 2);
  WriteInPlace(path, first);
  SetTime(path, 1'700'000'000);
  int rewrites = 0;
  store_->OnPutPiece([&](int64_t taken) {
    if (taken == 0 || rewrites++ != 0) return;
    const auto fd = OpenFile(path, O_WRONLY);
    ASSERT_TRUE(WriteAll(*fd, second, path));
    SetTime(path, 1'700'000'000);
  });
  Run();
  EXPECT_EQ(StatesOf("last.pt"), "safe");
  EXPECT_EQ(RowOf("last.pt").sha256, Sha256Hex(second));
  ExpectHonestStore();
}

TEST_F(VaultTest, AFileCutShortDuringTheCopyIsNotStored) {
  PutJob(1, JobState::kRunning, work_);
  const std::string path = work_ + "/last.pt";
  WriteInPlace(path, TorchZip(900'000, 1));
  int cuts = 0;
  store_->OnPutPiece([&](int64_t taken) {
    if (taken == 0 || cuts++ != 0) return;
    ASSERT_EQ(::truncate(path.c_str(), 100'000), 0);
  });
  Run();
  EXPECT_EQ(StatesOf("last.pt"), "superseded seen");
  EXPECT_EQ(Objects(), 0u);
}

TEST_F(VaultTest, ARenameOverTheFileDuringTheCopyLosesNeither) {
  PutJob(1, JobState::kRunning, work_);
  const std::string path = work_ + "/last.safetensors";
  const std::string first = SimpleSafetensors(900'000, 1), second = SimpleSafetensors(900'000, 2);
  WriteInPlace(path, first);
  int renames = 0;
  store_->OnPutPiece([&](int64_t taken) {
    if (taken == 0 || renames++ != 0) return;
    ASSERT_TRUE(WriteDurably(path, second));
  });
  Run();
  EXPECT_EQ(StatesOf("last.safetensors"), "safe safe");
  EXPECT_EQ(Objects(), 2u);
  ExpectHonestStore();
}

TEST_F(VaultTest, HardLinksAndEqualFilesAreStoredOnce) {
  PutJob(1, JobState::kRunning, work_);
  Run(Millis(200));
  WriteInPlace(work_ + "/last.pt", TorchZip(5000, 1));
  ASSERT_EQ(::link((work_ + "/last.pt").c_str(), (work_ + "/epoch3.pt").c_str()), 0);
  WriteInPlace(work_ + "/best.pt", TorchZip(5000, 1));
  Run(Millis(15'000));  // a link makes no sound: the rescan finds it
  EXPECT_EQ(StateOf("last.pt"), "safe");
  EXPECT_EQ(StateOf("epoch3.pt"), "safe");
  EXPECT_EQ(StateOf("best.pt"), "safe");
  EXPECT_EQ(RowOf("epoch3.pt").epoch, 3);
  EXPECT_EQ(Objects(), 1u);
  EXPECT_EQ(store_->puts(), 1);
}

TEST_F(VaultTest, AFullDiskDelaysAndLosesNothing) {
  PutJob(1, JobState::kRunning, work_);
  Run(Millis(200));
  store_->CutPuts(3, 300'000, Unavailable("the disk is full", "store"));
  WriteInPlace(work_ + "/best.pt", TorchZip(900'000, 1));
  Run(Millis(6'000));
  EXPECT_EQ(store_->puts(), 3) << "tried again after one and two seconds";
  EXPECT_EQ(StateOf("best.pt"), "whole");
  EXPECT_EQ(Objects(), 0u);
  EXPECT_EQ(EventsOf("vault.store_failed"), 1) << "said once";
  Run(Millis(60'000));
  EXPECT_EQ(StateOf("best.pt"), "safe");
  EXPECT_EQ(EventsOf("vault.store_works"), 1);
  ExpectHonestStore();
}

TEST_F(VaultTest, WhileTheStoreIsAwayOnlyTheNewestLastIsKeptAndTheBestGoesFirst) {
  PutJob(1, JobState::kRunning, work_);
  Run(Millis(200));
  store_->SetDown(Unavailable("no route to host", "store"));
  for (int i = 1; i <= 3; ++i) {
    WriteInPlace(work_ + "/last.pt", TorchZip(5000, i));
    Run(Millis(2'000));
  }
  WriteInPlace(work_ + "/best.pt", TorchZip(5000, 9));
  Run(Millis(20'000));
  EXPECT_EQ(StatesOf("last.pt"), "superseded superseded whole");
  EXPECT_EQ(StateOf("best.pt"), "whole");
  EXPECT_EQ(EventsOf("vault.store_failed"), 1);
  store_->SetDown(std::nullopt);
  Run(Millis(31'000));
  EXPECT_EQ(StatesOf("last.pt"), "superseded superseded safe");
  ledger::EventFilter filter;
  filter.kind_prefix = "checkpoint.safe";
  const auto events = *ledger_->Events(filter);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_TRUE(events[0].text.starts_with("best.pt")) << events[0].text;
  EXPECT_EQ(Objects(), 2u);
}

TEST_F(VaultTest, AVanishedStoreIsNotMistakenForAnEmptyOne) {
  PutJob(1, JobState::kRunning, work_);
  WriteInPlace(work_ + "/a.pt", TorchZip(500, 1));
  Run();
  EXPECT_EQ(StateOf("a.pt"), "safe");
  // The backup disk is unmounted; its empty mount point stays.
  const std::string root = dir_.path() + "/store";
  ASSERT_TRUE(RenameFile(root, root + ".away"));
  ASSERT_TRUE(MakeDirs(root));
  WriteInPlace(work_ + "/b.pt", TorchZip(500, 2));
  Run(Millis(10'000));
  EXPECT_EQ(StateOf("b.pt"), "whole");
  EXPECT_TRUE(ListDir(root)->empty());
  EXPECT_EQ(EventsOf("vault.store_failed"), 1);
  ASSERT_TRUE(RemoveTree(root));
  ASSERT_TRUE(RenameFile(root + ".away", root));
  Run(Millis(31'000));
  EXPECT_EQ(StateOf("b.pt"), "safe");
  ExpectHonestStore();
}

TEST_F(VaultTest, ANewStoreGetsANameAndTheLedgerRemembersIt) {
  ASSERT_TRUE(disk_->Delete("store-id"));
  PutJob(1, JobState::kRunning, work_);
  WriteInPlace(work_ + "/a.pt", TorchZip(500, 1));
  Run();
  EXPECT_EQ(StateOf("a.pt"), "safe");
  EXPECT_EQ(blob::GetBytes(*disk_, "store-id", 64).value(), **ledger_->Mark("vault.store.local"));
}

TEST_F(VaultTest, ADamagedCopyIsNoticedRemovedAndSentAgain) {
  PutJob(1, JobState::kRunning, work_);
  Run(Millis(200));
  WriteInPlace(work_ + "/first.pt", TorchZip(500, 9));
  Run(Millis(1000));
  store_->CorruptNextPut();
  WriteInPlace(work_ + "/best.pt", TorchZip(5000, 1));
  Run(Millis(600));
  EXPECT_EQ(StateOf("best.pt"), "whole");
  EXPECT_EQ(Objects(), 1u);
  Run(Millis(5'000));
  EXPECT_EQ(StateOf("best.pt"), "safe");
  ExpectHonestStore();
}

TEST_F(VaultTest, ADamagedOlderCopyOfTheSameBytesIsReplaced) {
  PutJob(1, JobState::kRunning, work_);
  const std::string bytes = TorchZip(5000, 1), sha = Sha256Hex(bytes);
  const std::string key = "sha256/" + sha.substr(0, 2) + "/" + sha;
  ASSERT_TRUE(blob::PutBytes(*disk_, key, std::string(bytes.size(), 'x')));
  WriteInPlace(work_ + "/best.pt", bytes);
  Run();
  EXPECT_EQ(StateOf("best.pt"), "safe");
  EXPECT_TRUE(*blob::GetBytes(*disk_, key, 1 << 20) == bytes);
}

TEST_F(VaultTest, ALostAnswerDoesNotSendTwice) {
  PutJob(1, JobState::kRunning, work_);
  WriteInPlace(work_ + "/first.pt", TorchZip(500, 9));
  Run(Millis(1000));
  const int puts = store_->puts();
  store_->LoseNextAnswer(Timeout("no answer", "store"));
  WriteInPlace(work_ + "/best.pt", TorchZip(5000, 1));
  Run(Millis(5'000));
  EXPECT_EQ(StateOf("best.pt"), "safe");
  EXPECT_EQ(store_->puts(), puts + 1);
}

TEST_F(VaultTest, FilesOlderThanTheJobAreNotIts) {
  ledger::Job job = PutJob(1, JobState::kRunning, work_);
  job.started_at = WallTime{1'700'000'000'000};
  PutJob(job);
  WriteInPlace(work_ + "/pretrained.pt", TorchZip(500, 1));
  SetTime(work_ + "/pretrained.pt", 1'690'000'000);
  WriteInPlace(work_ + "/empty.pt", "");
  WriteInPlace(work_ + "/new.pt", TorchZip(500, 2));
  Run(Millis(15'000));
  EXPECT_EQ(Rows().size(), 1u);
  EXPECT_EQ(StateOf("new.pt"), "safe");
}

TEST_F(VaultTest, AFileBelongsToTheJobThatNamedItOrWorksThere) {
  PutJob(1, JobState::kRunning, work_);
  PutJob(2, JobState::kRunning, work_ + "/two");
  PutJob(3, JobState::kRunning, work_);
  WriteInPlace(work_ + "/two/a.pt", TorchZip(500, 1));
  WriteInPlace(work_ + "/one/b.pt", TorchZip(500, 2));
  Say(1, R"({"path":"one/b.pt"})");
  Run();
  EXPECT_EQ(RowOf("a.pt").job, 2) << "the deepest folder";
  EXPECT_EQ(RowOf("b.pt").job, 1) << "named by it";
  WriteInPlace(work_ + "/one/c.pt", TorchZip(500, 3));
  Run();
  EXPECT_EQ(RowOf("c.pt").job, 1) << "beside a file that it named";
  EXPECT_EQ(Rows().size(), 3u);
  // Taken by the newest job there until the one that wrote it says so.
  WriteInPlace(work_ + "/d.pt", TorchZip(500, 4));
  Run();
  EXPECT_EQ(RowOf("d.pt").job, 3);
  Say(1, R"({"path":"d.pt","role":"best"})");
  Run();
  EXPECT_EQ(RowOf("d.pt").job, 1);
  EXPECT_EQ(Rows().size(), 4u);
}

TEST_F(VaultTest, AFileRemovedBeforeItWasSentIsGoneAndARenamedOneIsNot) {
  PutJob(1, JobState::kRunning, work_);
  WriteInPlace(work_ + "/first.pt", TorchZip(500, 9));
  Run(Millis(1000));
  store_->SetDown(Unavailable("away", "store"));
  WriteInPlace(work_ + "/a.pt", TorchZip(500, 1));
  WriteInPlace(work_ + "/b.pt", TorchZip(500, 2));
  Run();
  ASSERT_TRUE(RemoveFile(work_ + "/a.pt"));
  ASSERT_TRUE(RenameFile(work_ + "/b.pt", work_ + "/best.pt"));
  store_->SetDown(std::nullopt);
  Run(Millis(31'000));
  EXPECT_EQ(StateOf("a.pt"), "gone");
  EXPECT_EQ(StateOf("b.pt"), "superseded");
  EXPECT_EQ(StateOf("best.pt"), "safe");
  EXPECT_EQ(EventsOf("checkpoint.gone"), 1);
}

TEST_F(VaultTest, APinOutlivesTheVaultsOwnWrites) {
  PutJob(1, JobState::kRunning, work_);
  WriteInPlace(work_ + "/a.pt", TorchZip(5000, 1).substr(0, 3000));
  Run();
  ledger::Checkpoint pinned = RowOf("a.pt");
  pinned.pinned = true;
  Do([&](ledger::Writer& writer) -> Status {
    const auto id = writer.PutCheckpoint(pinned);
    return id ? Ok() : Status(id.error());
  });
  WriteInPlace(work_ + "/a.pt", TorchZip(5000, 1));
  Run();
  EXPECT_EQ(StateOf("a.pt"), "safe");
  EXPECT_TRUE(RowOf("a.pt").pinned);
}

TEST_F(VaultTest, TooManyFoldersAreSaidOnce) {
  config_.max_watched_folders = 3;
  PutJob(1, JobState::kRunning, work_);
  for (int i = 0; i < 5; ++i) WriteInPlace(work_ + "/d" + std::to_string(i) + "/x.txt", "x");
  WriteInPlace(work_ + "/a.pt", TorchZip(500, 1));
  Run(Millis(30'000));
  EXPECT_EQ(StateOf("a.pt"), "safe");
  EXPECT_EQ(EventsOf("vault.watch_limited"), 1);
}

TEST_F(VaultTest, ACancelledCopyWaitsForTheNextVault) {
  PutJob(1, JobState::kRunning, work_);
  WriteInPlace(work_ + "/a.pt", TorchZip(900'000, 1));
  Start();
  store_->OnPutPiece([&](int64_t taken) {
    if (taken > 100'000) vault_->Cancel();
  });
  Run();
  EXPECT_EQ(StateOf("a.pt"), "whole");
  store_->OnPutPiece({});
  Start();
  Run();
  EXPECT_EQ(StateOf("a.pt"), "safe");
}

}  // namespace
}  // namespace stoker::vault
