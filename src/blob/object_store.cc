#include "blob/object_store.h"

#include "base/text.h"

namespace stoker::blob {
namespace {

constexpr size_t kMaxKey = 512;
constexpr size_t kMaxPart = 200;  // leaves room for the name of a partial file beside it

bool Allowed(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '=' || c == '@' || c == '-';
}

}  // namespace

Status CheckKey(std::string_view key) {
  const auto bad = [&](std::string what) { return Invalid(std::move(what), Printable(key)); };
  if (key.empty() || key.size() > kMaxKey) return bad("an object key has 1 to 512 characters");
  for (const std::string_view part : Split(key, '/')) {
    if (part.empty() || part.size() > kMaxPart) {
      return bad("each part of an object key has 1 to 200 characters");
    }
    if (part.front() == '.') return bad("no part of an object key begins with a dot");
    for (const char c : part) {
      if (!Allowed(c)) return bad("an object key has only letters, digits and ._=@-");
    }
  }
  return Ok();
}

Source FromBytes(std::string bytes) {
  auto rest = std::make_shared<std::string>(std::move(bytes));
  auto given = std::make_shared<bool>(false);
  return [rest, given]() -> Result<std::string_view> {
    if (*given) return std::string_view();
    *given = true;
    return std::string_view(*rest);
  };
}

Status PutBytes(ObjectStore& store, const std::string& key, std::string bytes) {
  return store.Put(key, FromBytes(std::move(bytes)));
}

Result<std::string> GetBytes(ObjectStore& store, const std::string& key, size_t max_bytes) {
  std::string out;
  STOKER_TRY(store.Get(key, [&](std::string_view bytes) -> Status {
    if (out.size() + bytes.size() > max_bytes) return Invalid("the object is too large", key);
    out.append(bytes);
    return Ok();
  }));
  return out;
}

}  // namespace stoker::blob
