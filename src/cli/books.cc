#include "cli/books.h"

#include "base/file.h"
#include "jobs/keeper.h"
#include "query/query.h"

namespace stoker::cli {

Result<std::unique_ptr<ledger::Ledger>> OpenBooks(Context& context) {
  using ledger::Ledger;
  const std::string path = context.home.ledger();
  STOKER_TRY(MakeDirs(context.home.root(), 0750));
  auto writer = Ledger::Open(path, Ledger::Mode::kWriter, context.clock);
  if (writer) {
    jobs::Keeper keeper(context.home, **writer, context.log, context.clock);
    STOKER_TRY(keeper.Tick());
    STOKER_TRY(query::SettleEndedJobs(**writer, context.clock));
    return writer;
  }
  if (writer.error().code != Code::kUnavailable && writer.error().code != Code::kDenied) {
    return writer.error();
  }
  return Ledger::Open(path, Ledger::Mode::kReader, context.clock);
}

void WaitUntilRecorded(Context& context, int64_t id) {
  constexpr Millis kLook{50};
  for (Millis waited{0}; waited < Millis{3000}; waited += kLook) {
    const auto books = OpenBooks(context);
    if (!books) return;
    const auto job = (*books)->JobById(id);
    if (job && ledger::IsFinal(job->state)) return;
    // Not the interrupt: a Ctrl-C that ended the job must not cut this short.
    StopSignal().WaitFor(kLook);
  }
}

}  // namespace stoker::cli
