// Makes the data sets of a chain of lunch counters: DIR/store-01/{train,val,test}/DISH/001.jpg, a
// dozen dishes a store. Either drawn from icon packages, or cut out of a folder of labelled photos.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stoker::photo {

struct DishesOptions {
  std::string out;
  int stores = 1;
  int classes = 12;  // a store
  uint64_t seed = 1;
  // Drawn photos only.
  int train_photos = 60;  // a class
  int val_photos = 15;
  int test_photos = 15;
  int size = 160;  // pixels square
  // Folders of icon packages, each with icons.json and metadata.json. Training and val show the
  // drawings of all but `test_vendor`, val in scenes of its own; test shows `test_vendor` alone,
  // whose drawings no training photo has: accuracy there says what was learnt about the dish
  // itself.
  std::vector<std::string> icon_packages;
  std::string test_vendor = "openmoji";
  int threads = 1;
  std::function<void(std::string_view line)> tell;  // progress, a line a store; may be empty
};

struct DishesReport {
  int stores_made = 0;
  int stores_kept = 0;  // were there already, made with the same options
  int64_t photos = 0;   // written now
  std::vector<std::string> store_dirs;
};

// The four vendors' folders under ".../node_modules/@iconify-json".
std::vector<std::string> DefaultIconPackages(const std::string& iconify_dir);

// A store appears whole or not at all: it is made beside its place and moved there. A store made
// with the same options is kept; one made with others is kUnavailable.
Result<DishesReport> MakeDishes(const DishesOptions& options);

// Cuts stores out of the class folders under `from` (see folder.h): each takes `classes` of them at
// random and all their photos as they are, linked where the disk allows it. The splits stay what
// OpenFolder says. A store of all classes where there are fewer than `classes`.
Result<DishesReport> CutStores(const std::string& from, const DishesOptions& options);

}  // namespace stoker::photo
