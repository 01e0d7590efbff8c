// stoker photos dishes and stoker photos verify.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/command.h"
#include "cli/options.h"
#include "photo/dishes.h"
#include "photo/verify.h"

namespace stoker::cli {
namespace {

Result<int> Dishes(Context& context, const std::vector<std::string>& args) {
  photo::DishesOptions dishes;
  std::string out, from, icons;
  int64_t stores = 1, seed = 1;
  Options options(
      "photos dishes", "DIR --stores N [--from FOLDER]",
      "Makes stores of 12 dishes: drawn from icon packages, or cut out of your own photos.");
  options.Required("DIR", out, "folder of the stores: DIR/store-01/{train,val,test}/DISH/*.jpg")
      .Number("--stores", stores, "how many (1)")
      .Number("--seed", seed, "the same seed gives the same photos (1)")
      .Text("--from", from, "a folder of labelled photos (class folders) to cut the stores from")
      .Text("--icons", icons, "folder of the icon packages (what scripts/setup installs)");
  STOKER_PARSE(options, args, context);
  if (stores < 1 || stores > 1000)
    return Invalid("out of range 1 to 1000", "stoker photos dishes: --stores");
  dishes.out = CleanPath(out, context.cwd);
  dishes.stores = static_cast<int>(stores);
  dishes.seed = static_cast<uint64_t>(seed);
  dishes.threads = 2;
  if (icons.empty())
    icons = CleanPath("../../../tools/demo/node_modules/@iconify-json", context.bin_dir);
  dishes.icon_packages = photo::DefaultIconPackages(CleanPath(icons, context.cwd));
  dishes.tell = [&](std::string_view line) { context.err(std::string(line) + "\n"); };
  STOKER_ASSIGN(const auto report, from.empty()
                                       ? photo::MakeDishes(dishes)
                                       : photo::CutStores(CleanPath(from, context.cwd), dishes));
  if (!context.json) {
    context.out(fmt::format("{} stores in {}: {} made, {} kept, {} photos written\n",
                            report.store_dirs.size(), dishes.out, report.stores_made,
                            report.stores_kept, report.photos));
    return 0;
  }
  Json json;
  json["schema_version"] = 1;
  json["stores"] = report.store_dirs;
  json["made"] = report.stores_made;
  json["kept"] = report.stores_kept;
  json["photos"] = report.photos;
  context.PrintJson(json);
  return 0;
}

Result<int> Verify(Context& context, const std::vector<std::string>& args) {
  std::string dir;
  Options options(
      "photos verify", "DIR",
      "Looks at every photo: does it decode, is it there twice, does it leak between splits.");
  options.Required("DIR", dir, "the folder");
  STOKER_PARSE(options, args, context);
  STOKER_ASSIGN(const auto report, photo::VerifyFolder(CleanPath(dir, context.cwd), 2));
  context.out(context.json ? photo::VerifyJson(report) + "\n" : photo::VerifyText(report));
  return report.ok() ? 0 : 1;
}

constexpr const char* kUsage =
    "usage: stoker photos dishes DIR --stores N [--from FOLDER]\n       stoker photos verify DIR\n";

}  // namespace

Result<int> PhotosCommand(Context& context, const std::vector<std::string>& args) {
  const std::string verb = args.empty() ? "" : args.front();
  if (verb == "dishes") return Dishes(context, {args.begin() + 1, args.end()});
  if (verb == "verify") return Verify(context, {args.begin() + 1, args.end()});
  if (verb == "--help" || verb == "-h") {
    context.out(kUsage);
    return 0;
  }
  return Invalid(verb.empty() ? "say what to do" : "no such command: " + verb, "stoker photos",
                 "dishes or verify");
}

}  // namespace stoker::cli
