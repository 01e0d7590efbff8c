// The page files built into the program: everything a browser may load, read only.
#pragma once

#include <span>
#include <string_view>

namespace stoker::web {

struct Page {
  std::string_view path;          // "/app.js"
  std::string_view content_type;  // "text/javascript; charset=utf-8"
  std::string_view etag;          // quoted SHA-256 of the bytes
  std::string_view bytes;
};

// Sorted by path; "/" is the entry page. Written at build time by tools/embed_pages.cc from ui/.
std::span<const Page> Pages();

}  // namespace stoker::web
