// Bounded queue between threads; what happens when it is full is part of the type.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "base/mutex.h"

namespace stoker {

enum class WhenFull { kBlock, kDropOldest };

template <typename T, WhenFull kPolicy>
class Channel {
 public:
  explicit Channel(size_t capacity) : capacity_(capacity) {}

  // False once closed. kBlock waits for room; kDropOldest drops and counts.
  bool Send(T value) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if constexpr (kPolicy == WhenFull::kBlock) {
      while (items_.size() >= capacity_ && !closed_) room_.Wait(mutex_);
    } else {
      if (items_.size() >= capacity_) {
        items_.pop_front();
        ++dropped_;
      }
    }
    if (closed_) return false;
    items_.push_back(std::move(value));
    filled_.NotifyOne();
    return true;
  }

  // The oldest item; nullopt once closed and empty.
  std::optional<T> Receive() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    while (items_.empty() && !closed_) filled_.Wait(mutex_);
    return Pop();
  }

  // The same, giving up after `limit`.
  std::optional<T> ReceiveFor(std::chrono::milliseconds limit) EXCLUDES(mutex_) {
    const auto end = std::chrono::steady_clock::now() + limit;
    MutexLock lock(mutex_);
    while (items_.empty() && !closed_) {
      const auto left = end - std::chrono::steady_clock::now();
      if (left <= left.zero()) return std::nullopt;
      filled_.WaitFor(mutex_, left);
    }
    return Pop();
  }

  void Close() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    closed_ = true;
    filled_.NotifyAll();
    room_.NotifyAll();
  }

  uint64_t dropped() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return dropped_;
  }

 private:
  std::optional<T> Pop() REQUIRES(mutex_) {
    if (items_.empty()) return std::nullopt;
    T value = std::move(items_.front());
    items_.pop_front();
    room_.NotifyOne();
    return value;
  }

  const size_t capacity_;
  mutable Mutex mutex_;
  CondVar filled_;
  CondVar room_;
  std::deque<T> items_ GUARDED_BY(mutex_);
  uint64_t dropped_ GUARDED_BY(mutex_) = 0;
  bool closed_ GUARDED_BY(mutex_) = false;
};

}  // namespace stoker
