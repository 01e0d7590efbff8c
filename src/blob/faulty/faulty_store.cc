#include "blob/faulty/faulty_store.h"

#include <utility>

namespace stoker::blob {
namespace {

std::string FlipFirstBit(std::string_view bytes) {
  std::string out(bytes);
  if (!out.empty()) out[0] = static_cast<char>(out[0] ^ 1);
  return out;
}

}  // namespace

void FaultyStore::SetDown(std::optional<Error> error) {
  MutexLock lock(mutex_);
  down_ = std::move(error);
}
void FaultyStore::CutPuts(int times, int64_t bytes, Error error) {
  MutexLock lock(mutex_);
  next_.cuts = times;
  next_.cut_after = bytes;
  next_.cut_error = std::move(error);
}
void FaultyStore::LoseNextAnswer(Error error) {
  MutexLock lock(mutex_);
  next_.lost_answer = std::move(error);
}
void FaultyStore::CorruptNextPut() {
  MutexLock lock(mutex_);
  next_.corrupt_put = true;
}
void FaultyStore::CorruptNextGet() {
  MutexLock lock(mutex_);
  next_.corrupt_get = true;
}
void FaultyStore::OnPutPiece(std::function<void(int64_t)> hook) {
  MutexLock lock(mutex_);
  hook_ = std::move(hook);
}
int FaultyStore::puts() const {
  MutexLock lock(mutex_);
  return puts_;
}
int FaultyStore::gets() const {
  MutexLock lock(mutex_);
  return gets_;
}

Status FaultyStore::CheckUp() const {
  MutexLock lock(mutex_);
  return down_ ? Status(*down_) : Ok();
}

Status FaultyStore::Put(const std::string& key, const Source& source) {
  STOKER_TRY(CheckUp());
  Plan plan;
  std::function<void(int64_t)> hook;
  {
    MutexLock lock(mutex_);
    ++puts_;
    plan.cuts = next_.cuts;
    if (next_.cuts > 0) --next_.cuts;
    plan.cut_after = next_.cut_after;
    plan.cut_error = next_.cut_error;
    plan.lost_answer = std::exchange(next_.lost_answer, std::nullopt);
    plan.corrupt_put = std::exchange(next_.corrupt_put, false);
    hook = hook_;
  }
  int64_t taken = 0;
  std::string flipped;
  STOKER_TRY(inner_.Put(key, [&]() -> Result<std::string_view> {
    if (hook) hook(taken);
    if (plan.cuts > 0 && taken >= plan.cut_after) return *plan.cut_error;
    STOKER_ASSIGN(const std::string_view bytes, source());
    const bool first = taken == 0;
    taken += static_cast<int64_t>(bytes.size());
    if (!plan.corrupt_put || !first) return bytes;
    flipped = FlipFirstBit(bytes);
    return std::string_view(flipped);
  }));
  return plan.lost_answer ? Status(*plan.lost_answer) : Ok();
}

Status FaultyStore::Get(const std::string& key, const Sink& sink) {
  STOKER_TRY(CheckUp());
  bool corrupt = false;
  {
    MutexLock lock(mutex_);
    ++gets_;
    corrupt = std::exchange(next_.corrupt_get, false);
  }
  return inner_.Get(key, [&](std::string_view bytes) {
    return std::exchange(corrupt, false) ? sink(FlipFirstBit(bytes)) : sink(bytes);
  });
}

Result<ObjectInfo> FaultyStore::Head(const std::string& key) {
  STOKER_TRY(CheckUp());
  return inner_.Head(key);
}
Result<std::vector<ObjectInfo>> FaultyStore::List(const std::string& prefix) {
  STOKER_TRY(CheckUp());
  return inner_.List(prefix);
}
Status FaultyStore::Delete(const std::string& key) {
  STOKER_TRY(CheckUp());
  return inner_.Delete(key);
}
Status FaultyStore::CleanLeftovers() {
  STOKER_TRY(CheckUp());
  return inner_.CleanLeftovers();
}

}  // namespace stoker::blob
