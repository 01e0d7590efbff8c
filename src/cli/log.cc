// stoker log KEY=VALUE…: one line into the run log of the job that calls it.
#include "base/text.h"
#include "cli/command.h"
#include "cli/options.h"
#include "runlog/writer.h"

namespace stoker::cli {
namespace {

using runlog::Kind;
using runlog::RunEvent;

// Words that are not metrics; everything else that is a number is one.
Status TakePair(const std::string& key, const std::string& value, RunEvent& event) {
  const auto number = ParseDouble(value);
  if (key == "note") {
    event.text = value;
  } else if (key == "phase") {
    event.kind = Kind::kPhase;
    event.phase = value;
  } else if (key == "edge") {
    if (value != "begin" && value != "end")
      return Invalid("begin or end", "stoker log: edge=" + value);
    event.phase_begins = value == "begin";
  } else if (key == "checkpoint") {
    event.kind = Kind::kCheckpoint;
    event.path = value;
  } else if (key == "role") {
    event.role = value;
  } else if (!number) {
    return Invalid("not a number", "stoker log: " + key + "=" + value, "text goes into note=…");
  } else if (key == "epoch") {
    event.epoch = *number;
  } else if (key == "step") {
    event.step = static_cast<int64_t>(*number);
  } else if (key == "epochs") {
    event.kind = Kind::kPlan;
    event.epochs_planned = *number;
  } else {
    event.metrics[key] = *number;
  }
  return Ok();
}

}  // namespace

Result<int> LogCommand(Context& context, const std::vector<std::string>& args) {
  std::vector<std::string> pairs;
  Options options(
      "log", "KEY=VALUE…",
      "From inside a job: one line into its run log, such as\n"
      "  stoker log epoch=3 val/accuracy=0.91      metrics of an epoch (or step=100 …)\n"
      "  stoker log phase=validate edge=begin      where the time goes\n"
      "  stoker log checkpoint=best.pt role=best   a checkpoint was written\n"
      "  stoker log epochs=90                      what is planned\n"
      "  stoker log note='warm-up done'            a remark");
  options.Rest("pairs", pairs, "KEY=VALUE", true);
  STOKER_PARSE(options, args, context);
  const std::string path = context.Env("STOKER_RUN_LOG");
  if (path.empty()) {
    return Invalid("$STOKER_RUN_LOG is not set", "stoker log",
                   "it is set inside jobs started by stoker run");
  }
  RunEvent event;
  for (const std::string& pair : pairs) {
    const size_t equals = pair.find('=');
    if (equals == 0 || equals == std::string::npos)
      return Invalid("not KEY=VALUE", "stoker log: " + pair);
    STOKER_TRY(TakePair(pair.substr(0, equals), pair.substr(equals + 1), event));
  }
  if (event.kind == Kind::kNote && event.text.empty()) {
    event.kind = event.epoch ? Kind::kEpoch : Kind::kStep;
  }
  STOKER_ASSIGN(const auto writer, runlog::Writer::Open(path, context.clock));
  STOKER_TRY(writer->Append(event));
  return 0;
}

}  // namespace stoker::cli
