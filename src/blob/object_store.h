// The seam to wherever copies go. Keys are relative slash paths of [A-Za-z0-9._=@-]; a Put either
// leaves the whole object or nothing. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stoker::blob {

struct ObjectInfo {
  std::string key;
  int64_t bytes = 0;
};

// Gives the next bytes, empty at the end; an error aborts the transfer. The view is valid until the
// next call.
using Source = std::function<Result<std::string_view>()>;
// Takes the next bytes; an error aborts the transfer.
using Sink = std::function<Status(std::string_view)>;

class ObjectStore {
 public:
  virtual ~ObjectStore() = default;
  // Replaces an object of the same key in one step.
  virtual Status Put(const std::string& key, const Source& source) = 0;
  virtual Status Get(const std::string& key, const Sink& sink) = 0;  // kNotFound
  virtual Result<ObjectInfo> Head(const std::string& key) = 0;       // kNotFound
  // Every object whose key begins with `prefix` (any text, not only whole folders), by key.
  virtual Result<std::vector<ObjectInfo>> List(const std::string& prefix) = 0;
  virtual Status Delete(const std::string& key) = 0;  // absent is fine
  virtual std::string Describe() const = 0;           // "folder /mnt/backup"
  // Removes what killed Puts left behind. Only for the one process that puts, while no Put runs.
  virtual Status CleanLeftovers() { return Ok(); }
};

// kInvalid unless `key` is 1 to 512 of the allowed characters in slash-separated parts, each of 1
// to 200, none beginning with a dot.
Status CheckKey(std::string_view key);

// Small objects in one piece.
Source FromBytes(std::string bytes);
Status PutBytes(ObjectStore& store, const std::string& key, std::string bytes);
Result<std::string> GetBytes(ObjectStore& store, const std::string& key, size_t max_bytes);

}  // namespace stoker::blob
