#include "vault/whole.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/durable_file.h"
#include "base/file.h"
#include "vault/handmade.h"

namespace stoker::vault {
namespace {

using handmade::LegacyTorch;
using handmade::Number;
using handmade::Onnx;
using handmade::Safetensors;
using handmade::SimpleSafetensors;
using handmade::TorchZip;
using handmade::Zip;
using handmade::ZipOptions;

class WholeTest : public testing::Test {
 protected:
  Verdict Judge(const std::string& bytes, const std::string& name) {
    const std::string path = dir_.path() + "/" + name;
    EXPECT_TRUE(WriteDurably(path, bytes));
    const Result<Verdict> verdict = Examine(path);
    EXPECT_TRUE(verdict) << (verdict ? "" : verdict.error().Line());
    return verdict ? *verdict : Verdict{};
  }
  // Cuts `bytes` everywhere at `step`, and no cut may pass for whole.
  void NoCutIsWhole(const std::string& bytes, const std::string& name, size_t step) {
    const std::string path = dir_.path() + "/cut-" + name;
    ASSERT_TRUE(WriteDurably(path, bytes));
    const auto fd = OpenFile(path, O_RDWR);
    for (size_t size = (bytes.size() - 1) / step * step;; size -= step) {
      ASSERT_EQ(::ftruncate(fd->get(), static_cast<off_t>(size)), 0);
      const auto verdict = ExamineFd(*fd, path);
      ASSERT_TRUE(verdict) << verdict.error().Line();
      ASSERT_NE(verdict->proof, Proof::kWhole) << name << " cut at " << size;
      if (size < step) break;
    }
  }
  TempDir dir_ = std::move(*TempDir::Make());
};

TEST_F(WholeTest, KnowsCheckpointsByName) {
  for (const char* name : {"best.pt", "/a/b/LAST.PT", "m.safetensors", "e=1.ckpt", "x.pth", "y.th",
                           "z.onnx", "pytorch_model.bin"}) {
    EXPECT_TRUE(LooksLikeCheckpoint(name)) << name;
  }
  for (const char* name : {"best.pt.tmp", ".best.pt.0011.partial", ".hidden.pt", ".pt",
                           "results.csv", "pt", "", "/dir.pt/"}) {
    EXPECT_FALSE(LooksLikeCheckpoint(name)) << name;
  }
}

TEST_F(WholeTest, WholeFilesAreWhole) {
  EXPECT_EQ(Judge(SimpleSafetensors(1000, 1), "a.safetensors").proof, Proof::kWhole);
  EXPECT_EQ(Judge(Safetensors("{}", ""), "none.safetensors").proof, Proof::kWhole);
  EXPECT_EQ(Judge(Onnx(5000, 1), "a.onnx").proof, Proof::kWhole);
  for (const bool end64 : {false, true}) {
    for (const bool descriptors : {false, true}) {
      for (const bool deflate : {false, true}) {
        const ZipOptions options{end64, descriptors, true, deflate, end64 ? "" : "a comment"};
        const Verdict verdict = Judge(TorchZip(900'000, 7, options), "a.pt");
        EXPECT_EQ(verdict.proof, Proof::kWhole)
            << verdict.reason << end64 << descriptors << deflate;
        EXPECT_EQ(verdict.format, "torch-zip");
      }
    }
  }
  EXPECT_EQ(Judge(Zip({{"weights.txt", "1"}}), "other.bin").format, "zip");
}

TEST_F(WholeTest, FormatsWithoutProofSaySo) {
  const Verdict legacy = Judge(LegacyTorch(100, 1), "old.pth");
  EXPECT_EQ(legacy.proof, Proof::kQuietOnly);
  EXPECT_EQ(legacy.format, "torch-legacy");
  EXPECT_EQ(legacy.reason, "the old torch format has no end mark");
  EXPECT_EQ(Judge("weights in some format", "model.bin").format, "unknown");
  EXPECT_EQ(Judge("GGUF....", "model.gguf").format, "gguf");
  EXPECT_EQ(Judge("\x80\x04\x95 pickle", "m.bin").format, "pickle");
  ZipOptions unchecked;
  unchecked.checksums = false;
  EXPECT_EQ(Judge(TorchZip(1000, 1, unchecked), "a.pt").proof, Proof::kQuietOnly);
}

TEST_F(WholeTest, NoCutOfAnyFormatIsWhole) {
  NoCutIsWhole(SimpleSafetensors(700, 1), "a.safetensors", 1);
  NoCutIsWhole(TorchZip(700, 2), "a.pt", 1);
  NoCutIsWhole(TorchZip(700, 2, {false, false, true, true, ""}), "b.pt", 1);
  NoCutIsWhole(Onnx(700, 3), "a.onnx", 1);
  NoCutIsWhole(LegacyTorch(700, 4), "a.pth", 1);
}

TEST_F(WholeTest, OneFlippedBitInATensorOfAZipIsFound) {
  const std::string good = TorchZip(400'000, 5);
  for (size_t at = 200; at < 390'000; at += 37'000) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 4);
    const Verdict verdict = Judge(bad, "flip.pt");
    EXPECT_EQ(verdict.proof, Proof::kNotWhole);
    EXPECT_EQ(verdict.reason, "a record's checksum is wrong");
  }
}

TEST_F(WholeTest, ARewriteInPlaceOverAnOlderLongerFileIsNotWhole) {
  // The head of a new version over the tail of the old one: sizes agree, checksums do not.
  std::string mixed = TorchZip(400'000, 1);
  mixed.replace(0, 100'000, TorchZip(400'000, 2).substr(0, 100'000));
  EXPECT_EQ(Judge(mixed, "last.pt").proof, Proof::kNotWhole);
  // Space reserved and not yet written.
  EXPECT_EQ(Judge(std::string(4096, '\0'), "last.pt").proof, Proof::kNotWhole);
  EXPECT_EQ(Judge("", "last.pt").proof, Proof::kNotWhole);
}

TEST_F(WholeTest, HostileSafetensorsAreRefusedInWords) {
  const auto reason = [&](const std::string& header, size_t data) {
    const Verdict verdict = Judge(Safetensors(header, std::string(data, 'x')), "h.safetensors");
    EXPECT_EQ(verdict.proof, Proof::kNotWhole) << header;
    return verdict.reason;
  };
  const auto tensor = [](const std::string& shape, const std::string& offsets) {
    return R"({"a":{"dtype":"F32","shape":[)" + shape + R"(],"data_offsets":[)" + offsets + "]}}";
  };
  EXPECT_EQ(reason(tensor("2", "0,8"), 9), "longer than its tensors");
  EXPECT_EQ(reason(tensor("2", "0,8"), 7), "cut off within the tensors");
  EXPECT_EQ(reason(tensor("2", "4,12"), 12), "the tensors overlap or leave a gap");
  EXPECT_EQ(reason(tensor("3", "0,8"), 8), "a tensor's shape and size differ");
  EXPECT_EQ(reason(tensor("2", "8,0"), 8), "a tensor ends before it begins");
  EXPECT_EQ(reason(tensor("4294967296,4294967296,4", "0,8"), 8), "a tensor's shape is too large");
  const std::string shape = "the header does not have the format's shape";
  EXPECT_EQ(reason(tensor("-1", "0,8"), 8), shape);
  EXPECT_EQ(reason(tensor("2", "0,8,9"), 8), shape);
  EXPECT_EQ(reason(tensor("2", "0"), 8), shape);
  EXPECT_EQ(reason(tensor("2", "0,99999999999999999999"), 8), shape);
  EXPECT_EQ(reason(R"([[[[[[[[1]]]]]]]])", 0), shape);
  EXPECT_EQ(reason(R"({"a":{"b":{"c":{}}}})", 0), shape);
  EXPECT_EQ(reason(R"({"a":1})", 0), shape);
  EXPECT_EQ(reason(R"({"a":{}})", 0), shape);
  EXPECT_EQ(reason("{\"a\":\"\xff\"}", 0), "the header is not valid JSON");
  EXPECT_EQ(reason(R"({"a":)", 0), "the header is not valid JSON");
  EXPECT_EQ(reason(std::string(100'000, '['), 0), shape);
  EXPECT_EQ(Judge(Number(~0ull, 8) + "{}", "l.safetensors").reason,
            "the header's length makes no sense");
  EXPECT_EQ(Judge(Number(50, 8) + "{}", "l.safetensors").reason, "cut off within the header");
  // A newer element type: its size is unknown here, its place in the file still proves the end.
  EXPECT_EQ(
      Judge(Safetensors(R"({"a":{"dtype":"NEW3","shape":[9],"data_offsets":[0,5]}})", "12345"),
            "n.safetensors")
          .proof,
      Proof::kWhole);
}

TEST_F(WholeTest, HostileZipsAreRefused) {
  const std::string good = TorchZip(300, 1);
  const size_t directory = good.find("PK\x01\x02");
  const size_t end64 = good.find("PK\x06\x06");
  const auto with = [&](size_t at, const std::string& bytes) {
    std::string bad = good;
    bad.replace(at, bytes.size(), bytes);
    return Judge(bad, "bad.pt").proof;
  };
  EXPECT_EQ(with(directory + 20, Number(0xfffffff0, 4)), Proof::kNotWhole) << "size";
  EXPECT_EQ(with(directory + 42, Number(0xfffffff0, 4)), Proof::kNotWhole) << "offset";
  EXPECT_EQ(with(directory + 42, Number(0xffffffff, 4)), Proof::kNotWhole) << "no extra field";
  EXPECT_EQ(with(directory + 28, Number(0xffff, 2)), Proof::kNotWhole) << "name length";
  EXPECT_EQ(with(directory + 30, Number(4, 2)), Proof::kNotWhole) << "extra length";
  EXPECT_EQ(with(end64 + 32, Number(~0ull >> 1, 8)), Proof::kQuietOnly) << "record count";
  EXPECT_EQ(with(end64 + 32, Number(3, 8)), Proof::kNotWhole) << "fewer records than there are";
  EXPECT_EQ(with(end64 + 32, Number(0, 8)), Proof::kNotWhole) << "no records";
  EXPECT_EQ(with(end64 + 48, Number(~0ull, 8)), Proof::kNotWhole) << "directory offset";
  EXPECT_EQ(with(end64 + 4, Number(~0ull, 8)), Proof::kNotWhole) << "end record length";
  EXPECT_EQ(with(good.size() - 22 - 20 + 8, Number(~0ull, 8)), Proof::kNotWhole) << "locator";
  // Two records that share bytes would make checking them cost more than the file is long.
  const size_t second = good.find("PK\x01\x02", directory + 4);
  std::string twice = good;
  twice.replace(second, 46, good.substr(directory, 46));
  EXPECT_EQ(Judge(twice, "twice.pt").proof, Proof::kNotWhole);
  // A deflated record that claims to unpack into far more than it can.
  std::string bomb = TorchZip(3000, 1, {false, false, true, true, ""});
  bomb.replace(bomb.find("PK\x01\x02") + 24, 4, Number(0xfffffff0, 4));
  EXPECT_EQ(Judge(bomb, "bomb.pt").proof, Proof::kNotWhole);
}

TEST_F(WholeTest, HostileOnnxIsRefused) {
  EXPECT_EQ(Judge(std::string(20, '\xff'), "a.onnx").proof, Proof::kNotWhole);
  EXPECT_EQ(Judge("\x08\x07", "a.onnx").reason, "has no graph or no operator set");
  EXPECT_EQ(Judge(std::string("\x0b\x0c", 2), "a.onnx").reason, "not a protobuf message");
  EXPECT_EQ(Judge(std::string("\x00\x00", 2), "a.onnx").reason, "not a protobuf message");
  EXPECT_EQ(Judge(Onnx(10, 1) + "\x3a\x05oops", "a.onnx").reason, "cut off within a field");
}

TEST_F(WholeTest, LinksAndPipesAreNotOpened) {
  ASSERT_TRUE(WriteDurably(dir_.path() + "/real.pt", TorchZip(10, 1)));
  ASSERT_EQ(::symlink("real.pt", (dir_.path() + "/link.pt").c_str()), 0);
  EXPECT_FALSE(Examine(dir_.path() + "/link.pt"));
  ASSERT_EQ(::mkfifo((dir_.path() + "/pipe.pt").c_str(), 0600), 0);
  EXPECT_EQ(Examine(dir_.path() + "/pipe.pt").error().what, "not a regular file");
  EXPECT_EQ(Examine(dir_.path() + "/none.pt").error().code, Code::kNotFound);
}

TEST_F(WholeTest, ACancelledExaminationEnds) {
  const std::string path = dir_.path() + "/a.pt";
  ASSERT_TRUE(WriteDurably(path, TorchZip(1000, 1)));
  const auto fd = OpenFile(path, O_RDONLY);
  const std::atomic<bool> cancel{true};
  EXPECT_EQ(ExamineFd(*fd, path, &cancel).error().code, Code::kUnavailable);
}

// Files of real trainers: torch, Ultralytics, Lightning, Hugging Face, candle.
class RealFiles : public WholeTest {
 protected:
  void SetUp() override {
    const char* data = std::getenv("STOKER_DATA");
    const char* source = std::getenv("STOKER_SOURCE");
    root_ = data != nullptr     ? std::string(data)
            : source != nullptr ? std::string(source) + "/../shared/data"
                                : std::string();
    root_ += "/checkpoints";
    if (!FileExists(root_)) GTEST_SKIP() << "no test data at " << root_;
    Find(root_);
    ASSERT_GE(files_.size(), 12u);
  }
  void Find(const std::string& folder) {
    const auto entries = ListDir(folder);
    for (const DirEntry& entry : *entries) {
      const std::string path = folder + "/" + entry.name;
      if (entry.is_directory) Find(path);
      if (entry.is_regular && LooksLikeCheckpoint(path)) files_.push_back(path);
    }
  }
  std::string root_;
  std::vector<std::string> files_;
};

TEST_F(RealFiles, AreAllWholeOrSaidToBeWithoutProof) {
  int proven = 0;
  for (const std::string& path : files_) {
    const auto verdict = Examine(path);
    ASSERT_TRUE(verdict) << verdict.error().Line();
    const bool legacy = path.ends_with(".th");
    const bool no_format = verdict->format == "unknown";  // the raw .bin of other projects
    EXPECT_EQ(verdict->proof, legacy || no_format ? Proof::kQuietOnly : Proof::kWhole)
        << path << ": " << verdict->reason;
    EXPECT_EQ(verdict->format == "torch-legacy", legacy) << path;
    EXPECT_TRUE(!no_format || path.ends_with(".bin")) << path;
    proven += verdict->proof == Proof::kWhole;
  }
  EXPECT_GE(proven, 11);
}

TEST_F(RealFiles, CutAtEvery4KibAreNeverWhole) {
  for (const std::string& path : files_) {
    const auto bytes = ReadFile(path);
    ASSERT_TRUE(bytes);
    NoCutIsWhole(*bytes, BaseName(path), 4096);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace stoker::vault
