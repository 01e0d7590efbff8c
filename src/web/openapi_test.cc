#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "web/router.h"
#include "web/test_box.h"

namespace stoker::web {
namespace {

using Described = std::set<std::pair<std::string, std::string>>;  // "GET /path", parameter

Described FromTable() {
  Described out;
  for (const Route& route : Routes()) {
    const std::string name = std::string(route.method) + " " + std::string(route.pattern);
    out.emplace(name, "");
    for (const std::string_view parameter : Split(route.parameters, ',')) {
      if (!parameter.empty()) out.emplace(name, std::string(parameter));
    }
    if (route.pattern.find("{id}") != std::string_view::npos) out.emplace(name, "id");
  }
  return out;
}

Described FromDocument(const Json& document) {
  Described out;
  for (const auto& [path, methods] : document["paths"].items()) {
    for (const auto& [method, operation] : methods.items()) {
      std::string name = method;
      std::transform(name.begin(), name.end(), name.begin(), ::toupper);
      name += " " + path;
      out.emplace(name, "");
      for (const Json& parameter : operation.value("parameters", Json::array())) {
        out.emplace(name, parameter["name"].get<std::string>());
      }
    }
  }
  return out;
}

TEST(OpenApi, DescribesEveryRouteAndParameterAndNoOther) {
  const char* source = std::getenv("STOKER_SOURCE");
  if (source == nullptr) GTEST_SKIP() << "STOKER_SOURCE is not set";
  const auto text = ReadFile(JoinPath(source, "docs/openapi.json"));
  ASSERT_TRUE(text) << text.error().Line();
  const auto document = ParseJson(*text, "docs/openapi.json");
  ASSERT_TRUE(document) << document.error().Line();
  EXPECT_EQ(FromTable(), FromDocument(*document));
}

// Walks an answer beside its schema: every field is described, and every required one is there.
class Comparison {
 public:
  explicit Comparison(const Json& document) : document_(document) {}

  void Compare(const Json& value, const Json& schema, const std::string& where) {
    if (schema.contains("$ref")) {
      const std::string pointer = schema["$ref"].get<std::string>().substr(1);
      return Compare(value, document_.at(Json::json_pointer(pointer)), where);
    }
    if (schema.contains("oneOf")) {
      return value.is_null() ? void() : Compare(value, schema["oneOf"][0], where);
    }
    CompareType(value, schema, where);
    if (value.is_array()) {
      for (const Json& item : value) Compare(item, schema["items"], where + "[]");
    } else if (value.is_object()) {
      CompareObject(value, schema, where);
    }
  }

 private:
  static void CompareType(const Json& value, const Json& schema, const std::string& where) {
    std::set<std::string> types;
    for (const Json& type : schema["type"].is_array() ? schema["type"] : Json{schema["type"]}) {
      types.insert(type.get<std::string>());
    }
    if (types.contains("number")) types.insert("integer");
    const std::string is = value.is_number_integer() ? "integer" : value.type_name();
    EXPECT_TRUE(types.contains(is)) << where << " is " << is;
  }

  void CompareObject(const Json& value, const Json& schema, const std::string& where) {
    for (const auto& [key, inner] : value.items()) {
      const std::string place = where + "." + key;
      if (schema.contains("properties") && schema["properties"].contains(key)) {
        Compare(inner, schema["properties"][key], place);
      } else {
        EXPECT_TRUE(schema.contains("additionalProperties")) << place << " is not described";
      }
    }
    for (const Json& key : schema.value("required", Json::array())) {
      EXPECT_TRUE(value.contains(key.get<std::string>())) << where << " lacks " << key;
    }
  }

  const Json& document_;
};

TEST(OpenApi, DescribesEveryFieldOfTheAnswers) {
  const char* source = std::getenv("STOKER_SOURCE");
  if (source == nullptr) GTEST_SKIP() << "STOKER_SOURCE is not set";
  const auto document = ParseJson(*ReadFile(JoinPath(source, "docs/openapi.json")));
  ASSERT_TRUE(document);
  TestBox box;
  ASSERT_TRUE(box.filled()) << box.filled().error().Line();
  Comparison comparison(*document);
  for (const Route& route : Routes()) {
    const std::string pattern(route.pattern);
    const Json& content = (*document)["paths"][pattern]["get"]["responses"]["200"]["content"];
    if (!content.contains("application/json")) continue;
    Request request;
    request.host = "localhost";
    request.target = pattern;
    if (const size_t at = pattern.find("{id}"); at != std::string::npos) {
      request.target.replace(at, 4, "1");
    }
    if (pattern == "/api/v1/series") request.target += "?metric=power_w&to=-0s";
    box.clock.Tick(Millis(1));
    const Response answer = Dispatch(request, {box.ledger(), box.clock}, HostRule("", {}));
    ASSERT_EQ(answer.status, 200) << request.target << answer.body;
    comparison.Compare(*ParseJson(answer.body), content["application/json"]["schema"], pattern);
  }
}

// Every "$ref" leads to something in the document.
TEST(OpenApi, ReferencesResolve) {
  const char* source = std::getenv("STOKER_SOURCE");
  if (source == nullptr) GTEST_SKIP() << "STOKER_SOURCE is not set";
  const auto document = ParseJson(*ReadFile(JoinPath(source, "docs/openapi.json")));
  ASSERT_TRUE(document);
  const auto flat = document->flatten();
  int references = 0;
  for (const auto& [pointer, value] : flat.items()) {
    if (!pointer.ends_with("/$ref")) continue;
    ++references;
    const std::string target = value.get<std::string>();
    ASSERT_TRUE(target.starts_with("#/")) << target;
    EXPECT_TRUE(document->contains(Json::json_pointer(target.substr(1)))) << target;
  }
  EXPECT_GT(references, 0);
}

}  // namespace
}  // namespace stoker::web
