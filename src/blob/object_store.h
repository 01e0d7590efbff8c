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

// Gives the next bytes, empty at the end; an error aborts the transfer.
using Source = std::function<Result<std::string_view>()>;
// Takes the next bytes; an error aborts the transfer.
using Sink = std::function<Status(std::string_view)>;

class ObjectStore {
 public:
  virtual ~ObjectStore() = default;
  virtual Status Put(const std::string& key, const Source& source) = 0;
  virtual Status Get(const std::string& key, const Sink& sink) = 0;     // kNotFound
  virtual Result<ObjectInfo> Head(const std::string& key) = 0;          // kNotFound
  virtual Result<std::vector<ObjectInfo>> List(const std::string& prefix) = 0;
  virtual Status Delete(const std::string& key) = 0;                    // absent is fine
  virtual std::string Describe() const = 0;                             // "folder /mnt/backup"
};

}  // namespace stoker::blob
