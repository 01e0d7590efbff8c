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

}  // namespace stoker::cli
