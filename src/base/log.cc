#include "base/log.h"

#include <map>

#include "base/text.h"

namespace stoker {
namespace {

std::string_view LevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarn:
      return "warn";
    case LogLevel::kError:
      return "error";
  }
  return "error";
}

class FdLogger final : public Logger {
 public:
  FdLogger(Fd fd, LogLevel least, const Clock& clock)
      : fd_(std::move(fd)), least_(least), clock_(clock) {}

  void Write(LogLevel level, std::string_view module, std::string_view message) override
      EXCLUDES(mutex_) {
    if (level < least_) return;
    std::string text = fmt::format("{} {}", module, Printable(message));
    MutexLock lock(mutex_);
    const MonoTime now = clock_.Mono();
    if (seen_.size() > kMaxRemembered) seen_.clear();
    auto [it, is_new] = seen_.try_emplace(text, Seen{now, 0});
    if (!is_new && now - it->second.at < std::chrono::minutes(1)) {
      ++it->second.swallowed;
      return;
    }
    if (it->second.swallowed > 0) {
      text += fmt::format(" ({} more such lines in between)", it->second.swallowed);
    }
    it->second = Seen{now, 0};
    // The log has nowhere to report its own failure.
    Ignore(WriteAll(
        fd_, fmt::format("{} {:5} {}\n", FormatTime(clock_.Now()), LevelName(level), text), "log"));
  }

 private:
  static constexpr size_t kMaxRemembered = 1000;
  struct Seen {
    MonoTime at;
    int swallowed = 0;
  };
  const Fd fd_;
  const LogLevel least_;
  const Clock& clock_;
  Mutex mutex_;
  std::map<std::string, Seen> seen_ GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<Logger> MakeFdLogger(Fd fd, LogLevel least, const Clock& clock) {
  return std::make_unique<FdLogger>(std::move(fd), least, clock);
}

void MemoryLogger::Write(LogLevel level, std::string_view module, std::string_view message) {
  MutexLock lock(mutex_);
  lines_.push_back(fmt::format("{} {} {}", LevelName(level), module, message));
}

std::vector<std::string> MemoryLogger::lines() const {
  MutexLock lock(mutex_);
  return lines_;
}

}  // namespace stoker
