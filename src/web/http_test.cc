#include "web/http.h"

#include <gtest/gtest.h>

namespace stoker::web {
namespace {

TEST(HostRule, LetsOurOwnNamesThroughAndNoOthers) {
  const HostRule rule("127.0.0.1", {"box.lan"});
  for (const char* good :
       {"localhost", "localhost:8090", "LOCALHOST:1", "127.0.0.1:8090", "127.0.0.53", "[::1]:8090",
        "[::1]", "box.lan", "Box.LAN:80", "localhost."}) {
    EXPECT_TRUE(rule.Allows(good)) << good;
  }
  for (const char* bad :
       {"", "evil.example", "evil.example:8090", "localhost.evil.example", "127.0.0.1.evil.example",
        "127.evil", "10.0.0.7", "[::2]", "[::1", "localhost:", "localhost:0", "localhost:99999",
        "localhost:80:80", "user@localhost", " localhost"}) {
    EXPECT_FALSE(rule.Allows(bad)) << bad;
  }
}

TEST(HostRule, BoundAddressAndWildcard) {
  EXPECT_TRUE(HostRule("10.0.0.7", {}).Allows("10.0.0.7:8090"));
  EXPECT_FALSE(HostRule("10.0.0.7", {}).Allows("10.0.0.8"));
  const HostRule wild("0.0.0.0", {});
  EXPECT_TRUE(wild.Allows("10.0.0.8:8090"));
  EXPECT_TRUE(wild.Allows("[fe80::1]"));
  EXPECT_FALSE(wild.Allows("evil.example"));
}

TEST(ErrorResponse, OneObjectWithTheErrorsParts) {
  const Response response = ErrorResponse(Unavailable("the disk is full", "/data\n", "make room"));
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.body,
            "{\"schema_version\":1,\"error\":{\"code\":\"unavailable\",\"what\":\"the disk is "
            "full\",\"where\":\"/data\\n\",\"advice\":\"make room\"}}\n");
  EXPECT_EQ(HttpStatus(Code::kNotFound), 404);
  EXPECT_EQ(HttpStatus(Code::kInvalid), 400);
  EXPECT_EQ(HttpStatus(Code::kCorrupt), 500);
}

}  // namespace
}  // namespace stoker::web
