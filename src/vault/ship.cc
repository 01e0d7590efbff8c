#include "vault/ship.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "base/fd.h"
#include "base/sha256.h"
#include "vault/file_bytes.h"

namespace stoker::vault {
namespace {

using End = Shipped::End;

bool IsCancelled(const std::atomic<bool>* cancel) { return cancel != nullptr && cancel->load(); }

Result<std::string> HashFile(const FileBytes& file) {
  Sha256 hash;
  Cursor cursor(file, 0, file.size());
  while (true) {
    STOKER_ASSIGN(const std::string_view bytes, cursor.Some(Cursor::kWindow));
    if (bytes.empty()) return hash.FinishHex();
    hash.Update(bytes);
  }
}

// One file on its way; the descriptor keeps naming the same file even when another is renamed over.
class Shipment {
 public:
  Shipment(Fd fd, const std::string& path, const Version& version, blob::ObjectStore& store,
           const std::atomic<bool>* cancel)
      : fd_(std::move(fd)),
        file_(fd_, version.bytes, path, cancel),
        version_(version),
        store_(store),
        cancel_(cancel) {}

  Shipped Run(const std::string& known_sha256) {
    if (!Unchanged()) return Ended(End::kChanged);
    out_.sha256 = known_sha256;
    if (out_.sha256.empty()) {
      Result<std::string> hashed = HashFile(file_);
      if (!hashed) return ReadFailed(hashed.error());
      if (!Unchanged()) return Ended(End::kChanged);
      out_.sha256 = *std::move(hashed);
    }
    const std::string key = ObjectKey(out_.sha256);
    const auto there = store_.Head(key);
    if (!there && there.error().code != Code::kNotFound) return StoreFailed(there.error());
    if (there && there->bytes == version_.bytes) {
      const Status good = ReadBack(key);
      if (good) {
        out_.was_there = true;
        return Ended(End::kSafe);
      }
      if (good.error().code != Code::kCorrupt) return StoreFailed(good.error());
    }
    return Send(key);
  }

 private:
  Shipped Send(const std::string& key) {
    Sha256 hash;
    Cursor cursor(file_, 0, file_.size());
    std::optional<Error> read_error;
    bool done = false;
    const Status put = store_.Put(key, [&]() -> Result<std::string_view> {
      if (done) return std::string_view();
      Result<std::string_view> bytes = cursor.Some(Cursor::kWindow);
      if (!bytes) {
        read_error = bytes.error();
      } else if (!bytes->empty()) {
        hash.Update(*bytes);
      } else if (done = true; hash.FinishHex() != out_.sha256 || !Unchanged()) {
        // Before the store is told the end: an object never stands under a hash that is not its
        // own.
        read_error = Corrupt("changed while it was sent", file_.path());
      }
      if (read_error) return *read_error;
      return bytes;
    });
    if (read_error) return ReadFailed(*read_error);
    if (!put) return StoreFailed(put.error());
    const Status good = ReadBack(key);
    if (good) return Ended(End::kSafe);
    // Damaged on the way or on the far disk: out with it, or the next try would find it there.
    if (good.error().code == Code::kCorrupt) Ignore(store_.Delete(key));
    return StoreFailed(good.error());
  }

  Status ReadBack(const std::string& key) {
    STOKER_ASSIGN(const Hashed back, HashObject(store_, key, cancel_));
    if (back.sha256 == out_.sha256 && back.bytes == version_.bytes) return Ok();
    return Corrupt("the copy differs from the file", key);
  }

  bool Unchanged() const {
    const Result<FileStat> stat = StatFd(fd_, file_.path());
    return stat && stat->is_regular() && VersionOf(*stat).Same(version_);
  }

  Shipped Ended(End end) {
    out_.end = end;
    return std::move(out_);
  }
  Shipped ReadFailed(Error error) {
    if (IsCancelled(cancel_)) return Ended(End::kStopped);
    const bool changed = error.code == Code::kCorrupt;
    if (changed) out_.sha256.clear();
    out_.error = std::move(error);
    return Ended(changed ? End::kChanged : End::kLocalTrouble);
  }
  Shipped StoreFailed(Error error) {
    if (IsCancelled(cancel_)) return Ended(End::kStopped);
    out_.error = std::move(error);
    return Ended(End::kStoreTrouble);
  }

  const Fd fd_;
  const FileBytes file_;
  const Version version_;
  blob::ObjectStore& store_;
  const std::atomic<bool>* const cancel_;
  Shipped out_;
};

}  // namespace

Result<std::optional<Version>> VersionAt(const std::string& path) {
  struct stat s {};
  if (::lstat(path.c_str(), &s) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::optional<Version>();
    return FromErrno(errno, "look at the file", path);
  }
  if (!S_ISREG(s.st_mode)) return std::optional<Version>();
  const int64_t mtime_ns =
      static_cast<int64_t>(s.st_mtim.tv_sec) * 1'000'000'000 + s.st_mtim.tv_nsec;
  return std::optional(Version{s.st_size, mtime_ns, s.st_ino});
}

std::string ObjectKey(const std::string& sha256) {
  return "sha256/" + sha256.substr(0, 2) + "/" + sha256;
}

Result<Hashed> HashObject(blob::ObjectStore& store, const std::string& key,
                          const std::atomic<bool>* cancel) {
  Sha256 hash;
  Hashed out;
  STOKER_TRY(store.Get(key, [&](std::string_view bytes) -> Status {
    if (IsCancelled(cancel)) return Unavailable("stopped", key);
    hash.Update(bytes);
    out.bytes += static_cast<int64_t>(bytes.size());
    return Ok();
  }));
  out.sha256 = hash.FinishHex();
  return out;
}

Shipped Ship(const std::string& path, const Version& version, const std::string& known_sha256,
             blob::ObjectStore& store, const std::atomic<bool>* cancel) {
  Shipped out;
  Result<Fd> fd = OpenFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!fd) {
    out.end = fd.error().code == Code::kNotFound ? End::kGone : End::kLocalTrouble;
    out.error = fd.error();
    return out;
  }
  return Shipment(*std::move(fd), path, version, store, cancel).Run(known_sha256);
}

}  // namespace stoker::vault
