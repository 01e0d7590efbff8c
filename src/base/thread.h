// A long-lived thread known by name (ps -T shows it), stopped and joined with its owner. Owned in
// app/ only; lower modules offer Tick() functions and let the owner drive them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "base/units.h"

namespace stoker {

// Tells a loop to end and cuts its wait short.
class StopSignal {
 public:
  void Stop() EXCLUDES(mutex_);
  bool stopped() const EXCLUDES(mutex_);
  // Sleeps up to `limit`; true when stopped.
  bool WaitFor(Millis limit) EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  bool stopped_ GUARDED_BY(mutex_) = false;
};

class NamedThread {
 public:
  // `name` is at most 15 characters; `body` returns soon after stop.stopped() becomes true.
  NamedThread(const std::string& name, std::function<void(StopSignal& stop)> body);
  ~NamedThread();
  void Stop();  // asks; the destructor joins

 private:
  std::unique_ptr<StopSignal> stop_;
  std::thread thread_;
};

}  // namespace stoker
