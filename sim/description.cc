#include "sim/description.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.h"
#include "device/nvml/nvml_abi.h"

namespace stoker::sim {
namespace {

namespace nvml = device::nvml;

struct NumberMember {
  const char* name;
  double CardSpec::*member;
  double least, most;
};
constexpr std::array<NumberMember, 16> kNumbers = {{
    {"memory_bytes", &CardSpec::memory_bytes, 1e6, 1e14},
    {"memory_reserved_bytes", &CardSpec::memory_reserved_bytes, 0, 1e13},
    {"limit_min_w", &CardSpec::limit_min_w, 1, 5000},
    {"limit_max_w", &CardSpec::limit_max_w, 1, 5000},
    {"limit_w", &CardSpec::limit_w, 1, 5000},
    {"idle_w", &CardSpec::idle_w, 1, 1000},
    {"draw_max_w", &CardSpec::draw_max_w, 1, 5000},
    {"ambient_c", &CardSpec::ambient_c, 0, 120},
    {"thermal_resistance_c_per_w", &CardSpec::thermal_resistance_c_per_w, 0.001, 2},
    {"time_constant_s", &CardSpec::time_constant_s, 0.1, 3600},
    {"slowdown_c", &CardSpec::slowdown_c, 20, 150},
    {"sm_clock_max_mhz", &CardSpec::sm_clock_max_mhz, 1, 10000},
    {"sm_clock_idle_mhz", &CardSpec::sm_clock_idle_mhz, 1, 10000},
    {"memory_clock_max_mhz", &CardSpec::memory_clock_max_mhz, 1, 50000},
    {"memory_clock_idle_mhz", &CardSpec::memory_clock_idle_mhz, 1, 50000},
    {"noise_ratio", &CardSpec::noise_ratio, 0, 0.5},
}};

struct NamedCode {
  const char* name;
  int code;
};
constexpr std::array<NamedCode, 9> kCodes = {{{"not_supported", nvml::kNotSupported},
                                              {"no_permission", nvml::kNoPermission},
                                              {"timeout", nvml::kTimedOut},
                                              {"function_not_found", nvml::kFunctionNotFound},
                                              {"gpu_is_lost", nvml::kGpuIsLost},
                                              {"reset_required", nvml::kResetRequired},
                                              {"no_data", nvml::kNoData},
                                              {"unknown", nvml::kUnknown},
                                              {"garbage", kGarbage}}};

// Cards of one box differ a little, and two slots run warmer than the rest, as in real ones.
void GiveCharacter(int index, CardSpec& spec) {
  spec.uuid = fmt::format("GPU-51a70000-0000-4000-8000-{:012x}", index);
  spec.pci_bus_id = fmt::format("00000000:{:02X}:00.0", 0x11 + index * 0x10 % 0xe0);
  spec.idle_w = 35 + index * 37 % 26;
  if (index % 8 == 2 || index % 8 == 7) {
    spec.ambient_c += 2;
    spec.thermal_resistance_c_per_w *= 1.08;
  }
}

Status ReadFaults(const Json& faults, const std::string& where, DescribedCard& card) {
  if (!faults.is_object()) return Invalid("\"fail\" must be an object of call and code", where);
  for (const auto& [call, code] : faults.items()) {
    const std::string name = code.is_string() ? code.get<std::string>() : "";
    bool known = false;
    for (const NamedCode& named : kCodes) {
      if (name != named.name) continue;
      card.fail[call] = named.code;
      known = true;
    }
    if (!known) return Invalid(fmt::format("\"fail\": \"{}\" has no known code", call), where);
  }
  return Ok();
}

Status ReadLink(const Json& json, const char* name, int most, const std::string& where, int& out) {
  if (!json.contains(name)) return Ok();
  const auto value = JsonInt(json, name);
  if (!value || *value < 1 || *value > most) {
    return Invalid(fmt::format("\"{}\" must be from 1 to {}", name, most), where);
  }
  out = static_cast<int>(*value);
  return Ok();
}

// Members of one card over what it is already.
Status ReadCard(const Json& json, const std::string& where, DescribedCard& card) {
  if (!json.is_object()) return Invalid("a card must be an object", where);
  for (const NumberMember& number : kNumbers) {
    if (!json.contains(number.name)) continue;
    const auto value = JsonNumber(json, number.name);
    if (!value || !(*value >= number.least && *value <= number.most)) {
      return Invalid(
          fmt::format("\"{}\" must be from {} to {}", number.name, number.least, number.most),
          where);
    }
    card.spec.*number.member = *value;
  }
  STOKER_TRY(ReadLink(json, "pcie_generation", 15, where, card.spec.pcie_generation));
  STOKER_TRY(ReadLink(json, "pcie_width", 32, where, card.spec.pcie_width));
  if (const auto uuid = JsonString(json, "uuid")) card.spec.uuid = uuid->substr(0, 80);
  if (const auto name = JsonString(json, "name")) {
    // Whatever it is called, it must say that it is none.
    const bool says = name->find("simulated") != std::string::npos;
    card.spec.name = name->substr(0, 70) + (says ? "" : " (simulated)");
  }
  if (json.contains("fail")) STOKER_TRY(ReadFaults(json["fail"], where, card));
  if (card.spec.limit_min_w > card.spec.limit_max_w) {
    return Invalid("\"limit_min_w\" is above \"limit_max_w\"", where);
  }
  card.spec.limit_w = std::clamp(card.spec.limit_w, card.spec.limit_min_w, card.spec.limit_max_w);
  return Ok();
}

Status ReadBox(const Json& json, const std::string& where, Description& box) {
  if (!json.is_object()) return Invalid("the description must be an object", where);
  const auto count = json.contains("count") ? JsonInt(json, "count") : int64_t{8};
  if (!count || *count < 0 || *count > kCardsMost) {
    return Invalid(fmt::format("\"count\" must be from 0 to {}", kCardsMost), where);
  }
  if (json.contains("speed")) {
    const auto speed = JsonNumber(json, "speed");
    if (!speed || !(*speed >= 0 && *speed <= 10000)) {
      return Invalid("\"speed\" must be from 0 to 10000", where);
    }
    box.speed = *speed;
  }
  if (const auto driver = JsonString(json, "driver")) {
    box.driver = driver->substr(0, 40) + "-simulated";
  }
  const Json all = json.contains("card") ? json["card"] : Json::object();
  for (int i = 0; i < *count; ++i) {
    DescribedCard card;
    GiveCharacter(i, card.spec);
    STOKER_TRY(ReadCard(all, where + ": card", card));
    box.cards.push_back(std::move(card));
  }
  if (!json.contains("cards")) return Ok();
  if (!json["cards"].is_object())
    return Invalid("\"cards\" must be an object by card number", where);
  for (const auto& [key, own] : json["cards"].items()) {
    const size_t index =
        key.size() <= 2 && key.find_first_not_of("0123456789") == std::string::npos && !key.empty()
            ? static_cast<size_t>(std::stoi(key))
            : box.cards.size();
    if (index >= box.cards.size()) {
      return Invalid(fmt::format("\"cards\" names card \"{}\", which is not there", key), where);
    }
    STOKER_TRY(ReadCard(own, fmt::format("{}: card {}", where, key), box.cards[index]));
  }
  return Ok();
}

}  // namespace

Result<Description> ParseDescription(std::string_view text, const std::string& where) {
  Description box;
  Json json = Json::object();
  if (!text.empty()) {
    STOKER_ASSIGN(json, ParseJson(text, where, 1 << 20));
  }
  STOKER_TRY(ReadBox(json, where, box));
  return box;
}

}  // namespace stoker::sim
