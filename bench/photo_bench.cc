// Photos a second on one core: decoding at full and at reduced size, and the views that a trainer
// asks for. STOKER_PHOTOS names a folder of photos; without it one is drawn.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/file.h"
#include "photo/augment.h"
#include "photo/folder.h"
#include "photo/jpeg.h"
#include "photo/random.h"

namespace stoker::photo {
namespace {

constexpr size_t kMostPhotos = 200;

// A 500 x 375 picture that compresses about as a photo does.
std::string DrawnJpeg() {
  Image image(500, 375);
  Random random(1);
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      for (int c = 0; c < 3; ++c) {
        const int64_t value = (x * (c + 1) / 3 + y / 2) % 256 + random.Below(24) - 12;
        image.at(x, y)[c] = static_cast<uint8_t>(std::clamp<int64_t>(value, 0, 255));
      }
    }
  }
  return EncodeJpeg(image, 88).value_or("");
}

const std::vector<std::string>& Photos() {
  static const std::vector<std::string> photos = [] {
    std::vector<std::string> read;
    if (const char* said = std::getenv("STOKER_PHOTOS")) {
      if (const auto folder = OpenFolder(said)) {
        const size_t stride = std::max<size_t>(1, folder->train.size() / kMostPhotos);
        for (size_t i = 0; i < folder->train.size(); i += stride) {
          if (auto bytes = ReadFile(folder->train[i].path)) read.push_back(std::move(*bytes));
        }
      }
    }
    if (read.empty()) read.push_back(DrawnJpeg());
    return read;
  }();
  return photos;
}

void BM_Decode(benchmark::State& state) {
  size_t next = 0;
  for (auto _ : state) {
    const auto image = DecodeJpeg(Photos()[next++ % Photos().size()], "photo",
                                  {.shorter_side = static_cast<int>(state.range(0))});
    if (!image) state.SkipWithError("a photo does not decode");
    benchmark::DoNotOptimize(image);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Decode)->ArgName("shorter_side")->Arg(0)->Arg(258)->Arg(147)->Arg(74);

// All that an uncached photo costs a trainer: decode, fit, augment.
void BM_DecodeAndView(benchmark::State& state) {
  const int size = static_cast<int>(state.range(0));
  std::vector<uint8_t> out(static_cast<size_t>(size) * size * 3);
  size_t next = 0;
  for (auto _ : state) {
    const auto image =
        DecodeJpeg(Photos()[next++ % Photos().size()], "photo", {.shorter_side = HeldSide(size)});
    if (!image) state.SkipWithError("a photo does not decode");
    Random random(1, 1, next);
    TrainView(FitShorterSide(*image, HeldSide(size)), size, {}, random, out.data());
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_DecodeAndView)->ArgName("size")->Arg(224)->Arg(128)->Arg(64);

// The same once the photo is in the cache.
void BM_View(benchmark::State& state) {
  const int size = static_cast<int>(state.range(0));
  const auto decoded = DecodeJpeg(Photos().front(), "photo");
  if (!decoded) return state.SkipWithError("the photo does not decode");
  const Image held = FitShorterSide(*decoded, HeldSide(size));
  std::vector<uint8_t> out(static_cast<size_t>(size) * size * 3);
  uint64_t next = 0;
  for (auto _ : state) {
    Random random(1, 1, ++next);
    TrainView(held, size, {}, random, out.data());
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_View)->ArgName("size")->Arg(224)->Arg(128)->Arg(64);

}  // namespace
}  // namespace stoker::photo

BENCHMARK_MAIN();
