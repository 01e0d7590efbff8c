#include "vault/outbox.h"

#include <sys/random.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "vault/following.h"
#include "vault/notes.h"

namespace stoker::vault {
namespace {

using ledger::Checkpoint;
using ledger::CheckpointRole;
using ledger::CheckpointState;
using ledger::Severity;

constexpr const char* kStoreId = "store-id";
constexpr int kMaxRowPauseS = 300, kMaxStorePauseS = 30;

// 1, 2, 4, … seconds.
Millis Pause(int failures, int most_s) {
  return Millis(1000 * std::min(most_s, 1 << std::clamp(failures - 1, 0, 20)));
}

// Smaller is sent first: what a person pinned and the best, then what a run needs to go on.
int Urgency(const Checkpoint& checkpoint) {
  if (checkpoint.pinned || checkpoint.role == CheckpointRole::kBest) return 0;
  if (checkpoint.role == CheckpointRole::kFinal || checkpoint.role == CheckpointRole::kLast)
    return 1;
  return 2;
}

}  // namespace

OpenRow* Outbox::Choose(MonoTime now) {
  OpenRow* chosen = nullptr;
  const auto rank = [](const OpenRow& row) {
    return std::tuple(Urgency(row.checkpoint), row.checkpoint.seen_at, row.checkpoint.id);
  };
  for (auto& [id, row] : book_.open()) {
    if (row.checkpoint.state != CheckpointState::kWhole || row.ship_at > now) continue;
    if (chosen == nullptr || rank(row) < rank(*chosen)) chosen = &row;
  }
  return chosen;
}

std::optional<MonoTime> Outbox::NextDue() {
  std::optional<MonoTime> next;
  for (const auto& [id, row] : book_.open()) {
    if (row.checkpoint.state != CheckpointState::kWhole) continue;
    const MonoTime at = std::max(row.ship_at, pause_until_);
    next = next ? std::min(*next, at) : at;
  }
  return next;
}

Status Outbox::ShipOne() {
  const MonoTime now = clock_.Mono();
  if (now < pause_until_) return Ok();
  OpenRow* row = Choose(now);
  if (row == nullptr) return Ok();
  const Status usable = CheckStore();
  if (!usable) return StoreFailed(usable.error());

  Checkpoint shipping = row->checkpoint;
  shipping.state = CheckpointState::kShipping;
  STOKER_TRY(book_.Save(*row, shipping));
  const Shipped shipped =
      Ship(row->checkpoint.path, row->version(), row->checkpoint.sha256, store_, &cancel_);
  const Status closed = Close(*row, shipped);
  // The ledger refused: in memory the row waits again, and the copy will be found when it is
  // retried.
  OpenRow* still = book_.Find(shipping.id);
  if (!closed && still != nullptr && still->checkpoint.state == CheckpointState::kShipping) {
    still->checkpoint.state = CheckpointState::kWhole;
  }
  return closed;
}

Status Outbox::Close(OpenRow& row, const Shipped& shipped) {
  switch (shipped.end) {
    case Shipped::End::kSafe:
      STOKER_TRY(Safe(row, shipped));
      return StoreWorks();
    case Shipped::End::kGone:
    case Shipped::End::kChanged: {
      const int64_t id = row.checkpoint.id;
      const std::string path = row.checkpoint.path;
      Checkpoint again = row.checkpoint;
      again.state = CheckpointState::kSeen;  // examined anew where the same version still stands
      again.sha256.clear();
      row.look_at = row.changed_at = clock_.Mono() + Millis(20);
      // Until now it was whole: a version that replaces it supersedes it.
      row.checkpoint.state = CheckpointState::kWhole;
      STOKER_TRY(intake_.Observe(path));
      OpenRow* still = book_.Find(id);
      return still == nullptr ? Ok() : book_.Save(*still, again);
    }
    case Shipped::End::kStopped:
      return PutBack(row, shipped);
    case Shipped::End::kLocalTrouble:
      log_.Warn("vault", "{}", shipped.error.Line());
      row.ship_at = clock_.Mono() + Pause(++row.failures, kMaxRowPauseS);
      return PutBack(row, shipped);
    case Shipped::End::kStoreTrouble:
      row.ship_at = clock_.Mono() + Pause(++row.failures, kMaxRowPauseS);
      STOKER_TRY(PutBack(row, shipped));
      return StoreFailed(shipped.error);
  }
  return Ok();
}

Status Outbox::Safe(OpenRow& row, const Shipped& shipped) {
  Checkpoint safe = row.checkpoint;
  safe.state = CheckpointState::kSafe;
  safe.sha256 = shipped.sha256;
  // The run's numbers may have been read after the file was met.
  if (const ledger::Job* job = intake_.JobOf(safe.job)) {
    STOKER_TRY(JoinMetrics(ledger_, *job, row.epoch_told, safe));
  }
  return book_.Save(row, safe, [&](ledger::Writer& writer) -> Status {
    ledger::Copy copy;
    copy.checkpoint = safe.id;
    copy.store = config_.store_name;
    copy.key = ObjectKey(shipped.sha256);
    copy.verified_at = clock_.Now();
    STOKER_TRY(writer.PutCopy(copy));
    const std::string text = "is safe in " + store_.Describe() + ": " +
                             FormatBytes(static_cast<double>(safe.bytes)) +
                             (shipped.was_there ? ", there already" : "");
    STOKER_ASSIGN([[maybe_unused]] const int64_t id,
                  writer.AddEvent(CheckpointEvent(clock_.Now(), "checkpoint.safe", Severity::kInfo,
                                                  safe, text)));
    return Ok();
  });
}

Status Outbox::PutBack(OpenRow& row, const Shipped& shipped) {
  Checkpoint waiting = row.checkpoint;
  waiting.state = CheckpointState::kWhole;
  waiting.sha256 = shipped.sha256;  // hashed once is enough for this version
  if (shipped.end == Shipped::End::kLocalTrouble) waiting.reason = shipped.error.what;
  return book_.Save(row, waiting);
}

Status Outbox::CheckStore() {
  if (!cleaned_) {
    STOKER_TRY(store_.CleanLeftovers());
    cleaned_ = true;
  }
  const std::string mark = "vault.store." + config_.store_name;
  STOKER_ASSIGN(const std::optional<std::string> known, ledger_.Mark(mark));
  Result<std::string> found = blob::GetBytes(store_, kStoreId, 64);
  if (!found && found.error().code != Code::kNotFound) return found.error();
  if (known && (!found || *found != *known)) {
    return Unavailable("not the store that holds the earlier copies", store_.Describe(),
                       "is its disk mounted? A new store needs a new name in the settings");
  }
  if (known) return Ok();
  if (!found) {
    char random[16] = {};
    if (::getrandom(random, sizeof random, 0) != sizeof random) {
      return Internal("no random bytes", "getrandom");
    }
    found = HexEncode({random, sizeof random});
    STOKER_TRY(blob::PutBytes(store_, kStoreId, *found));
  }
  return ledger_.Write([&](ledger::Writer& writer) { return writer.SetMark(mark, *found); });
}

Status Outbox::StoreFailed(const Error& error) {
  pause_until_ = clock_.Mono() + Pause(++failures_, kMaxStorePauseS);
  log_.Warn("vault", "{}", error.Line());
  if (told_) return Ok();
  STOKER_TRY(AddEvent("vault.store_failed", Severity::kWarning,
                      "checkpoints wait on this machine: " + error.Line()));
  told_ = true;
  return Ok();
}

Status Outbox::StoreWorks() {
  failures_ = 0;
  pause_until_ = clock_.Mono();
  if (!told_) return Ok();
  for (auto& [id, row] : book_.open()) row.ship_at = clock_.Mono();  // no need to wait any longer
  STOKER_TRY(AddEvent("vault.store_works", Severity::kNotice,
                      "checkpoints go to " + store_.Describe() + " again"));
  told_ = false;
  return Ok();
}

Status Outbox::AddEvent(std::string kind, Severity severity, std::string text) {
  ledger::Event event;
  event.at = clock_.Now();
  event.kind = std::move(kind);
  event.severity = severity;
  event.text = std::move(text);
  return ledger_.Write([&](ledger::Writer& writer) -> Status {
    STOKER_ASSIGN([[maybe_unused]] const int64_t id, writer.AddEvent(event));
    return Ok();
  });
}

}  // namespace stoker::vault
