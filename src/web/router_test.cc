#include "web/router.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "web/pages.h"
#include "web/test_box.h"

namespace stoker::web {
namespace {

class Router : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(box_.filled()) << box_.filled().error().Line(); }

  Response Get(const std::string& target) {
    Request request;
    request.target = target;
    request.host = "localhost";
    return Send(request);
  }
  Response Send(const Request& request) {
    return Dispatch(request, {box_.ledger(), box_.clock}, HostRule("127.0.0.1", {}));
  }
  Json GetJson(const std::string& target) {
    const Response response = Get(target);
    EXPECT_EQ(response.status, 200) << target << " " << response.body;
    EXPECT_EQ(response.content_type, "application/json");
    const auto json = ParseJson(response.body, target);
    EXPECT_TRUE(json);
    return json ? *json : Json();
  }

  TestBox box_;
};

TEST_F(Router, EveryRouteAnswersWithASchemaVersion) {
  for (const char* target :
       {"/api/v1/now", "/api/v1/box", "/api/v1/series?metric=power_w", "/api/v1/jobs",
        "/api/v1/jobs/1", "/api/v1/jobs/1/metrics", "/api/v1/checkpoints", "/api/v1/events",
        "/api/v1/explain/1", "/healthz"}) {
    EXPECT_EQ(GetJson(target).value("schema_version", 0), 1) << target;
  }
}

TEST_F(Router, NowAndBoxSayWhatTheBoxIs) {
  EXPECT_NE(Get("/api/v1/now").body.find("stokehold"), std::string::npos);
  const Json box = GetJson("/api/v1/box");
  EXPECT_EQ(box["box"]["hostname"], "stokehold");
  EXPECT_EQ(box["box"]["facts"]["cores"], 4);
  EXPECT_EQ(box["simulated"], true);
  ASSERT_EQ(box["cards"].size(), 2u);
  EXPECT_EQ(box["cards"][1]["uuid"], "GPU-1");
}

TEST_F(Router, JobsByStateAndLimit) {
  EXPECT_EQ(GetJson("/api/v1/jobs")["jobs"].size(), 2u);
  const Json failed = GetJson("/api/v1/jobs?state=failed,lost");
  ASSERT_EQ(failed["jobs"].size(), 1u);
  EXPECT_EQ(failed["jobs"][0]["id"], 2);
  EXPECT_EQ(GetJson("/api/v1/jobs?limit=1")["jobs"].size(), 1u);
  EXPECT_EQ(GetJson("/api/v1/jobs?since=-30m")["jobs"].size(), 1u);
  EXPECT_EQ(GetJson("/api/v1/checkpoints?job=1")["checkpoints"].size(), 1u);
  EXPECT_EQ(GetJson("/api/v1/jobs/1/metrics")["metrics"].size(), 1u);
}

TEST_F(Router, WrongInputIsOneClearLine) {
  const std::pair<const char*, int> cases[] = {
      {"/api/v1/jobs/77", 404},
      {"/api/v1/jobs/x", 400},
      {"/api/v1/jobs/0", 400},
      {"/api/v1/jobs?state=happy", 400},
      {"/api/v1/jobs?limit=0", 400},
      {"/api/v1/jobs?limit=-1", 400},
      {"/api/v1/jobs?statt=failed", 400},
      {"/api/v1/checkpoints?job=77", 404},
      {"/api/v1/series", 400},
      {"/api/v1/series?metric=powr_w", 404},
      {"/api/v1/series?metric=power_w&points=0", 400},
      {"/api/v1/series?metric=power_w&points=1e9", 400},
      {"/api/v1/series?metric=power_w&from=now&to=-1h", 400},
      {"/api/v1/series?metric=power_w&from=soon", 400},
      {"/api/v1/events?since=soon", 400},
      {"/api/v1/explain/77", 404},
      {"/api/v1/nothing", 404},
      {"/api/v1/jobs/", 400},
      {"/../../etc/passwd", 400},
      {"/%2e%2e/%2e%2e/etc/passwd", 400},
      {"/vendor/../app.js", 400},
      {"/vendor%2fpreact.js/x", 404},
      {"/%00", 400},
  };
  for (const auto& [target, status] : cases) {
    const Response response = Get(target);
    EXPECT_EQ(response.status, status) << target << " " << response.body;
    const auto json = ParseJson(response.body, target);
    ASSERT_TRUE(json) << target;
    EXPECT_NE((*json)["error"]["what"].get<std::string>(), "") << target;
    EXPECT_NE((*json)["error"]["where"].get<std::string>(), "") << target;
  }
  EXPECT_NE(Get("/api/v1/series?metric=powr_w").body.find("did you mean power_w?"),
            std::string::npos);
  EXPECT_NE(Get("/api/v1/jobs?statt=failed").body.find("did you mean state?"), std::string::npos);
  EXPECT_NE(Get("/api/v1/job").body.find("did you mean /api/v1/jobs?"), std::string::npos);
}

TEST_F(Router, OnlyGetAndHeadAndOnlyOurNames) {
  Request request;
  request.host = "localhost";
  request.target = "/api/v1/now";
  request.method = "POST";
  EXPECT_EQ(Send(request).status, 405);
  request.method = "HEAD";
  EXPECT_EQ(Send(request).status, 200);
  request.host = "evil.example:8090";
  const Response refused = Send(request);
  EXPECT_EQ(refused.status, 421);
  EXPECT_EQ(refused.body.find("stokehold"), std::string::npos);
}

TEST_F(Router, DamagedLedgerIsAnAnswerNotAnEnd) {
  box_.ledger().broken = true;
  for (const Route& route : Routes()) {
    if (route.pattern == "/api/v1/live") continue;
    std::string target(route.pattern);
    if (const size_t at = target.find("{id}"); at != std::string::npos) target.replace(at, 4, "1");
    if (route.pattern == "/api/v1/series") target += "?metric=power_w";
    const Response response = Get(target);
    EXPECT_EQ(response.status, 500) << target;
    EXPECT_NE(response.body.find("a page of the ledger is damaged"), std::string::npos) << target;
  }
  EXPECT_EQ(Get("/").status, 200) << "the page is there to say it";
}

TEST_F(Router, PagesHaveTypesAndAreNotSentTwice) {
  const Response page = Get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_NE(page.body.find("<script type=\"module\" src=\"/app.js\">"), std::string::npos);
  Request again;
  again.host = "localhost";
  again.if_none_match = page.headers.at(0).second;
  EXPECT_EQ(page.headers.at(0).first, "ETag");
  const Response unchanged = Send(again);
  EXPECT_EQ(unchanged.status, 304);
  EXPECT_EQ(unchanged.body, "");
}

// What the policy forbids must not be needed: no inline script or style, nothing from elsewhere.
TEST_F(Router, PagesKeepTheirOwnPolicy) {
  EXPECT_FALSE(Pages().empty());
  for (const Page& page : Pages()) {
    if (!page.path.starts_with("/vendor/")) {
      EXPECT_EQ(page.bytes.find("style=\""), std::string_view::npos) << page.path;
      EXPECT_EQ(page.bytes.find("<style"), std::string_view::npos) << page.path;
      EXPECT_EQ(page.bytes.find("onclick=\""), std::string_view::npos) << page.path;
      EXPECT_EQ(page.bytes.find("https:"), std::string_view::npos) << page.path;
    }
    EXPECT_EQ(page.bytes.find("from\"preact\""), std::string_view::npos) << page.path;
  }
}

// Every module that a module imports is one of the pages.
TEST_F(Router, ImportsOfThePagesAreServed) {
  int imports = 0;
  for (const Page& page : Pages()) {
    if (!page.content_type.starts_with("text/javascript")) continue;
    for (const std::string_view word : {" from '", " from \"", "from\""}) {
      for (size_t at = page.bytes.find(word); at != std::string_view::npos;
           at = page.bytes.find(word, at + 1)) {
        const size_t begin = at + word.size();
        const std::string_view name =
            page.bytes.substr(begin, page.bytes.find_first_of("'\"", begin) - begin);
        if (!name.starts_with('/')) continue;
        ++imports;
        EXPECT_EQ(Get(std::string(name)).status, 200) << page.path << " imports " << name;
      }
    }
  }
  EXPECT_GT(imports, 10);
}

}  // namespace
}  // namespace stoker::web
