#include "base/thread.h"

#include <pthread.h>

namespace stoker {

void StopSignal::Stop() {
  MutexLock lock(mutex_);
  stopped_ = true;
  changed_.NotifyAll();
}

bool StopSignal::stopped() const {
  MutexLock lock(mutex_);
  return stopped_;
}

bool StopSignal::WaitFor(Millis limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  MutexLock lock(mutex_);
  while (!stopped_) {
    const auto left = end - std::chrono::steady_clock::now();
    if (left <= left.zero()) break;
    changed_.WaitFor(mutex_, left);
  }
  return stopped_;
}

NamedThread::NamedThread(const std::string& name, std::function<void(StopSignal& stop)> body)
    : stop_(std::make_unique<StopSignal>()),
      thread_([stop = stop_.get(), body = std::move(body), name] {
        ::pthread_setname_np(::pthread_self(), name.substr(0, 15).c_str());
        body(*stop);
      }) {}

NamedThread::~NamedThread() {
  Stop();
  thread_.join();
}

void NamedThread::Stop() { stop_->Stop(); }

}  // namespace stoker
