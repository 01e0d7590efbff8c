// Batches of pixels for a trainer: decodes, augments and stacks ahead of it on threads of its own.
// What a batch holds depends on (seed, epoch, batch) alone, never on the number of threads or on
// what was cached. A photo that does not decode is left out, counted and named.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/thread.h"
#include "photo/augment.h"
#include "photo/folder.h"
#include "photo/image.h"

namespace stoker::photo {

struct LoaderOptions {
  int size = 128;      // side of the square views
  int batch = 64;      // at most; an epoch is cut into batches of nearly equal size
  bool train = false;  // shuffled and augmented; else in order, centre crops
  uint64_t seed = 0;
  int threads = 1;
  int ahead = 4;  // finished batches that may wait
  // Decoded photos (shorter side HeldSide(size)) kept for later epochs; 0 decodes anew each time.
  size_t cache_bytes = 0;
  AugmentOptions augment;
};

struct PhotoBatch {
  int index = 0;                // within the epoch
  std::vector<uint8_t> pixels;  // labels.size() x size x size x 3
  std::vector<int64_t> labels;
  std::vector<int64_t> photos;  // indices into the list that the loader was given
};

struct SkippedPhoto {
  std::string path;
  std::string reason;
};

// One trainer thread calls Start and Next; the rest is inside.
class Loader {
 public:
  Loader(std::vector<PhotoFile> photos, LoaderOptions options);
  ~Loader();

  int batches() const { return batches_; }  // per epoch
  size_t photo_count() const { return photos_.size(); }

  // Begins an epoch at a batch, ending one in progress. Epochs may be started in any order.
  void Start(int64_t epoch, int first_batch = 0) EXCLUDES(mutex_);
  // The next batch in order, possibly empty of photos; nullopt at the end of the epoch. Blocks.
  std::optional<PhotoBatch> Next() EXCLUDES(mutex_);

  // Found so far, in order of the photo list.
  std::vector<SkippedPhoto> skipped() const EXCLUDES(mutex_);
  size_t cached_bytes() const EXCLUDES(mutex_);

 private:
  struct Ticket {
    int64_t generation = 0;
    int64_t epoch = 0;
    int batch = 0;
  };
  struct Slot {  // written by whichever worker holds the ticket of the photo's batch
    std::unique_ptr<Image> held;
    bool damaged = false;
  };

  void Work() EXCLUDES(mutex_);
  std::optional<Ticket> TakeTicket() EXCLUDES(mutex_);
  void Deliver(const Ticket& ticket, PhotoBatch batch) EXCLUDES(mutex_);
  bool MayTake() const REQUIRES(mutex_);
  PhotoBatch Build(const Ticket& ticket) EXCLUDES(mutex_);
  // The decoded photo, from the cache or into `scratch`; null where it is damaged.
  const Image* Held(size_t photo, Image& scratch) EXCLUDES(mutex_);
  bool ReserveCache(size_t bytes) EXCLUDES(mutex_);

  const std::vector<PhotoFile> photos_;
  const LoaderOptions options_;
  const int batches_;
  std::vector<Slot> slots_;

  mutable Mutex mutex_;
  CondVar changed_;
  bool closing_ GUARDED_BY(mutex_) = false;
  int64_t generation_ GUARDED_BY(mutex_) = 0;
  int64_t epoch_ GUARDED_BY(mutex_) = 0;
  int next_ticket_ GUARDED_BY(mutex_);  // batches_ where there is nothing to do
  int next_out_ GUARDED_BY(mutex_);
  int working_ GUARDED_BY(mutex_) = 0;
  std::vector<std::optional<PhotoBatch>> ready_ GUARDED_BY(mutex_);  // by batch modulo `ahead`
  std::vector<size_t> order_ GUARDED_BY(mutex_);
  std::vector<std::optional<std::string>> reasons_ GUARDED_BY(mutex_);  // by photo
  size_t cached_bytes_ GUARDED_BY(mutex_) = 0;

  std::list<NamedThread> threads_;  // last: they stop before the rest goes
};

}  // namespace stoker::photo
