#include "photo/dishes.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "base/durable_file.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mutex.h"
#include "photo/folder.h"
#include "photo/icons.h"
#include "photo/jpeg.h"
#include "photo/random.h"
#include "photo/scene.h"

namespace stoker::photo {
namespace {

constexpr int kIconSide = 192;
constexpr int kMaxStores = 10'000;
constexpr std::string_view kManifest = "store.json";

// Streams of random numbers, one a purpose.
constexpr uint64_t kChoiceStream = 1;
constexpr uint64_t kSceneStream = 2;

Status WriteFile(const std::string& path, std::string_view bytes) {
  STOKER_ASSIGN(const Fd file, OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC));
  return WriteAll(file, bytes, path);
}

Status CheckOptions(const DishesOptions& options) {
  if (options.out.empty()) return Invalid("no folder given");
  if (options.stores < 1 || options.stores > kMaxStores) {
    return Invalid(fmt::format("{} stores: from 1 to {} can be made", options.stores, kMaxStores));
  }
  if (options.classes < 2) return Invalid("a store needs at least two dishes");
  if (options.size < 32 || options.size > 2048) return Invalid("photos are 32 to 2048 pixels");
  if (options.train_photos < 1 || options.val_photos < 0 || options.test_photos < 0) {
    return Invalid("a class needs at least one training photo");
  }
  return Ok();
}

// `count` of `names` for one store, sorted; stores are independent of each other.
std::vector<std::string> ChooseClasses(std::vector<std::string> names, int count, uint64_t seed,
                                       int store) {
  Random(seed, kChoiceStream, static_cast<uint64_t>(store)).Shuffle(names);
  names.resize(std::min(names.size(), static_cast<size_t>(count)));
  std::sort(names.begin(), names.end());
  return names;
}

std::string StoreDir(const DishesOptions& options, int store) {
  return JoinPath(options.out, fmt::format("store-{:02}", store));
}

// True where the store stands already, made from this manifest.
Result<bool> StoreStands(const std::string& dir, const std::string& manifest) {
  if (!FileExists(dir)) return false;
  const auto found = ReadFile(JoinPath(dir, kManifest));
  if (found && *found == manifest) return true;
  return Unavailable("is there already, made with other options", dir,
                     "remove it or choose another folder");
}

// Runs `fill` on a folder beside `dir`, then moves it into place with its manifest.
Status MakeStore(const std::string& dir, const std::string& manifest,
                 const std::function<Status(const std::string& partial)>& fill) {
  const std::string partial = JoinPath(DirName(dir), "." + BaseName(dir) + ".partial");
  STOKER_TRY(RemoveTree(partial));
  STOKER_TRY(MakeDirs(partial));
  if (auto filled = fill(partial); !filled) {
    Ignore(RemoveTree(partial));
    return filled;
  }
  STOKER_TRY(WriteDurably(JoinPath(partial, kManifest), manifest));
  STOKER_TRY(RenameFile(partial, dir));
  return SyncDir(DirName(dir));
}

struct Drawings {
  std::string vendor;
  bool for_test = false;
  std::map<std::string, IconImage> by_name;
};

struct PhotoPlan {
  std::string path;  // relative to the store
  const IconImage* icon = nullptr;
  uint64_t number = 0;  // of all photos of the store: the index of its random stream
};

class Kitchen {
 public:
  explicit Kitchen(const DishesOptions& options) : options_(options) {}

  Status Open() {
    for (const std::string& dir : options_.icon_packages) {
      auto package = ReadIconPackage(dir);
      if (!package) {
        Error error = package.error();
        if (error.code == Code::kNotFound) error.advice = "run scripts/setup";
        return error;
      }
      packages_.push_back(std::move(*package));
      drawings_.push_back({.vendor = packages_.back().vendor,
                           .for_test = packages_.back().vendor == options_.test_vendor});
    }
    names_ = CommonNames(packages_);
    if (static_cast<int>(names_.size()) < options_.classes) {
      return Invalid(fmt::format("{} dishes a store, but the icon packages share {}",
                                 options_.classes, names_.size()));
    }
    const bool can_train = std::any_of(drawings_.begin(), drawings_.end(),
                                       [](const Drawings& d) { return !d.for_test; });
    return can_train ? Ok() : Invalid("no icon package is left for training");
  }

  std::vector<std::string> ClassesOf(int store) const {
    return ChooseClasses(names_, options_.classes, options_.seed, store);
  }

  Status Fill(const std::string& dir, int store) {
    const auto classes = ClassesOf(store);
    STOKER_TRY(RenderAll(classes));
    std::vector<PhotoPlan> plan;
    for (const std::string& name : classes) {
      Plan("train", name, options_.train_photos, plan);
      Plan("val", name, options_.val_photos, plan);
      Plan("test", name, options_.test_photos, plan);
    }
    for (const char* split : {"train", "val", "test"}) {
      for (const std::string& name : classes) {
        STOKER_TRY(MakeDirs(JoinPath(JoinPath(dir, split), name)));
      }
    }
    return DrawAll(dir, store, plan);
  }

 private:
  Status RenderAll(const std::vector<std::string>& classes) {
    for (size_t v = 0; v < packages_.size(); ++v) {
      for (const std::string& name : classes) {
        if (drawings_[v].by_name.contains(name)) continue;
        STOKER_ASSIGN(drawings_[v].by_name[name], RenderSvg(packages_[v].svg.at(name), kIconSide));
      }
    }
    return Ok();
  }

  // Vendors take turns, so that every class shows each of them equally often.
  void Plan(std::string_view split, const std::string& name, int count,
            std::vector<PhotoPlan>& plan) const {
    std::vector<const Drawings*> vendors;
    const bool have_test_vendor = std::any_of(drawings_.begin(), drawings_.end(),
                                              [](const Drawings& d) { return d.for_test; });
    for (const Drawings& drawings : drawings_) {
      if (drawings.for_test == (split == "test" && have_test_vendor)) vendors.push_back(&drawings);
    }
    for (int i = 0; i < count; ++i) {
      const Drawings& drawings = *vendors[static_cast<size_t>(i) % vendors.size()];
      plan.push_back({fmt::format("{}/{}/{:03}.jpg", split, name, i + 1),
                      &drawings.by_name.at(name), plan.size()});
    }
  }

  Status DrawOne(const std::string& dir, int store, const PhotoPlan& photo) const {
    Random random(options_.seed, kSceneStream + static_cast<uint64_t>(store) * 16, photo.number);
    const Image image = DrawScene(*photo.icon, options_.size, random);
    STOKER_ASSIGN(const std::string jpeg,
                  EncodeJpeg(image, static_cast<int>(random.Uniform(55, 95))));
    return WriteFile(JoinPath(dir, photo.path), jpeg);
  }

  Status DrawAll(const std::string& dir, int store, const std::vector<PhotoPlan>& plan) const {
    std::atomic<size_t> next = 0;
    std::atomic<bool> failed = false;
    Mutex mutex;
    Status result;
    const auto work = [&] {
      for (size_t i = next++; i < plan.size() && !failed; i = next++) {
        auto drawn = DrawOne(dir, store, plan[i]);
        if (drawn) continue;
        MutexLock lock(mutex);
        failed = true;
        result = std::move(drawn);
      }
    };
    {
      std::vector<std::jthread> helpers;
      for (int i = 1; i < options_.threads; ++i) helpers.emplace_back(work);
      work();
    }
    return result;
  }

  const DishesOptions& options_;
  std::vector<IconPackage> packages_;
  std::vector<Drawings> drawings_;  // one a package
  std::vector<std::string> names_;
};

Json CommonManifest(const DishesOptions& options, int store,
                    const std::vector<std::string>& classes) {
  return {{"schema_version", 1}, {"store", store}, {"seed", options.seed}, {"classes", classes}};
}

std::string DrawnManifest(const DishesOptions& options, int store,
                          const std::vector<std::string>& classes) {
  Json vendors = Json::array();
  for (const std::string& dir : options.icon_packages) vendors.push_back(BaseName(dir));
  Json json = CommonManifest(options, store, classes);
  json["source"] = "drawings";
  json["vendors"] = std::move(vendors);
  json["test_vendor"] = options.test_vendor;
  json["size"] = options.size;
  json["photos"] = {
      {"train", options.train_photos}, {"val", options.val_photos}, {"test", options.test_photos}};
  return DumpJson(json, 2) + "\n";
}

// A second name for the same bytes where the disk allows it, else a copy.
Status LinkOrCopy(const std::string& from, const std::string& to) {
  std::error_code failure;
  const auto source = std::filesystem::canonical(from, failure);
  if (!failure) std::filesystem::create_hard_link(source, to, failure);
  if (!failure) return Ok();
  STOKER_ASSIGN(const std::string bytes, ReadFile(from, 256u << 20));
  return WriteFile(to, bytes);
}

Status CutSplit(const std::string& dir, std::string_view split, const Folder& folder,
                const std::vector<PhotoFile>& photos, const std::vector<std::string>& classes,
                int64_t& count) {
  for (const PhotoFile& photo : photos) {
    const std::string& name = folder.classes[static_cast<size_t>(photo.label)];
    if (!std::binary_search(classes.begin(), classes.end(), name)) continue;
    const std::string class_dir = JoinPath(JoinPath(dir, split), name);
    STOKER_TRY(MakeDirs(class_dir));
    STOKER_TRY(LinkOrCopy(photo.path, JoinPath(class_dir, BaseName(photo.path))));
    ++count;
  }
  return Ok();
}

void Tell(const DishesOptions& options, std::string_view line) {
  if (options.tell) options.tell(line);
}

}  // namespace

std::vector<std::string> DefaultIconPackages(const std::string& iconify_dir) {
  std::vector<std::string> dirs;
  for (const char* vendor : {"noto", "twemoji", "openmoji", "fluent-emoji-flat"}) {
    dirs.push_back(JoinPath(iconify_dir, vendor));
  }
  return dirs;
}

Result<DishesReport> MakeDishes(const DishesOptions& options) {
  STOKER_TRY(CheckOptions(options));
  Kitchen kitchen(options);
  STOKER_TRY(kitchen.Open());
  STOKER_TRY(MakeDirs(options.out));
  DishesReport report;
  for (int store = 1; store <= options.stores; ++store) {
    const std::string dir = StoreDir(options, store);
    const auto classes = kitchen.ClassesOf(store);
    const std::string manifest = DrawnManifest(options, store, classes);
    report.store_dirs.push_back(dir);
    STOKER_ASSIGN(const bool stands, StoreStands(dir, manifest));
    if (stands) {
      ++report.stores_kept;
      continue;
    }
    STOKER_TRY(MakeStore(dir, manifest,
                         [&](const std::string& partial) { return kitchen.Fill(partial, store); }));
    ++report.stores_made;
    const int a_class = options.train_photos + options.val_photos + options.test_photos;
    const auto photos = static_cast<int64_t>(classes.size()) * a_class;
    report.photos += photos;
    Tell(options, fmt::format("{}: {} photos of {} dishes", dir, photos, classes.size()));
  }
  return report;
}

Result<DishesReport> CutStores(const std::string& from, const DishesOptions& options) {
  STOKER_TRY(CheckOptions(options));
  STOKER_ASSIGN(const Folder folder, OpenFolder(from));
  STOKER_TRY(MakeDirs(options.out));
  DishesReport report;
  for (int store = 1; store <= options.stores; ++store) {
    const std::string dir = StoreDir(options, store);
    const auto classes = ChooseClasses(folder.classes, options.classes, options.seed, store);
    Json json = CommonManifest(options, store, classes);
    json["source"] = from;
    const std::string manifest = DumpJson(json, 2) + "\n";
    report.store_dirs.push_back(dir);
    STOKER_ASSIGN(const bool stands, StoreStands(dir, manifest));
    if (stands) {
      ++report.stores_kept;
      continue;
    }
    int64_t photos = 0;
    STOKER_TRY(MakeStore(dir, manifest, [&](const std::string& partial) -> Status {
      STOKER_TRY(CutSplit(partial, "train", folder, folder.train, classes, photos));
      STOKER_TRY(CutSplit(partial, "val", folder, folder.val, classes, photos));
      return CutSplit(partial, "test", folder, folder.test, classes, photos);
    }));
    ++report.stores_made;
    report.photos += photos;
    Tell(options, fmt::format("{}: {} photos of {} classes", dir, photos, classes.size()));
  }
  return report;
}

}  // namespace stoker::photo
