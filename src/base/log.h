// Lines for whoever operates the daemon: "time level module message". What a person may ask later
// is an event in the ledger first; a log line is never the only record. Thread-safe.
#pragma once

#include <fmt/core.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mutex.h"

namespace stoker {

enum class LogLevel { kDebug, kInfo, kWarn, kError };

class Logger {
 public:
  virtual ~Logger() = default;
  virtual void Write(LogLevel level, std::string_view module, std::string_view message) = 0;

  template <typename... Args>
  void Info(std::string_view module, fmt::format_string<Args...> format, Args&&... args) {
    Write(LogLevel::kInfo, module, fmt::format(format, std::forward<Args>(args)...));
  }
  template <typename... Args>
  void Warn(std::string_view module, fmt::format_string<Args...> format, Args&&... args) {
    Write(LogLevel::kWarn, module, fmt::format(format, std::forward<Args>(args)...));
  }
  template <typename... Args>
  void Error(std::string_view module, fmt::format_string<Args...> format, Args&&... args) {
    Write(LogLevel::kError, module, fmt::format(format, std::forward<Args>(args)...));
  }
};

// One line a message to a descriptor; the same message from the same module at most once a minute,
// with a count of what was swallowed.
std::unique_ptr<Logger> MakeFdLogger(Fd fd, LogLevel least, const Clock& clock);

class NullLogger final : public Logger {
 public:
  void Write(LogLevel, std::string_view, std::string_view) override {}
};

// Keeps lines for tests.
class MemoryLogger final : public Logger {
 public:
  void Write(LogLevel level, std::string_view module, std::string_view message) override
      EXCLUDES(mutex_);
  std::vector<std::string> lines() const EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  std::vector<std::string> lines_ GUARDED_BY(mutex_);
};

}  // namespace stoker
