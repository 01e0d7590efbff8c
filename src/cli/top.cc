// stoker top: the screen of the box, once a second until q or Ctrl-C.
#include <nlohmann/json.hpp>

#include "cli/books.h"
#include "cli/command.h"
#include "cli/daemon.h"
#include "cli/options.h"
#include "query/query.h"
#include "report/json.h"

namespace stoker::cli {

Result<int> TopCommand(Context& context, const std::vector<std::string>& args) {
  bool once = false;
  Options options("top", "[--once]", "The cards, the host and the jobs, live; Ctrl-C ends it.");
  options.Flag("--once", once, "print one screen and end");
  STOKER_PARSE(options, args, context);
  STOKER_TRY(EnsureDaemon(context));
  const bool live = context.out_is_terminal && !once && !context.json;
  do {
    STOKER_ASSIGN(const auto books, OpenBooks(context));
    STOKER_ASSIGN(const auto now, query::GetNow(*books, context.clock));
    if (context.json) {
      context.PrintJson(report::NowJson(now));
    } else {
      // Home, then each line cleared to its end: no flicker.
      std::string screen = report::NowText(now, context.style);
      if (live) {
        std::string cleared = "\x1b[H";
        for (const char c : screen) c == '\n' ? cleared += "\x1b[K\n" : cleared += c;
        screen = cleared + "\x1b[J";
      }
      context.out(screen);
    }
  } while (live && !context.interrupted.WaitFor(Millis(1000)));
  return 0;
}

}  // namespace stoker::cli
