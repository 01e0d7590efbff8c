// Stores the energy of ended jobs. Called twice a second, so a call with nothing to do reads a few
// rows and writes nothing: a mark keeps the ids that still wait, with when to look at each again.
#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "base/text.h"
#include "query/measure.h"
#include "query/query.h"

namespace stoker::query {
namespace {

using ledger::Job;

constexpr const char* kMark = "query.unsettled";
// A job that has ended without a reading is looked at again after these: its samples may be on
// their way (an import, a collector that catches up). Then it stays without.
constexpr std::array kRetries = {Millis(2'000), Millis(10'000), Millis(60'000), Millis(600'000)};

struct Waiting {
  size_t tries = 0;
  int64_t due_ms = 0;
};

// "next_id id:tries:due_ms id:tries:due_ms …"
struct Book {
  int64_t next_id = 0;  // jobs from here on have not been seen yet
  std::map<int64_t, Waiting> waiting;
};

Book ParseBook(const std::string& text) {
  Book book;
  const std::vector<std::string_view> words = Split(text, ' ');
  const auto next_id = ParseInt(words[0]);
  if (!next_id) return book;
  for (size_t i = 1; i < words.size(); ++i) {
    const std::vector<std::string_view> parts = Split(words[i], ':');
    const auto id = ParseInt(parts[0]);
    const auto tries = parts.size() == 3 ? ParseInt(parts[1]) : std::nullopt;
    const auto due = parts.size() == 3 ? ParseInt(parts[2]) : std::nullopt;
    if (!id || !tries || *tries < 0 || !due) return Book{};
    book.waiting[*id] = {static_cast<size_t>(*tries), *due};
  }
  book.next_id = *next_id;
  return book;
}

std::string FormatBook(const Book& book) {
  std::string text = std::to_string(book.next_id);
  for (const auto& [id, w] : book.waiting) {
    text +=
        " " + std::to_string(id) + ":" + std::to_string(w.tries) + ":" + std::to_string(w.due_ms);
  }
  return text;
}

// Adds the jobs that came since the last call; newest first, so a few rows are enough as a rule.
Status AddNewJobs(ledger::Ledger& ledger, Book& book) {
  for (int limit = 8;; limit *= 8) {
    ledger::JobFilter filter;
    filter.limit = limit;
    STOKER_ASSIGN(const std::vector<Job> jobs, ledger.Jobs(filter));
    const bool all = jobs.size() < static_cast<size_t>(limit) || jobs.back().id < book.next_id;
    if (!all) continue;
    int64_t next_id = book.next_id;
    for (const Job& job : jobs) {
      if (job.id >= book.next_id) book.waiting.emplace(job.id, Waiting{});
      next_id = std::max(next_id, job.id + 1);
    }
    book.next_id = next_id;
    return Ok();
  }
}

Result<bool> Settle(ledger::Ledger& ledger, const Job& job, const Clock& clock) {
  STOKER_ASSIGN(const JobUse use, MeasureCards(ledger, job, clock));
  if (!use.total.gpu_energy_j) return false;
  // Read again just before the write: others keep fields of the same row.
  STOKER_ASSIGN(Job fresh, ledger.JobById(job.id));
  fresh.gpu_energy_j = use.total.gpu_energy_j;
  STOKER_TRY(ledger.Write([&](ledger::Writer& writer) { return writer.PutJob(fresh); }));
  return true;
}

bool NothingToSettle(const Job& job) {
  return job.gpu_energy_j || job.cards.empty() || !job.started_at;
}

// Settles one job that has ended, or says when to look again. True where it need not wait any more.
Result<bool> Attempt(ledger::Ledger& ledger, const Job& job, Waiting& waiting, const Clock& clock) {
  if (NothingToSettle(job)) return true;
  const int64_t now = clock.Now().ms;
  // A due time far off was written under another clock.
  if (waiting.due_ms > now && waiting.due_ms - now <= kRetries.back().count()) return false;
  Result<bool> done = Settle(ledger, job, clock);
  if (done && *done) return true;
  if (waiting.tries >= kRetries.size()) {
    if (!done) return done.error();
    return true;
  }
  waiting.due_ms = now + kRetries[waiting.tries++].count();
  return done;
}

}  // namespace

Status SettleEndedJobs(ledger::Ledger& ledger, const Clock& clock) {
  STOKER_ASSIGN(const std::optional<std::string> mark, ledger.Mark(kMark));
  Book book = ParseBook(mark.value_or(""));
  STOKER_TRY(AddNewJobs(ledger, book));
  ledger::JobFilter filter;
  for (const auto& [id, waiting] : book.waiting) filter.ids.push_back(id);
  std::vector<Job> jobs;
  if (!filter.ids.empty()) {
    STOKER_ASSIGN(jobs, ledger.Jobs(filter));
  }
  Status first_error;
  std::map<int64_t, Waiting> still_waiting;
  for (const Job& job : jobs) {
    Waiting waiting = book.waiting[job.id];
    bool keep = !ledger::IsFinal(job.state);
    if (!keep) {
      // One unreadable job must not keep the others unsettled.
      const bool last_try = waiting.tries >= kRetries.size();
      const Result<bool> done = Attempt(ledger, job, waiting, clock);
      if (!done && first_error) first_error = done.error();
      keep = done ? !*done : !last_try;
    }
    if (keep) still_waiting[job.id] = waiting;
  }
  book.waiting = std::move(still_waiting);
  const std::string text = FormatBook(book);
  if (!mark || *mark != text) {
    STOKER_TRY(ledger.Write([&](ledger::Writer& w) { return w.SetMark(kMark, text); }));
  }
  return first_error;
}

}  // namespace stoker::query
