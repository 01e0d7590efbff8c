#include "sim/description.h"

#include <gtest/gtest.h>

#include "device/nvml/nvml_abi.h"

namespace stoker::sim {
namespace {

TEST(Description, TheDefaultIsEightCardsThatDifferALittle) {
  const auto box = ParseDescription("", "default");
  ASSERT_TRUE(box);
  ASSERT_EQ(box->cards.size(), 8u);
  EXPECT_NE(box->driver.find("simulated"), std::string::npos);
  for (const DescribedCard& card : box->cards) {
    EXPECT_GE(card.spec.idle_w, 35);
    EXPECT_LE(card.spec.idle_w, 60);
  }
  EXPECT_GT(box->cards[2].spec.ambient_c, box->cards[3].spec.ambient_c);
}

TEST(Description, OneCardOverAll) {
  const auto box = ParseDescription(
      R"({"count":2,"speed":60,"driver":"570.1","card":{"idle_w":50,"limit_max_w":300,"name":"H"},
          "cards":{"1":{"idle_w":40,"fail":{"*":"gpu_is_lost","field:186":"garbage"}}}})",
      "box");
  ASSERT_TRUE(box) << box.error().Line();
  EXPECT_EQ(box->speed, 60);
  EXPECT_EQ(box->driver, "570.1-simulated");
  EXPECT_EQ(box->cards[0].spec.idle_w, 50);
  EXPECT_EQ(box->cards[0].spec.limit_w, 300);  // never above the most
  EXPECT_EQ(box->cards[0].spec.name, "H (simulated)");
  EXPECT_EQ(box->cards[1].spec.idle_w, 40);
  EXPECT_EQ(box->cards[1].fail.at("*"), device::nvml::kGpuIsLost);
  EXPECT_EQ(box->cards[1].fail.at("field:186"), kGarbage);
}

TEST(Description, MistakesAreNamed) {
  const auto line = [](const char* text) {
    const auto box = ParseDescription(text, "box.json");
    EXPECT_FALSE(box) << text;
    return box ? std::string() : box.error().Line();
  };
  EXPECT_NE(line("[").find("box.json"), std::string::npos);
  EXPECT_NE(line("[]").find("must be an object"), std::string::npos);
  EXPECT_NE(line(R"({"count":33})").find("count"), std::string::npos);
  EXPECT_NE(line(R"({"count":"8"})").find("count"), std::string::npos);
  EXPECT_NE(line(R"({"speed":-1})").find("speed"), std::string::npos);
  EXPECT_NE(line(R"({"card":{"idle_w":1e9}})").find("idle_w"), std::string::npos);
  EXPECT_NE(line(R"({"card":{"pcie_width":0}})").find("pcie_width"), std::string::npos);
  EXPECT_NE(line(R"({"count":2,"cards":{"2":{}}})").find("\"2\""), std::string::npos);
  EXPECT_NE(line(R"({"cards":{"-1":{}}})").find("\"-1\""), std::string::npos);
  EXPECT_NE(line(R"({"cards":{"":{}}})").find("\"\""), std::string::npos);
  EXPECT_NE(line(R"({"card":{"fail":{"x":"boom"}}})").find("no known code"), std::string::npos);
  EXPECT_NE(line(R"({"card":{"limit_min_w":700}})").find("limit_min_w"), std::string::npos);
}

}  // namespace
}  // namespace stoker::sim
