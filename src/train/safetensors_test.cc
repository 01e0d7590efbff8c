#include "train/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/file.h"

namespace stoker::train {
namespace {

std::string File(const std::string& header, const std::string& data) {
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header + data;
}

TEST(Safetensors, RoundTrip) {
  const TempDir temp = TempDir::Make("tensors").value();
  const std::string path = JoinPath(temp.path(), "a.safetensors");
  const std::vector<float> weights = {1, 2, 3, 4, 5, 6};
  const int64_t count = 7;
  const auto bytes = [](const auto* data, size_t size) {
    return std::string_view(reinterpret_cast<const char*>(data), size);
  };
  ASSERT_TRUE(WriteSafetensors(path,
                               {{"flag", Dtype::kU8, {1}, "x"},
                                {"w", Dtype::kF32, {2, 3}, bytes(weights.data(), 24)},
                                {"n", Dtype::kI64, {}, bytes(&count, 8)},
                                {"none", Dtype::kF32, {0, 4}, ""}},
                               {{"classes", "[\"a\"]"}}));
  const std::string file = ReadFile(path).value();
  const auto read = ParseSafetensors(file, path);
  ASSERT_TRUE(read) << read.error().Line();
  EXPECT_EQ(read->metadata.at("classes"), "[\"a\"]");
  ASSERT_EQ(read->tensors.size(), 4u);
  const TensorView* w = read->Find("w");
  ASSERT_NE(w, nullptr);
  EXPECT_EQ(w->shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(std::memcmp(w->bytes.data(), weights.data(), 24), 0);
  EXPECT_EQ(static_cast<size_t>(w->bytes.data() - file.data()) % 4, 0u);
  EXPECT_EQ(read->Find("n")->bytes.size(), 8u);
  EXPECT_EQ(read->Find("absent"), nullptr);
}

TEST(Safetensors, DamageIsAnErrorThatNamesTheFile) {
  const auto error = [](const std::string& file) {
    const auto read = ParseSafetensors(file, "w.safetensors");
    EXPECT_FALSE(read);
    if (read) return std::string();
    EXPECT_EQ(read.error().where.substr(0, 13), "w.safetensors");
    return read.error().what;
  };
  EXPECT_EQ(error(""), "too short for a safetensors file");
  EXPECT_EQ(error(std::string(8, '\xff')), "its header is longer than the file");
  error(File("{", ""));
  error(File("[]", ""));
  const std::string good = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  EXPECT_TRUE(ParseSafetensors(File(good, "12345678"), "w.safetensors"));
  EXPECT_EQ(error(File(good, "1234567")), "tensor a: lies outside the file");
  EXPECT_EQ(error(File(good, "123456789")), "bytes after the last tensor, or cut short");
  error(File(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", "12345678"));
  error(File(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", "12345678"));
  error(File(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", "12345678"));
  error(File(R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", ""));
  error(File(R"({"a":{"dtype":"Q4","shape":[2],"data_offsets":[0,8]}})", "12345678"));
  error(File(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
             R"("b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
             "1234"));
  error(File(R"({"__metadata__":{"a":1}})", ""));
}

}  // namespace
}  // namespace stoker::train
