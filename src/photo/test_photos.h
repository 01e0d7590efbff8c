// Pictures and folders that the tests of this module and of the trainers make for themselves.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/durable_file.h"
#include "base/file.h"
#include "photo/image.h"
#include "photo/jpeg.h"
#include "photo/random.h"

namespace stoker::photo {

// A picture of one colour with a little seeded noise.
inline Image Plain(int width, int height, int r, int g, int b, uint64_t seed = 1) {
  Image image(width, height);
  Random random(seed);
  for (size_t i = 0; i < image.rgb.size(); i += 3) {
    const int rgb[3] = {r, g, b};
    for (size_t c = 0; c < 3; ++c) {
      image.rgb[i + c] =
          static_cast<uint8_t>(std::clamp<int64_t>(rgb[c] + random.Below(9) - 4, 0, 255));
    }
  }
  return image;
}

inline std::string PlainJpeg(int width, int height, int r, int g, int b, uint64_t seed = 1) {
  return EncodeJpeg(Plain(width, height, r, g, b, seed), 90).value();
}

inline void WriteTestFile(const std::string& path, std::string_view bytes) {
  ASSERT_TRUE(MakeDirs(DirName(path)));
  ASSERT_TRUE(WriteDurably(path, bytes));
}

// The folder of real data, where the machine has it: `said` is $STOKER_DATA, `source`
// $STOKER_SOURCE.
inline std::optional<std::string> RealData(const char* said, const char* source,
                                           const std::string& name) {
  const std::string root = said ? said : source ? std::string(source) + "/../shared/data" : "";
  if (root.empty() || !FileExists(JoinPath(root, name))) return std::nullopt;
  return JoinPath(root, name);
}

}  // namespace stoker::photo
