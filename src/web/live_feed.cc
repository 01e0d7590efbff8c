#include "web/live_feed.h"

#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>

#include "query/query.h"
#include "report/json.h"
#include "web/http.h"

namespace stoker::web {
namespace {

constexpr size_t kKeptEvents = 64;
constexpr int kMaxEventsATick = 100;

LiveFeed::Frame MakeFrame(std::string_view head, const std::string& data) {
  return std::make_shared<const std::string>(fmt::format("{}data: {}\n\n", head, data));
}

}  // namespace

LiveFeed::Viewer::~Viewer() { std::erase(feed_.viewers_, this); }

LiveFeed::Frame LiveFeed::Viewer::Pop() {
  if (queue_.empty()) return nullptr;
  Frame frame = std::move(queue_.front());
  queue_.pop_front();
  queued_bytes_ -= frame->size();
  return frame;
}

void LiveFeed::Viewer::Push(const Frame& frame) {
  if (dropped_) return;
  // A single frame always fits, so that a large box is still seen.
  if (!queue_.empty() && queued_bytes_ + frame->size() > feed_.limits_.max_queue_bytes) {
    dropped_ = true;
    queue_.clear();
    queued_bytes_ = 0;
  } else {
    queue_.push_back(frame);
    queued_bytes_ += frame->size();
  }
  if (wake_) wake_();
}

LiveFeed::LiveFeed(Limits limits, ledger::Ledger& ledger, const Clock& clock)
    : limits_(limits), ledger_(ledger), clock_(clock) {}

std::unique_ptr<LiveFeed::Viewer> LiveFeed::Join(std::optional<int64_t> after_event) {
  if (viewers_.size() >= limits_.max_viewers) return nullptr;
  const bool first = viewers_.empty();
  std::unique_ptr<Viewer> viewer(new Viewer(*this));
  viewers_.push_back(viewer.get());
  if (first) {
    recent_events_.clear();
    SetCursor(after_event);
  } else if (after_event) {
    for (const auto& [id, frame] : recent_events_) {
      if (id > *after_event) viewer->Push(frame);
    }
  }
  // Reconnecting often must not read the ledger more often than the clock does.
  if (!read_at_ || clock_.Mono() - *read_at_ >= limits_.interval) {
    Tick();
  } else if (last_now_) {
    viewer->Push(last_now_);
  }
  return viewer;
}

void LiveFeed::SetCursor(std::optional<int64_t> after_event) {
  // Nobody watched for a while: start at the newest event, or where the viewer left off.
  cursor_ = after_event;
  const auto newest = ledger_.Events({.limit = 1});
  if (!newest) return;
  const int64_t last = newest->empty() ? 0 : newest->back().id;
  cursor_ = std::min(after_event.value_or(last), last);
}

void LiveFeed::SendAll(const Frame& frame) {
  for (Viewer* viewer : viewers_) viewer->Push(frame);
}

void LiveFeed::SendFault(const Error& error) {
  SendAll(faulty_ ? std::make_shared<const std::string>(": waiting\n\n")
                  : MakeFrame("event: fault\n", ErrorBody(error)));
  faulty_ = true;
  last_now_ = nullptr;
}

Status LiveFeed::ReadEvents() {
  if (!cursor_) SetCursor(std::nullopt);
  STOKER_ASSIGN(const auto events,
                ledger_.Events({.after_id = cursor_.value_or(0), .limit = kMaxEventsATick}));
  for (const ledger::Event& event : events) {
    const Frame frame = MakeFrame(fmt::format("id: {}\nevent: event\n", event.id),
                                  DumpJson(report::EventsJson({event})));
    cursor_ = std::max(cursor_.value_or(0), event.id);
    recent_events_.emplace_back(event.id, frame);
    if (recent_events_.size() > kKeptEvents) recent_events_.pop_front();
    SendAll(frame);
  }
  return Ok();
}

void LiveFeed::ReadNow() {
  Result<query::Now> now = query::GetNow(ledger_, clock_);
  Status events = now ? ReadEvents() : Status(now.error());
  if (!events) return SendFault(events.error());
  faulty_ = false;
  last_now_ = MakeFrame("event: now\n", DumpJson(report::NowJson(*now)));
  SendAll(last_now_);
}

void LiveFeed::Tick() {
  read_at_ = clock_.Mono();
  // As in Dispatch(): what a library throws costs one tick.
  try {
    ReadNow();
  } catch (const std::exception& e) {
    SendFault(Internal(e.what(), "live"));
  }
}

}  // namespace stoker::web
