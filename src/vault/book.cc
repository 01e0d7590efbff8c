#include "vault/book.h"

#include <algorithm>
#include <utility>

namespace stoker::vault {

using ledger::Checkpoint;
using ledger::CheckpointState;

bool IsOpen(CheckpointState state) {
  return state == CheckpointState::kSeen || state == CheckpointState::kWhole ||
         state == CheckpointState::kShipping;
}

Status Book::Recover() {
  open_.clear();
  latest_.clear();
  STOKER_ASSIGN(std::vector<Checkpoint> rows, ledger_.Checkpoints(std::nullopt));
  std::erase_if(rows, [](const Checkpoint& row) { return !IsOpen(row.state); });
  std::vector<Checkpoint*> interrupted;
  for (Checkpoint& row : rows) {
    if (row.state != CheckpointState::kShipping) continue;
    row.state = CheckpointState::kWhole;
    interrupted.push_back(&row);
  }
  if (!interrupted.empty()) {
    STOKER_TRY(ledger_.Write([&](ledger::Writer& writer) -> Status {
      for (const Checkpoint* row : interrupted) {
        STOKER_ASSIGN([[maybe_unused]] const int64_t id, writer.PutCheckpoint(*row));
      }
      return Ok();
    }));
  }
  const MonoTime now = clock_.Mono();
  std::sort(rows.begin(), rows.end(),
            [](const Checkpoint& a, const Checkpoint& b) { return a.id < b.id; });
  for (Checkpoint& row : rows) {
    latest_[row.path] = {row.id, row.job, {row.bytes, row.mtime_ns, 0}};
    OpenRow open;
    open.changed_at = open.look_at = open.ship_at = now;
    open.epoch_told = row.epoch.has_value();
    open.checkpoint = std::move(row);
    open_.emplace(open.checkpoint.id, std::move(open));
  }
  return Ok();
}

Status Book::LoadJob(int64_t job) {
  STOKER_ASSIGN(const std::vector<Checkpoint> rows, ledger_.Checkpoints(job));
  for (const Checkpoint& row : rows) {
    Latest& latest = latest_[row.path];
    if (row.id > latest.id) latest = {row.id, row.job, {row.bytes, row.mtime_ns, 0}};
  }
  return Ok();
}

void Book::DropJob(int64_t job) {
  std::erase_if(latest_, [&](const auto& entry) {
    return entry.second.job == job && open_.count(entry.second.id) == 0;
  });
}

Book::Latest* Book::LatestOf(const std::string& path) {
  const auto found = latest_.find(path);
  return found == latest_.end() ? nullptr : &found->second;
}

bool Book::IsElsewhere(const std::string& path, const Version& version) const {
  return version.inode != 0 && std::any_of(latest_.begin(), latest_.end(), [&](const auto& entry) {
           return entry.first != path && entry.second.version.inode == version.inode &&
                  entry.second.version.Same(version);
         });
}

OpenRow* Book::Find(int64_t id) {
  const auto found = open_.find(id);
  return found == open_.end() ? nullptr : &found->second;
}

OpenRow* Book::OpenAt(const std::string& path) {
  Latest* latest = LatestOf(path);
  return latest == nullptr ? nullptr : Find(latest->id);
}

bool Book::HasUnexamined(int64_t job) const {
  return std::any_of(open_.begin(), open_.end(), [&](const auto& entry) {
    return entry.second.checkpoint.job == job &&
           entry.second.checkpoint.state == CheckpointState::kSeen;
  });
}

Result<OpenRow*> Book::Put(Checkpoint checkpoint, const Version& version) {
  checkpoint.bytes = version.bytes;
  checkpoint.mtime_ns = version.mtime_ns;
  checkpoint.state = CheckpointState::kSeen;
  checkpoint.seen_at = clock_.Now();
  OpenRow* const old = OpenAt(checkpoint.path);
  const bool renew = old != nullptr && old->checkpoint.state == CheckpointState::kSeen &&
                     old->checkpoint.job == checkpoint.job;
  if (renew) {
    STOKER_ASSIGN(const Checkpoint current, ledger_.CheckpointById(old->checkpoint.id));
    checkpoint.id = current.id;
    checkpoint.pinned = current.pinned;
  }
  int64_t id = 0;
  STOKER_TRY(ledger_.Write([&](ledger::Writer& writer) -> Status {
    if (old != nullptr && !renew) {
      Checkpoint superseded = old->checkpoint;
      superseded.state = CheckpointState::kSuperseded;
      superseded.reason = "written again before it was sent";
      STOKER_ASSIGN([[maybe_unused]] const int64_t old_id, writer.PutCheckpoint(superseded));
    }
    STOKER_ASSIGN(id, writer.PutCheckpoint(checkpoint));
    return Ok();
  }));
  if (old != nullptr && !renew) Settle(old->checkpoint.id);
  checkpoint.id = id;
  latest_[checkpoint.path] = {id, checkpoint.job, version};
  OpenRow& row = open_[id];
  row = OpenRow();
  row.checkpoint = std::move(checkpoint);
  row.inode = version.inode;
  row.changed_at = row.look_at = row.ship_at = clock_.Mono();
  return &row;
}

Status Book::Save(OpenRow& row, Checkpoint changed,
                  const std::function<Status(ledger::Writer&)>& also) {
  // A person may have pinned the row meanwhile: that word is not ours to overwrite.
  STOKER_ASSIGN(const Checkpoint current, ledger_.CheckpointById(row.checkpoint.id));
  changed.pinned = current.pinned;
  STOKER_TRY(ledger_.Write([&](ledger::Writer& writer) -> Status {
    STOKER_ASSIGN([[maybe_unused]] const int64_t id, writer.PutCheckpoint(changed));
    return also ? also(writer) : Ok();
  }));
  const bool settled = !IsOpen(changed.state);
  row.checkpoint = std::move(changed);
  if (settled) Settle(row.checkpoint.id);
  return Ok();
}

Status Book::Correct(const Checkpoint& changed, bool epoch_told) {
  STOKER_TRY(ledger_.Write([&](ledger::Writer& writer) -> Status {
    STOKER_ASSIGN([[maybe_unused]] const int64_t id, writer.PutCheckpoint(changed));
    return Ok();
  }));
  Latest* latest = LatestOf(changed.path);
  if (latest != nullptr && latest->id == changed.id) latest->job = changed.job;
  if (OpenRow* row = Find(changed.id)) {
    row->checkpoint = changed;
    row->epoch_told |= epoch_told;
  }
  return Ok();
}

void Book::Settle(int64_t id) { open_.erase(id); }

}  // namespace stoker::vault
