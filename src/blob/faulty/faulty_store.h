// Another store seen through a bad line: fails, cuts or corrupts on request. For tests.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "blob/object_store.h"

namespace stoker::blob {

class FaultyStore final : public ObjectStore {
 public:
  explicit FaultyStore(ObjectStore& inner) : inner_(inner) {}

  // Every operation fails so until cleared with nullopt.
  void SetDown(std::optional<Error> error) EXCLUDES(mutex_);
  // The next `times` Puts fail after `bytes` bytes, like a disk that fills up.
  void CutPuts(int times, int64_t bytes, Error error) EXCLUDES(mutex_);
  // The next Put stores the object and then says that it failed, like an answer lost on the way.
  void LoseNextAnswer(Error error) EXCLUDES(mutex_);
  // The next Put stores one flipped bit; the next Get delivers one.
  void CorruptNextPut() EXCLUDES(mutex_);
  void CorruptNextGet() EXCLUDES(mutex_);
  // Runs before each piece that a Put takes, with the count of bytes taken so far.
  void OnPutPiece(std::function<void(int64_t)> hook) EXCLUDES(mutex_);

  int puts() const EXCLUDES(mutex_);  // Puts that were begun
  int gets() const EXCLUDES(mutex_);

  Status Put(const std::string& key, const Source& source) override EXCLUDES(mutex_);
  Status Get(const std::string& key, const Sink& sink) override EXCLUDES(mutex_);
  Result<ObjectInfo> Head(const std::string& key) override EXCLUDES(mutex_);
  Result<std::vector<ObjectInfo>> List(const std::string& prefix) override EXCLUDES(mutex_);
  Status Delete(const std::string& key) override EXCLUDES(mutex_);
  std::string Describe() const override { return "faulty " + inner_.Describe(); }
  Status CleanLeftovers() override EXCLUDES(mutex_);

 private:
  struct Plan {
    int cuts = 0;
    int64_t cut_after = 0;
    std::optional<Error> cut_error, lost_answer;
    bool corrupt_put = false, corrupt_get = false;
  };
  Status CheckUp() const EXCLUDES(mutex_);

  ObjectStore& inner_;
  mutable Mutex mutex_;
  std::optional<Error> down_ GUARDED_BY(mutex_);
  Plan next_ GUARDED_BY(mutex_);
  std::function<void(int64_t)> hook_ GUARDED_BY(mutex_);
  int puts_ GUARDED_BY(mutex_) = 0;
  int gets_ GUARDED_BY(mutex_) = 0;
};

}  // namespace stoker::blob
