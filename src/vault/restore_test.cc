#include "vault/restore.h"

#include <gtest/gtest.h>

#include <string>

#include "vault/fixture.h"
#include "vault/status.h"
#include "vault/verify.h"

namespace stoker::vault {
namespace {

using handmade::TorchZip;
using ledger::JobState;

TEST(ParseWanted, TakesTheFourForms) {
  for (const char* text : {"17@best", "17@last", "17@epoch=412", "17@epoch=4.5", "17@id=3"}) {
    const auto wanted = ParseWanted(text);
    ASSERT_TRUE(wanted) << text;
    EXPECT_EQ(wanted->job, 17);
    EXPECT_EQ("17@" + wanted->which, text);
  }
}

TEST(ParseWanted, RefusesTheRestWithAdvice) {
  for (const char* text : {"", "17", "@best", "x@best", "-1@best", "0@best", "17@", "17@worst",
                           "17@epoch=", "17@epoch=x", "17@id=1.5", "17@best ", "1\n@best"}) {
    const auto wanted = ParseWanted(text);
    ASSERT_FALSE(wanted) << text;
    EXPECT_EQ(wanted.error().code, Code::kInvalid);
    EXPECT_NE(wanted.error().advice.find("JOB@best"), std::string::npos);
  }
}

class RestoreTest : public VaultFixture {
 protected:
  RestoreTest() {
    ledger::Job job = PutJob(17, JobState::kRunning, work_);
    job.best = ledger::Best{"loss", 1, false, {}, {}};
    PutJob(job);
    for (int epoch = 1; epoch <= 3; ++epoch) {
      Do([&](ledger::Writer& writer) {
        return writer.AddMetrics(17, {{"loss", epoch == 2 ? 1.0 : 5.0, epoch, {}, WallTime{2000}}});
      });
      WriteInPlace(work_ + "/epoch" + std::to_string(epoch) + ".pt", TorchZip(900, epoch));
    }
    WriteInPlace(work_ + "/last.pt", TorchZip(400'000, 8));
    Run(Millis(2000));
    EXPECT_TRUE(MakeDirs(out_));
  }
  Result<Restored> Get(const std::string& which, const std::string& dest, bool force = false) {
    return Restore(*ledger_, *store_, *ParseWanted("17@" + which), dest, force);
  }
  const std::string out_ = dir_.path() + "/out";
};

TEST_F(RestoreTest, BringsBackWhatWasAskedFor) {
  EXPECT_EQ(Get("last", out_)->path, out_ + "/last.pt");
  EXPECT_TRUE(*ReadFile(out_ + "/last.pt") == TorchZip(400'000, 8));
  EXPECT_EQ(Get("epoch=3", out_ + "/three.pt")->checkpoint.epoch, 3);
  EXPECT_TRUE(*ReadFile(out_ + "/three.pt") == TorchZip(900, 3));
  // No file is called best: the one with the lowest loss is.
  EXPECT_EQ(BaseName(Get("best", out_)->checkpoint.path), "epoch2.pt");
  const auto by_id = Get("id=" + std::to_string(RowOf("epoch1.pt").id), out_ + "/new/");
  ASSERT_TRUE(by_id) << by_id.error().Line();
  EXPECT_EQ(by_id->path, out_ + "/new/epoch1.pt");
  WriteInPlace(work_ + "/best.pt", TorchZip(900, 7));
  Run(Millis(1000));
  EXPECT_EQ(BaseName(Get("best", out_)->checkpoint.path), "best.pt");
}

TEST_F(RestoreTest, ReplacesOnlyWhenForced) {
  WriteInPlace(out_ + "/last.pt", "mine");
  const auto refused = Get("last", out_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what, "exists already");
  EXPECT_EQ(*ReadFile(out_ + "/last.pt"), "mine");
  ASSERT_TRUE(Get("last", out_, true));
  EXPECT_TRUE(*ReadFile(out_ + "/last.pt") == TorchZip(400'000, 8));
}

TEST_F(RestoreTest, ADamagedCopyIsNotHandedOut) {
  WriteInPlace(out_ + "/kept.pt", "mine");
  store_->CorruptNextGet();
  EXPECT_EQ(Get("last", out_ + "/kept.pt", true).error().code, Code::kCorrupt);
  EXPECT_EQ(*ReadFile(out_ + "/kept.pt"), "mine");
  store_->CorruptNextGet();
  EXPECT_EQ(Get("last", out_ + "/new.pt").error().code, Code::kCorrupt);
  EXPECT_EQ(ListDir(out_)->size(), 1u) << "nothing half is left behind";
}

TEST_F(RestoreTest, SaysWhatIsMissing) {
  EXPECT_EQ(Get("epoch=99", out_).error().code, Code::kNotFound);
  EXPECT_NE(Get("epoch=99", out_).error().what.find("4 of 4 are safe"), std::string::npos);
  EXPECT_EQ(Restore(*ledger_, *store_, {99, "best"}, out_, false).error().code, Code::kNotFound);
  EXPECT_EQ(Get("last", dir_.path() + "/none/x.pt").error().what, "no such folder");
  EXPECT_FALSE(Get("last", ""));
}

TEST_F(RestoreTest, VerifyFindsMissingAndDamagedCopies) {
  auto report = *VerifyCopies(*ledger_, *store_, "local", 17);
  EXPECT_EQ(report.copies.size(), 4u);
  EXPECT_EQ(report.bad, 0);
  EXPECT_GT(report.bytes_read, 400'000);
  EXPECT_EQ(VerifyCopies(*ledger_, *store_, "local", 18)->copies.size(), 0u);
  EXPECT_EQ(VerifyCopies(*ledger_, *store_, "elsewhere", {})->copies.size(), 0u);
  const auto key = [&](const std::string& name) {
    return ledger_->Copies(RowOf(name).id)->at(0).key;
  };
  ASSERT_TRUE(disk_->Delete(key("epoch1.pt")));
  ASSERT_TRUE(blob::PutBytes(*disk_, key("epoch2.pt"), "rot"));
  report = *VerifyCopies(*ledger_, *store_, "local", std::nullopt);
  EXPECT_EQ(report.bad, 2);
  for (const CopyCheck& check : report.copies) {
    const std::string name = BaseName(check.checkpoint.path);
    EXPECT_EQ(check.good, name != "epoch1.pt" && name != "epoch2.pt") << name;
    EXPECT_EQ(check.reason == "the copy is missing", name == "epoch1.pt");
  }
}

TEST_F(RestoreTest, StatusCountsAndSaysHowFarBehind) {
  store_->SetDown(Unavailable("away", "store"));
  WriteInPlace(work_ + "/best.pt", TorchZip(900, 7));
  Run(Millis(10'000));
  const auto status = *ReadStatus(*ledger_, clock_.Now());
  EXPECT_EQ(status.by_state.at(ledger::CheckpointState::kSafe).count, 4);
  EXPECT_EQ(status.waiting, 1);
  EXPECT_EQ(status.waiting_bytes, static_cast<int64_t>(TorchZip(900, 7).size()));
  EXPECT_NEAR(status.behind.count(), 10, 0.5);
  EXPECT_TRUE(status.last_safe_at);
}

}  // namespace
}  // namespace stoker::vault
