#include "vault/restore.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include "base/durable_file.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "vault/ship.h"

namespace stoker::vault {
namespace {

using ledger::Checkpoint;
using ledger::CheckpointRole;
using ledger::CheckpointState;

constexpr std::string_view kForms = "write JOB@best, JOB@last, JOB@epoch=N or JOB@id=N";

std::optional<std::string_view> After(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  return text.substr(prefix.size());
}

const Checkpoint* NewestOf(const std::vector<Checkpoint>& rows, CheckpointRole role) {
  const Checkpoint* newest = nullptr;
  for (const Checkpoint& row : rows) {
    if (row.role == role && (newest == nullptr || row.id > newest->id)) newest = &row;
  }
  return newest;
}

const Checkpoint* ByMetric(const std::vector<Checkpoint>& rows) {
  const Checkpoint* best = nullptr;
  for (const Checkpoint& row : rows) {
    if (!row.metric || std::isnan(row.metric->value)) continue;
    const double sign = row.metric->higher_is_better ? 1 : -1;
    if (best == nullptr || sign * row.metric->value >= sign * best->metric->value) best = &row;
  }
  return best;
}

// `rows` are those with a verified copy, oldest first.
const Checkpoint* Choose(const std::vector<Checkpoint>& rows, const std::string& which) {
  if (rows.empty()) return nullptr;
  if (which == "best") {
    const Checkpoint* named = NewestOf(rows, CheckpointRole::kBest);
    return named != nullptr ? named : ByMetric(rows);
  }
  if (which == "last") {
    // A final file is written after the last one.
    for (const CheckpointRole role : {CheckpointRole::kFinal, CheckpointRole::kLast}) {
      if (const Checkpoint* found = NewestOf(rows, role)) return found;
    }
    return &rows.back();
  }
  // Of several files of one epoch, the one that was kept for the sake of that epoch.
  const Checkpoint* found = nullptr;
  const auto epoch = After(which, "epoch=");
  const auto id = After(which, "id=");
  for (const Checkpoint& row : rows) {
    const bool fits =
        (epoch && row.epoch && row.epoch == ParseDouble(*epoch)) || (id && row.id == ParseInt(*id));
    if (!fits) continue;
    const bool kept = row.role == CheckpointRole::kPeriodic;
    if (found == nullptr || kept || found->role != CheckpointRole::kPeriodic) found = &row;
  }
  return found;
}

struct Source {
  Checkpoint checkpoint;
  ledger::Copy copy;
};

Result<Source> FindSource(ledger::Ledger& ledger, const Wanted& wanted) {
  STOKER_TRY(ledger.JobById(wanted.job));
  STOKER_ASSIGN(std::vector<Checkpoint> rows, ledger.Checkpoints(wanted.job));
  const size_t all = rows.size();
  std::erase_if(rows, [](const Checkpoint& row) { return row.state != CheckpointState::kSafe; });
  std::sort(rows.begin(), rows.end(),
            [](const Checkpoint& a, const Checkpoint& b) { return a.id < b.id; });
  const Checkpoint* chosen = Choose(rows, wanted.which);
  if (chosen == nullptr) {
    return NotFound(fmt::format("job {} has no safe checkpoint {} ({} of {} are safe)", wanted.job,
                                wanted.which, rows.size(), all),
                    "restore", fmt::format("see: stoker checkpoints {}", wanted.job));
  }
  STOKER_ASSIGN(const std::vector<ledger::Copy> copies, ledger.Copies(chosen->id));
  const auto verified = std::find_if(copies.begin(), copies.end(), [](const ledger::Copy& c) {
    return c.verified_at.has_value();
  });
  if (verified == copies.end()) {
    return NotFound("no verified copy on record", chosen->path);
  }
  return Source{*chosen, *verified};
}

// Renames without replacing. Where the file system cannot do that in one step, a link can.
Status MoveNew(const std::string& from, const std::string& to) {
  const Error exists =
      Invalid("exists already", to, "restore with --force to replace it, or to another name");
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return Ok();
  if (errno == EEXIST) return exists;
  if (errno != EINVAL && errno != ENOSYS) return FromErrno(errno, "rename to " + to, from);
  if (::link(from.c_str(), to.c_str()) == 0) return RemoveFile(from);
  if (errno == EEXIST || FileExists(to)) return exists;
  return RenameFile(from, to);
}

Status Fetch(blob::ObjectStore& store, const Source& source, const Fd& fd,
             const std::string& path) {
  Sha256 hash;
  int64_t bytes = 0;
  STOKER_TRY(store.Get(source.copy.key, [&](std::string_view piece) -> Status {
    hash.Update(piece);
    bytes += static_cast<int64_t>(piece.size());
    return WriteAll(fd, piece, path);
  }));
  if (bytes != source.checkpoint.bytes || hash.FinishHex() != source.checkpoint.sha256) {
    return Corrupt("the copy is damaged: its hash differs from the one on record",
                   store.Describe() + "/" + source.copy.key,
                   "nothing was restored; see which copies are good with: stoker vault verify");
  }
  return Ok();
}

Result<std::string> TargetPath(const std::string& dest, const std::string& name) {
  if (dest.empty()) return Invalid("say where to restore to", "restore");
  if (dest.back() == '/') STOKER_TRY(MakeDirs(dest.substr(0, dest.size() - 1)));
  const Result<FileStat> stat = StatFile(dest);
  if (stat && stat->is_directory()) return JoinPath(dest, name);
  const std::string folder = DirName(dest);
  if (!FileExists(folder)) return NotFound("no such folder", folder);
  return dest;
}

}  // namespace

Result<Wanted> ParseWanted(std::string_view text) {
  const auto bad = [&](std::string what) {
    return Invalid(std::move(what), Printable(text), std::string(kForms));
  };
  const size_t at = text.find('@');
  if (at == std::string_view::npos) return bad("which checkpoint?");
  const std::optional<int64_t> job = ParseInt(text.substr(0, at));
  if (!job || *job <= 0) return bad("a job's number stands before the @");
  const std::string_view which = text.substr(at + 1);
  const auto epoch = After(which, "epoch=");
  const auto id = After(which, "id=");
  const bool good = which == "best" || which == "last" ||
                    (epoch && ParseDouble(*epoch).has_value()) || (id && ParseInt(*id).has_value());
  if (!good) return bad("no such choice of checkpoint");
  return Wanted{*job, std::string(which)};
}

Result<Restored> Restore(ledger::Ledger& ledger, blob::ObjectStore& store, const Wanted& wanted,
                         const std::string& dest, bool force) {
  STOKER_ASSIGN(const Source source, FindSource(ledger, wanted));
  STOKER_ASSIGN(const std::string path, TargetPath(dest, BaseName(source.checkpoint.path)));
  if (!force && FileExists(path)) {
    return Invalid("exists already", path,
                   "restore with --force to replace it, or to another name");
  }
  STOKER_ASSIGN(const int64_t room, FreeBytes(DirName(path)));
  if (room < source.checkpoint.bytes) {
    return Unavailable(fmt::format("not enough room for {}",
                                   FormatBytes(static_cast<double>(source.checkpoint.bytes))),
                       DirName(path));
  }
  const auto fill = [&](const Fd& fd) { return Fetch(store, source, fd, path); };
  if (force) {
    STOKER_TRY(WriteDurably(path, fill));
  } else {
    // Named like a partial file, so that nobody takes it for a checkpoint.
    const std::string beside =
        JoinPath(DirName(path), fmt::format(".{}.{}.restored.partial", BaseName(path), ::getpid()));
    STOKER_TRY(WriteDurably(beside, fill));
    const Status moved = MoveNew(beside, path);
    if (!moved) {
      Ignore(RemoveFile(beside));
      return moved.error();
    }
    STOKER_TRY(SyncDir(DirName(path)));
  }
  return Restored{source.checkpoint, path};
}

}  // namespace stoker::vault
