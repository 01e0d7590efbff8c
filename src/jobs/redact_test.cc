#include "jobs/redact.h"

#include <gtest/gtest.h>

namespace stoker::jobs {
namespace {

using Words = std::vector<std::string>;

std::string One(const std::string& entry) { return RedactedEnvironment({entry}); }

TEST(RedactedEnvironment, HidesValuesOfSecretNames) {
  for (const char* name : {"HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "WANDB_API_KEY", "PGPASSWORD",
                           "GOOGLE_APPLICATION_CREDENTIALS", "my_token", "SESSION_COOKIE"}) {
    EXPECT_EQ(One(std::string(name) + "=abc"), "{\"" + std::string(name) + "\":\"[redacted]\"}");
  }
}

TEST(RedactedEnvironment, HidesValuesThatLookLikeKeysAndPasswordsInAddresses) {
  EXPECT_EQ(One("X=ghp_0123456789abcdefghij"), R"({"X":"[redacted]"})");
  EXPECT_EQ(One("X=0123456789abcdef0123456789abcdef01234567"), R"({"X":"[redacted]"})");
  EXPECT_EQ(One("DB=postgres://ann:pw@db/x?y=a@b"), R"({"DB":"postgres://[redacted]@db/x?y=a@b"})");
  EXPECT_EQ(One("P=http://ann:a://b@proxy:3128"), R"({"P":"http://ann:a://b@proxy:3128"})");
}

TEST(RedactedEnvironment, LeavesTheRestReadable) {
  for (const char* entry :
       {"PATH=/usr/local/cuda-12.4/bin:/usr/bin", "CUDA_VISIBLE_DEVICES=0,3",
        "EMPTY=", "CUDA_VISIBLE_DEVICES=GPU-3d9f4a6e-77aa-4b1c-9d1e-0123456789ab",
        "URL=https://ann@host/x", "TOKENIZERS_PARALLELISM=false", "GREETING=hello world"}) {
    const std::string text(entry);
    const size_t equals = text.find('=');
    EXPECT_EQ(One(text),
              "{\"" + text.substr(0, equals) + "\":\"" + text.substr(equals + 1) + "\"}");
  }
  EXPECT_EQ(RedactedEnvironment({"noequals", "=x"}), "{}");
}

TEST(RedactedCommand, HidesWhatFollowsASecretOption) {
  EXPECT_EQ(RedactedCommand({"train", "--api-key", "abc", "--token=def", "KEY=x", "--epochs", "3"}),
            (Words{"train", "--api-key", "[redacted]", "--token=[redacted]", "KEY=[redacted]",
                   "--epochs", "3"}));
  EXPECT_EQ(RedactedCommand({"curl", "-H", "x", "https://a:b@c/d"}),
            (Words{"curl", "-H", "x", "https://[redacted]@c/d"}));
  EXPECT_EQ(RedactedCommand({"x", "--use-token", "--fast"}), (Words{"x", "--use-token", "--fast"}));
  EXPECT_EQ(RedactedCommand({"x", "--max-new-tokens", "64"}),
            (Words{"x", "--max-new-tokens", "64"}));
}

}  // namespace
}  // namespace stoker::jobs
