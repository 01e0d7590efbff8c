// Mutex that clang's thread-safety analysis understands (std::mutex is no capability there).
#pragma once

#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define STOKER_ATTRIBUTE(x) __attribute__((x))
#else
#define STOKER_ATTRIBUTE(x)
#endif
#define CAPABILITY(x) STOKER_ATTRIBUTE(capability(x))
#define SCOPED_CAPABILITY STOKER_ATTRIBUTE(scoped_lockable)
#define GUARDED_BY(x) STOKER_ATTRIBUTE(guarded_by(x))
#define REQUIRES(...) STOKER_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define ACQUIRE(...) STOKER_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define RELEASE(...) STOKER_ATTRIBUTE(release_capability(__VA_ARGS__))
#define EXCLUDES(...) STOKER_ATTRIBUTE(locks_excluded(__VA_ARGS__))

namespace stoker {

class CAPABILITY("mutex") Mutex {
 public:
  void lock() ACQUIRE() { mutex_.lock(); }
  void unlock() RELEASE() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Waits on a Mutex; always with a predicate checked by the caller in a loop.
class CondVar {
 public:
  void Wait(Mutex& mutex) REQUIRES(mutex) { cv_.wait(mutex); }
  template <typename Duration>
  bool WaitFor(Mutex& mutex, Duration limit) REQUIRES(mutex) {
    return cv_.wait_for(mutex, limit) == std::cv_status::no_timeout;
  }
  void NotifyOne() { cv_.notify_one(); }
  void NotifyAll() { cv_.notify_all(); }

 private:
  std::condition_variable_any cv_;
};

}  // namespace stoker
