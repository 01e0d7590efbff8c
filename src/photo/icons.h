// Food drawings out of Iconify's npm packages: SVG bodies in icons.json, categories in
// metadata.json, one package a vendor. Rendered by rsvg-convert.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stoker::photo {

// Straight (not premultiplied) RGBA, rows top to bottom.
struct IconImage {
  int width = 0;
  int height = 0;
  std::vector<uint8_t> rgba;
  const uint8_t* at(int x, int y) const {
    return rgba.data() + (static_cast<size_t>(y) * width + x) * 4;
  }
};

// The food of one package: name -> a whole SVG document.
struct IconPackage {
  std::string vendor;  // "noto"
  std::map<std::string, std::string> svg;
};

// `dir` holds icons.json and metadata.json. kNotFound where it does not, kCorrupt where they are
// not what the package format says. Aliases are followed; icons that lead nowhere are left out.
Result<IconPackage> ReadIconPackage(const std::string& dir);

// Names that every package draws, sorted.
std::vector<std::string> CommonNames(const std::vector<IconPackage>& packages);

// Fits the drawing into side x side pixels. kNotFound with advice where rsvg-convert is missing.
Result<IconImage> RenderSvg(std::string_view svg, int side);

// PNG bytes to RGBA; at most 4096 x 4096.
Result<IconImage> DecodePng(std::string_view bytes, const std::string& where);

}  // namespace stoker::photo
