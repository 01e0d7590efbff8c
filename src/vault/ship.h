// Carries one file to the store so that the object is certainly what was examined: hashed once,
// hashed again while it is sent, and read back.
#pragma once

#include <atomic>
#include <string>

#include "base/result.h"
#include "blob/object_store.h"
#include "vault/version.h"

namespace stoker::vault {

std::string ObjectKey(const std::string& sha256);  // "sha256/ab/abcd…"

struct Hashed {
  std::string sha256;
  int64_t bytes = 0;
};
// Reads a whole object back.
Result<Hashed> HashObject(blob::ObjectStore& store, const std::string& key,
                          const std::atomic<bool>* cancel);

struct Shipped {
  enum class End {
    kSafe,          // stored and read back
    kChanged,       // the file is no longer the version asked for; nothing was stored
    kGone,          // the file is not there
    kLocalTrouble,  // the file cannot be read: `error`
    kStoreTrouble,  // the store failed: `error`
    kStopped,       // *cancel became true
  };
  End end = End::kSafe;
  std::string sha256;      // also set where hashing ended well and the store failed
  bool was_there = false;  // the store had the object already
  Error error;
};
// `known_sha256` may be empty; otherwise it spares the first pass.
Shipped Ship(const std::string& path, const Version& version, const std::string& known_sha256,
             blob::ObjectStore& store, const std::atomic<bool>* cancel);

}  // namespace stoker::vault
