#include "collect/own_cost.h"

#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

namespace stoker::collect {
namespace {

// /proc counts CPU in hundredths of a second, too coarse for a share below one percent; the
// process's own clock counts nanoseconds.
std::optional<int64_t> CpuNanoseconds() {
  timespec used{};
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0) return std::nullopt;
  return static_cast<int64_t>(used.tv_sec) * 1'000'000'000 + used.tv_nsec;
}

Reading<Bytes> Resident(const std::string& statm) {
  const Result<std::string> text = ReadFile(statm, 4096);
  if (!text) return Absence::kError;
  const auto fields = Split(Trim(*text), ' ');
  const std::optional<int64_t> pages = fields.size() > 1 ? ParseInt(fields[1]) : std::nullopt;
  if (!pages || *pages < 0) return Absence::kError;
  return Bytes(static_cast<double>(*pages) * static_cast<double>(sysconf(_SC_PAGESIZE)));
}

}  // namespace

OwnCost::Answer OwnCost::Read(MonoTime now) {
  Answer answer;
  answer.memory = Resident(proc_self_ + "/statm");
  const std::optional<int64_t> used = CpuNanoseconds();
  if (!used) {
    answer.cpu_ratio = Absence::kError;
    return answer;
  }
  if (before_ && now > before_->first) {
    answer.cpu_ratio = static_cast<double>(*used - before_->second) /
                       static_cast<double>((now - before_->first).count());
  }
  before_ = {now, *used};
  return answer;
}

}  // namespace stoker::collect
