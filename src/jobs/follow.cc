#include <fmt/core.h>

#include <array>

#include "base/file.h"
#include "jobs/folder_watch.h"
#include "jobs/launch.h"
#include "jobs/output_reader.h"

namespace stoker::jobs {
namespace {

constexpr Millis kLook{200};  // how often `stop` is asked where nothing happens

// Turns records into what the job would have put on a terminal.
class Printer {
 public:
  explicit Printer(const OutputSink& out) : out_(out) {}

  void Record(const OutputRecord& record) {
    if (record.code == kSaidCode || record.code == kCutCode) {
      std::string_view text = record.text;
      while (record.code == kCutCode && text.starts_with('0')) text.remove_prefix(1);
      out_(fmt::format("stoker: {}\n", text), true);
      return;
    }
    std::string text = Over(record.is_stderr(), record.text);
    if (record.ends_line()) text.push_back('\n');
    shown_[record.is_stderr()].clear();
    out_(text, record.is_stderr());
  }

  void Unfinished(const OutputReader::Unfinished& line) {
    if (shown_[line.is_stderr] == line.text) return;
    out_(Over(line.is_stderr, line.text), line.is_stderr);
    shown_[line.is_stderr] = line.text;
  }

 private:
  // What brings the line from what is shown to `text`: the rest of it, or the whole of it again.
  std::string Over(bool is_stderr, std::string_view text) const {
    const std::string& shown = shown_[is_stderr];
    if (text.starts_with(shown)) return std::string(text.substr(shown.size()));
    std::string out = "\r" + std::string(text);
    if (shown.size() > text.size()) out.append(shown.size() - text.size(), ' ');
    return out;
  }

  const OutputSink& out_;
  std::array<std::string, 2> shown_;
};

// The end, if there is one to tell. A lost job is looked for only when told to: that reads /proc.
Result<std::optional<JobEnd>> LookForEnd(const std::string& folder, const Clock& clock) {
  auto end = ReadEnd(folder);
  if (end) return std::optional(*std::move(end));
  if (end.error().code != Code::kNotFound) return end.error();
  return FindLostEnd(folder, clock.Now());
}

Result<JobEnd> Await(const std::string& folder, const std::function<Status()>& look,
                     const std::function<bool()>& stop) {
  const SystemClock clock;
  FolderWatch watch(folder);
  while (true) {
    STOKER_ASSIGN(const auto end, LookForEnd(folder, clock));
    // After the end was seen: all that was printed before it is in the file by now.
    STOKER_TRY(look());
    if (end) return *end;
    // FindLostEnd gives nothing also where the end came while it looked.
    if (stop()) return JobEnd{ledger::JobState::kRunning, {}, {}, clock.Now(), ""};
    STOKER_TRY(watch.Wait(kLook));
  }
}

}  // namespace

Result<JobEnd> Follow(const std::string& folder, const OutputSink& out,
                      const std::function<bool()>& stop, int64_t* position) {
  if (!FileExists(folder)) return NotFound("no such job", folder);
  OutputReader reader(folder, position == nullptr ? 0 : *position);
  Printer printer(out);
  auto end = Await(
      folder,
      [&]() -> Status {
        STOKER_TRY(reader.Read([&](const OutputRecord& record) { printer.Record(record); }));
        for (const auto& line : reader.Progress()) printer.Unfinished(line);
        return Ok();
      },
      stop);
  if (position != nullptr) *position = reader.position();
  return end;
}

Status PrintOutput(const std::string& folder, const OutputSink& out) {
  if (!FileExists(folder)) return NotFound("no such job", folder);
  OutputReader reader(folder);
  Printer printer(out);
  STOKER_TRY(reader.Read([&](const OutputRecord& record) { printer.Record(record); }));
  for (const auto& line : reader.Progress()) printer.Unfinished(line);
  return Ok();
}

Result<JobEnd> WaitForEnd(const std::string& folder, Millis limit) {
  if (!FileExists(folder)) return NotFound("no such job", folder);
  const SystemClock clock;
  const MonoTime until = clock.Mono() + limit;
  STOKER_ASSIGN(JobEnd end,
                Await(
                    folder, [] { return Ok(); }, [&] { return clock.Mono() >= until; }));
  if (end.state == ledger::JobState::kRunning) return Timeout("the job still runs", folder);
  return end;
}

}  // namespace stoker::jobs
