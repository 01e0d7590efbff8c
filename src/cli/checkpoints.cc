// stoker checkpoints and stoker restore.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"
#include "blob/dir/dir_store.h"
#include "cli/books.h"
#include "cli/command.h"
#include "cli/options.h"
#include "query/query.h"
#include "report/json.h"
#include "vault/restore.h"

namespace stoker::cli {

Result<int> CheckpointsCommand(Context& context, const std::vector<std::string>& args) {
  std::string id_text;
  Options options("checkpoints", "[ID]", "Checkpoints and where their copies are.");
  options.Optional("ID", id_text, "only those of this job");
  STOKER_PARSE(options, args, context);
  STOKER_ASSIGN(const auto books, OpenBooks(context));
  std::optional<int64_t> job;
  if (!id_text.empty()) {
    STOKER_ASSIGN(job, ParseJobId(id_text));
    STOKER_TRY(books->JobById(*job));
  }
  STOKER_ASSIGN(const auto checkpoints, query::GetCheckpoints(*books, job));
  if (context.json) {
    context.PrintJson(report::CheckpointsJson(checkpoints));
  } else if (checkpoints.empty()) {
    context.out("no checkpoints yet\n");
  } else {
    context.out(report::CheckpointsText(checkpoints, context.style));
  }
  return 0;
}

Result<int> RestoreCommand(Context& context, const std::vector<std::string>& args) {
  std::string wanted_text, dest;
  bool force = false;
  Options options("restore", "ID@best|@last|@epoch=N DEST [--force]",
                  "Brings a checkpoint back from its verified copy.");
  options.Required("WHICH", wanted_text, "17@best, 17@last, 17@epoch=412 or 17@id=3")
      .Required("DEST", dest, "the file to write, or a folder")
      .Flag("--force", force, "replace an existing file");
  STOKER_PARSE(options, args, context);
  STOKER_ASSIGN(const auto wanted, vault::ParseWanted(wanted_text));
  STOKER_ASSIGN(const auto books, OpenBooks(context));
  STOKER_ASSIGN(const auto store, blob::OpenDirStore(context.vault_folder()));
  STOKER_ASSIGN(const auto restored,
                vault::Restore(*books, *store, wanted, CleanPath(dest, context.cwd), force));
  if (context.json) {
    Json json;
    json["schema_version"] = 1;
    json["path"] = restored.path;
    json["checkpoint"] = restored.checkpoint.id;
    json["sha256"] = restored.checkpoint.sha256;
    json["bytes"] = restored.checkpoint.bytes;
    context.PrintJson(json);
  } else {
    context.out(fmt::format("{}: {}, SHA-256 {} as recorded\n", restored.path,
                            FormatBytes(static_cast<double>(restored.checkpoint.bytes)),
                            restored.checkpoint.sha256.substr(0, 12)));
  }
  return 0;
}

}  // namespace stoker::cli
