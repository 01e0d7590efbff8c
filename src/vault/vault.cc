#include "vault/vault.h"

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "vault/book.h"
#include "vault/intake.h"
#include "vault/notes.h"
#include "vault/outbox.h"
#include "vault/whole.h"

namespace stoker::vault {
namespace {

using ledger::Checkpoint;
using ledger::CheckpointState;

constexpr int kMaxLooks = 16;               // a Tick
constexpr int64_t kMaxLookBytes = 1 << 30;  // a Tick
constexpr Millis kFirstRetry{500}, kMaxRetry{30'000};

}  // namespace

struct Vault::State {
  State(Config config_in, ledger::Ledger& ledger_in, blob::ObjectStore& store, Logger& log_in,
        const Clock& clock_in)
      : config(std::move(config_in)),
        log(log_in),
        clock(clock_in),
        book(ledger_in, clock_in),
        intake(config, ledger_in, book, log_in, clock_in),
        outbox(config, ledger_in, store, book, intake, log_in, clock_in, cancel) {}

  Result<bool> Tick(Millis wait);
  std::optional<MonoTime> NextDue();
  Status LookAtDue();
  Status LookAt(OpenRow& row);
  Status Judge(OpenRow& row, const Verdict& verdict);
  Status Retry(OpenRow& row, const std::string& why);

  const Config config;
  Logger& log;
  const Clock& clock;
  std::atomic<bool> cancel{false};
  bool started = false;
  Book book;
  Intake intake;
  Outbox outbox;
};

Vault::Vault(Config config, ledger::Ledger& ledger, blob::ObjectStore& store, Logger& log,
             const Clock& clock)
    : state_(std::make_unique<State>(std::move(config), ledger, store, log, clock)) {}
Vault::~Vault() = default;

void Vault::Cancel() { state_->cancel = true; }

Result<bool> Vault::Tick(Millis wait) {
  Result<bool> more = state_->Tick(wait);
  // What the kernel told may have been lost on the way to the ledger.
  if (!more && state_->started) state_->intake.LookAgain();
  return more;
}

Result<bool> Vault::State::Tick(Millis wait) {
  if (!started) {
    STOKER_TRY(book.Recover());
    STOKER_TRY(intake.Start());
    started = true;
    wait = Millis(0);
  }
  const auto until = std::chrono::ceil<Millis>(
      std::min(NextDue().value_or(intake.next_due()), intake.next_due()) - clock.Mono());
  const Millis most = std::max(wait, Millis(0));
  STOKER_TRY(intake.Poll(cancel ? most : std::clamp(until, Millis(0), most)));
  if (cancel) return false;
  STOKER_TRY(intake.Refresh());
  STOKER_TRY(LookAtDue());
  STOKER_TRY(outbox.ShipOne());
  STOKER_TRY(intake.Finish());
  const std::optional<MonoTime> next = NextDue();
  return next && *next <= clock.Mono();
}

std::optional<MonoTime> Vault::State::NextDue() {
  std::optional<MonoTime> next = outbox.NextDue();
  for (const auto& [id, row] : book.open()) {
    if (row.checkpoint.state != CheckpointState::kSeen) continue;
    next = next ? std::min(*next, row.look_at) : row.look_at;
  }
  return next;
}

Status Vault::State::LookAtDue() {
  std::vector<int64_t> due;
  int64_t bytes = 0;
  for (const auto& [id, row] : book.open()) {
    if (row.checkpoint.state != CheckpointState::kSeen || row.look_at > clock.Mono()) continue;
    if (!due.empty() && (due.size() >= kMaxLooks || bytes > kMaxLookBytes)) break;
    bytes += row.checkpoint.bytes;
    due.push_back(id);
  }
  for (const int64_t id : due) {
    OpenRow* row = book.Find(id);  // an earlier look may have settled it
    if (row != nullptr) STOKER_TRY(LookAt(*row));
  }
  return Ok();
}

Status Vault::State::LookAt(OpenRow& row) {
  const int64_t id = row.checkpoint.id;
  const std::string path = row.checkpoint.path;
  const Result<Fd> fd = OpenFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!fd && fd.error().code == Code::kNotFound) return intake.Observe(path);
  if (!fd) return Retry(row, "cannot be read: " + fd.error().what);
  const Result<FileStat> stat = StatFd(*fd, path);
  if (!stat) return Retry(row, "cannot be read: " + stat.error().what);
  if (!VersionOf(*stat).Same(row.version())) {
    STOKER_TRY(intake.Observe(path));
    OpenRow* still = book.Find(id);
    if (still != nullptr && still->look_at <= clock.Mono()) return Retry(*still, "still changes");
    return Ok();
  }
  row.inode = stat->inode;
  const Result<Verdict> verdict = ExamineFd(*fd, path, &cancel);
  if (verdict) return Judge(row, *verdict);
  if (cancel) return Ok();
  return Retry(row, "cannot be read: " + verdict.error().what);
}

Status Vault::State::Judge(OpenRow& row, const Verdict& verdict) {
  if (verdict.proof == Proof::kNotWhole) return Retry(row, verdict.reason);
  Checkpoint whole = row.checkpoint;
  whole.state = CheckpointState::kWhole;
  whole.reason.clear();
  if (verdict.proof == Proof::kQuietOnly) {
    const MonoTime quiet_at = row.changed_at + config.quiet;
    if (clock.Mono() < quiet_at) {
      row.look_at = quiet_at;
      return Ok();
    }
    whole.reason = "taken as whole because nobody wrote any more: " + verdict.reason;
  }
  STOKER_TRY(book.Save(row, whole));
  row.ship_at = clock.Mono();
  return Ok();
}

Status Vault::State::Retry(OpenRow& row, const std::string& why) {
  const MonoTime now = clock.Mono();
  Checkpoint changed = row.checkpoint;
  changed.reason = why;
  if (intake.IsOver(row.checkpoint.job) && now >= row.changed_at + config.quiet) {
    changed.state = CheckpointState::kDamaged;
    return book.Save(row, changed, [&](ledger::Writer& writer) -> Status {
      STOKER_ASSIGN([[maybe_unused]] const int64_t id,
                    writer.AddEvent(CheckpointEvent(
                        clock.Now(), "checkpoint.damaged", ledger::Severity::kWarning, changed,
                        "is not whole, and its job has ended: " + why)));
      return Ok();
    });
  }
  const Millis pause = std::min(kMaxRetry, kFirstRetry * (1 << std::min(row.looks++, 10)));
  row.look_at = now + pause;
  if (intake.IsOver(row.checkpoint.job)) row.look_at = row.changed_at + config.quiet;
  if (changed.reason == row.checkpoint.reason) return Ok();
  return book.Save(row, changed);
}

}  // namespace stoker::vault
