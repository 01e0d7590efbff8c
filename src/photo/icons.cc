#include "photo/icons.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/fd.h"
#include "base/file.h"
#include "base/json.h"
#include "base/process.h"
#include "base/text.h"

namespace stoker::photo {
namespace {

constexpr int kMaxAliases = 8;
constexpr png_uint_32 kMaxPngSide = 4096;
constexpr double kDefaultIconSide = 16;  // of the package format
constexpr Millis kRenderLimit{20'000};

Result<Json> ReadJsonFile(const std::string& path) {
  STOKER_ASSIGN(const std::string text, ReadFile(path));
  return ParseJson(text, path);
}

// "Food & Drink", "Food Drink": vendors differ in punctuation.
bool IsFoodCategory(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (std::isalpha(static_cast<unsigned char>(c))) letters += c;
  }
  return ToLower(letters) == "fooddrink";
}

const Json* Member(const Json& object, const std::string& key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

const Json* FindIcon(const Json& package, std::string name) {
  const Json* icons = Member(package, "icons");
  const Json* aliases = Member(package, "aliases");
  for (int hop = 0; icons && hop < kMaxAliases; ++hop) {
    if (const Json* icon = Member(*icons, name)) return icon;
    const Json* alias = aliases ? Member(*aliases, name) : nullptr;
    const auto parent = alias ? JsonString(*alias, "parent") : std::nullopt;
    if (!parent) return nullptr;
    name = *parent;
  }
  return nullptr;
}

std::optional<std::string> SvgOf(const Json& package, const std::string& name) {
  const Json* icon = FindIcon(package, name);
  const auto body = icon ? JsonString(*icon, "body") : std::nullopt;
  if (!body) return std::nullopt;
  const auto number = [&](const char* key, double fallback) {
    return JsonNumber(*icon, key).value_or(JsonNumber(package, key).value_or(fallback));
  };
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" )"
      R"(viewBox="{} {} {} {}">{}</svg>)",
      number("left", 0), number("top", 0), number("width", kDefaultIconSide),
      number("height", kDefaultIconSide), *body);
}

}  // namespace

Result<IconPackage> ReadIconPackage(const std::string& dir) {
  const std::string icons_path = JoinPath(dir, "icons.json");
  STOKER_ASSIGN(const Json icons, ReadJsonFile(icons_path));
  STOKER_ASSIGN(const Json metadata, ReadJsonFile(JoinPath(dir, "metadata.json")));
  const Json* categories = Member(metadata, "categories");
  if (!categories || !categories->is_object()) {
    return Corrupt("no categories", JoinPath(dir, "metadata.json"), "run scripts/setup again");
  }
  IconPackage package{.vendor = BaseName(dir)};
  for (const auto& [category, names] : categories->items()) {
    if (!IsFoodCategory(category) || !names.is_array()) continue;
    for (const Json& name : names) {
      if (!name.is_string()) continue;
      auto svg = SvgOf(icons, name.get<std::string>());
      if (svg) package.svg.emplace(name.get<std::string>(), std::move(*svg));
    }
  }
  if (package.svg.empty()) return Corrupt("no food among the icons", icons_path);
  return package;
}

std::vector<std::string> CommonNames(const std::vector<IconPackage>& packages) {
  std::vector<std::string> names;
  if (packages.empty()) return names;
  for (const auto& entry : packages.front().svg) {
    const std::string& name = entry.first;
    const bool everywhere = std::all_of(packages.begin(), packages.end(), [&](const auto& package) {
      return package.svg.contains(name);
    });
    if (everywhere) names.push_back(name);
  }
  return names;
}

Result<IconImage> RenderSvg(std::string_view svg, int side) {
  STOKER_ASSIGN(const TempDir temp, TempDir::Make("icon"));
  const std::string path = JoinPath(temp.path(), "icon.svg");
  {
    STOKER_ASSIGN(const Fd file, OpenFile(path, O_WRONLY | O_CREAT | O_EXCL, 0600));
    STOKER_TRY(WriteAll(file, svg, path));
  }
  const std::string pixels = std::to_string(side);
  auto run = RunProgram(
      {.argv = {"rsvg-convert", "--keep-aspect-ratio", "-w", pixels, "-h", pixels, path}},
      kRenderLimit);
  if (!run) {
    Error error = run.error().In("drawing a dish");
    if (error.code == Code::kNotFound) error.advice = "install librsvg2-bin";
    return error;
  }
  if (!run->status.ok()) {
    return Internal("rsvg-convert failed: " + Printable(Trim(run->err).substr(0, 200)));
  }
  return DecodePng(run->out, "rsvg-convert");
}

Result<IconImage> DecodePng(std::string_view bytes, const std::string& where) {
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_memory(&png, bytes.data(), bytes.size())) {
    return Corrupt(std::string("not a PNG: ") + png.message, where);
  }
  if (png.width > kMaxPngSide || png.height > kMaxPngSide) {
    png_image_free(&png);
    return Invalid("the PNG is too large", where);
  }
  png.format = PNG_FORMAT_RGBA;
  IconImage image{static_cast<int>(png.width), static_cast<int>(png.height), {}};
  image.rgba.resize(PNG_IMAGE_SIZE(png));
  if (!png_image_finish_read(&png, nullptr, image.rgba.data(), 0, nullptr)) {
    png_image_free(&png);
    return Corrupt(std::string("damaged PNG: ") + png.message, where);
  }
  return image;
}

}  // namespace stoker::photo
