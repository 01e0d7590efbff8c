// Objects in memory, for tests.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "blob/object_store.h"

namespace stoker::blob {

class MemStore final : public ObjectStore {
 public:
  Status Put(const std::string& key, const Source& source) override EXCLUDES(mutex_);
  Status Get(const std::string& key, const Sink& sink) override EXCLUDES(mutex_);
  Result<ObjectInfo> Head(const std::string& key) override EXCLUDES(mutex_);
  Result<std::vector<ObjectInfo>> List(const std::string& prefix) override EXCLUDES(mutex_);
  Status Delete(const std::string& key) override EXCLUDES(mutex_);
  std::string Describe() const override { return "memory"; }

 private:
  mutable Mutex mutex_;
  std::map<std::string, std::string> objects_ GUARDED_BY(mutex_);
};

}  // namespace stoker::blob
