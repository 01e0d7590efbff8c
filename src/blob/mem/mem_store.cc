#include "blob/mem/mem_store.h"

#include <utility>

namespace stoker::blob {

Status MemStore::Put(const std::string& key, const Source& source) {
  STOKER_TRY(CheckKey(key));
  std::string whole;  // outside the lock: a source may take its time, or use this very store
  while (true) {
    STOKER_ASSIGN(const std::string_view bytes, source());
    if (bytes.empty()) break;
    whole.append(bytes);
  }
  MutexLock lock(mutex_);
  objects_[key] = std::move(whole);
  return Ok();
}

Status MemStore::Get(const std::string& key, const Sink& sink) {
  STOKER_TRY(CheckKey(key));
  std::string copy;
  {
    MutexLock lock(mutex_);
    const auto found = objects_.find(key);
    if (found == objects_.end()) return NotFound("no such object", key);
    copy = found->second;
  }
  return copy.empty() ? Ok() : sink(copy);
}

Result<ObjectInfo> MemStore::Head(const std::string& key) {
  STOKER_TRY(CheckKey(key));
  MutexLock lock(mutex_);
  const auto found = objects_.find(key);
  if (found == objects_.end()) return NotFound("no such object", key);
  return ObjectInfo{key, static_cast<int64_t>(found->second.size())};
}

Result<std::vector<ObjectInfo>> MemStore::List(const std::string& prefix) {
  MutexLock lock(mutex_);
  std::vector<ObjectInfo> out;
  for (auto it = objects_.lower_bound(prefix);
       it != objects_.end() && it->first.starts_with(prefix); ++it) {
    out.push_back({it->first, static_cast<int64_t>(it->second.size())});
  }
  return out;
}

Status MemStore::Delete(const std::string& key) {
  STOKER_TRY(CheckKey(key));
  MutexLock lock(mutex_);
  objects_.erase(key);
  return Ok();
}

}  // namespace stoker::blob
