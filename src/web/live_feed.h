// What every viewer of /api/v1/live sees: the ledger is read once a tick for all of them, the frame
// is shared, and a viewer that does not take its frames is dropped. Not thread-safe: the server's
// one thread owns it and calls Tick().
//
// Frames (server-sent events): "now" with the JSON of /api/v1/now every tick; "event" with the JSON
// of /api/v1/events and one event in it, its id the event's; "fault" with an error once, and a
// comment each tick after it, while the ledger cannot be read.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "ledger/ledger.h"

namespace stoker::web {

class LiveFeed {
 public:
  struct Limits {
    size_t max_viewers = 64;
    size_t max_queue_bytes = 1 << 20;
    Millis interval{1000};
  };
  // Shared: one frame waits in the queues of many viewers.
  using Frame = std::shared_ptr<const std::string>;

  // One open stream; its connection owns it. The feed outlives it.
  class Viewer {
   public:
    ~Viewer();
    Viewer(const Viewer&) = delete;
    Viewer& operator=(const Viewer&) = delete;

    Frame Pop();                               // null where nothing waits
    bool dropped() const { return dropped_; }  // took its frames too slowly: close it
    void OnFrame(std::function<void()> wake) { wake_ = std::move(wake); }

   private:
    friend class LiveFeed;
    explicit Viewer(LiveFeed& feed) : feed_(feed) {}
    void Push(const Frame& frame);

    LiveFeed& feed_;
    std::deque<Frame> queue_;
    size_t queued_bytes_ = 0;
    bool dropped_ = false;
    std::function<void()> wake_;
  };

  LiveFeed(Limits limits, ledger::Ledger& ledger, const Clock& clock);

  // The newest frame waits for it at once, and the recent events after `after_event` (what a
  // browser that reconnects saw last). Null where there are too many viewers.
  std::unique_ptr<Viewer> Join(std::optional<int64_t> after_event);
  // Reads the ledger once; call every `interval` while there are viewers.
  void Tick();
  size_t viewers() const { return viewers_.size(); }

 private:
  void ReadNow();
  Status ReadEvents();
  void SetCursor(std::optional<int64_t> after_event);
  void SendAll(const Frame& frame);
  void SendFault(const Error& error);

  const Limits limits_;
  ledger::Ledger& ledger_;
  const Clock& clock_;
  std::vector<Viewer*> viewers_;
  Frame last_now_;
  std::optional<MonoTime> read_at_;
  std::optional<int64_t> cursor_;  // the newest event that was sent or passed over
  std::deque<std::pair<int64_t, Frame>> recent_events_;
  bool faulty_ = false;
};

}  // namespace stoker::web
