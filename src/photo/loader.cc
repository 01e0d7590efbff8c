#include "photo/loader.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "photo/jpeg.h"
#include "photo/random.h"

namespace stoker::photo {
namespace {

// Streams of random numbers that must not meet: the order of an epoch, and the views of its photos.
constexpr uint64_t kOrderIndex = ~uint64_t{0};

int BatchCount(size_t photos, int batch) {
  if (photos == 0) return 0;
  return static_cast<int>((photos + static_cast<size_t>(batch) - 1) / static_cast<size_t>(batch));
}

}  // namespace

Loader::Loader(std::vector<PhotoFile> photos, LoaderOptions options)
    : photos_(std::move(photos)),
      options_(options),
      batches_(BatchCount(photos_.size(), std::max(1, options.batch))),
      slots_(photos_.size()),
      next_ticket_(batches_),
      next_out_(batches_),
      ready_(static_cast<size_t>(std::max(1, options.ahead))),
      order_(photos_.size()),
      reasons_(photos_.size()) {
  for (int i = 0; i < std::max(1, options_.threads); ++i) {
    threads_.emplace_back("photo-" + std::to_string(i), [this](StopSignal&) { Work(); });
  }
}

Loader::~Loader() {
  {
    MutexLock lock(mutex_);
    closing_ = true;
  }
  changed_.NotifyAll();
  threads_.clear();
}

void Loader::Start(int64_t epoch, int first_batch) {
  MutexLock lock(mutex_);
  ++generation_;
  next_ticket_ = batches_;
  // Two epochs at once would share the photos' slots.
  while (working_ > 0) changed_.Wait(mutex_);
  std::iota(order_.begin(), order_.end(), size_t{0});
  if (options_.train) {
    Random(options_.seed, static_cast<uint64_t>(epoch), kOrderIndex).Shuffle(order_);
  }
  for (auto& batch : ready_) batch.reset();
  epoch_ = epoch;
  next_ticket_ = next_out_ = std::clamp(first_batch, 0, batches_);
  changed_.NotifyAll();
}

std::optional<PhotoBatch> Loader::Next() {
  MutexLock lock(mutex_);
  if (next_out_ >= batches_) return std::nullopt;
  auto& slot = ready_[static_cast<size_t>(next_out_) % ready_.size()];
  while (!slot) changed_.Wait(mutex_);
  PhotoBatch batch = std::move(*slot);
  slot.reset();
  ++next_out_;
  changed_.NotifyAll();
  return batch;
}

bool Loader::MayTake() const {
  return next_ticket_ < batches_ && next_ticket_ < next_out_ + static_cast<int>(ready_.size());
}

std::optional<Loader::Ticket> Loader::TakeTicket() {
  MutexLock lock(mutex_);
  while (!closing_ && !MayTake()) changed_.Wait(mutex_);
  if (closing_) return std::nullopt;
  ++working_;
  return Ticket{generation_, epoch_, next_ticket_++};
}

void Loader::Deliver(const Ticket& ticket, PhotoBatch batch) {
  MutexLock lock(mutex_);
  --working_;
  if (ticket.generation == generation_) {
    ready_[static_cast<size_t>(ticket.batch) % ready_.size()] = std::move(batch);
  }
  changed_.NotifyAll();
}

void Loader::Work() {
  while (const auto ticket = TakeTicket()) Deliver(*ticket, Build(*ticket));
}

PhotoBatch Loader::Build(const Ticket& ticket) {
  const auto n = static_cast<int64_t>(photos_.size());
  const int64_t begin = ticket.batch * n / batches_;
  const int64_t end = (ticket.batch + 1) * n / batches_;
  std::vector<size_t> chosen;
  {
    MutexLock lock(mutex_);
    chosen.assign(order_.begin() + begin, order_.begin() + end);
  }
  const size_t view_bytes = static_cast<size_t>(options_.size) * options_.size * 3;
  PhotoBatch batch{.index = ticket.batch};
  batch.pixels.resize(chosen.size() * view_bytes);
  uint8_t* out = batch.pixels.data();
  Image scratch;
  for (const size_t photo : chosen) {
    const Image* image = Held(photo, scratch);
    if (!image) continue;
    if (options_.train) {
      Random random(options_.seed, static_cast<uint64_t>(ticket.epoch), photo);
      TrainView(*image, options_.size, options_.augment, random, out);
    } else {
      JudgeView(*image, options_.size, out);
    }
    out += view_bytes;
    batch.labels.push_back(photos_[photo].label);
    batch.photos.push_back(static_cast<int64_t>(photo));
  }
  batch.pixels.resize(batch.labels.size() * view_bytes);
  return batch;
}

const Image* Loader::Held(size_t photo, Image& scratch) {
  Slot& slot = slots_[photo];
  if (slot.held) return slot.held.get();
  if (slot.damaged) return nullptr;
  const int side = HeldSide(options_.size);
  auto decoded = DecodeJpegFile(photos_[photo].path, {.shorter_side = side});
  if (!decoded) {
    slot.damaged = true;
    MutexLock lock(mutex_);
    reasons_[photo] = decoded.error().what;
    return nullptr;
  }
  scratch = FitShorterSide(*decoded, side);
  if (!ReserveCache(scratch.bytes())) return &scratch;
  slot.held = std::make_unique<Image>(std::move(scratch));
  return slot.held.get();
}

bool Loader::ReserveCache(size_t bytes) {
  MutexLock lock(mutex_);
  if (cached_bytes_ + bytes > options_.cache_bytes) return false;
  cached_bytes_ += bytes;
  return true;
}

std::vector<SkippedPhoto> Loader::skipped() const {
  MutexLock lock(mutex_);
  std::vector<SkippedPhoto> found;
  for (size_t i = 0; i < reasons_.size(); ++i) {
    if (reasons_[i]) found.push_back({photos_[i].path, *reasons_[i]});
  }
  return found;
}

size_t Loader::cached_bytes() const {
  MutexLock lock(mutex_);
  return cached_bytes_;
}

}  // namespace stoker::photo
