#include "scenario.h"

#include <signal.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "base/durable_file.h"
#include "base/file.h"
#include "base/json.h"
#include "base/process.h"
#include "base/text.h"

namespace stoker::scenario {
namespace {

std::string ReplaceAll(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

Result<std::vector<std::string>> Words(const std::string& text, const std::string& where) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == ' ') {
      if (in_word) words.push_back(std::exchange(word, {}));
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (quote != 0) return Invalid("a quote is not closed", where);
  if (in_word) words.push_back(word);
  return words;
}

// One scenario while it runs.
class Run {
 public:
  Run(std::string path, Places places, std::string work)
      : path_(std::move(path)), places_(std::move(places)), work_(std::move(work)) {}
  ~Run() { Ignore(EndDaemon(SIGKILL)); }

  Status Play(const std::vector<Line>& lines, std::string& skipped);

 private:
  std::string Home() const { return work_ + "/home"; }
  std::string Fill(std::string text) const;
  Status Step(const Line& line);
  Status Execute(const std::vector<std::string>& argv);
  Status Expect(const Line& line) const;
  Status ExpectJson(const Line& line) const;
  Status Prepare(const Line& line, std::string& skipped);
  Status EndDaemon(int signal) const;
  // A command and what must hold of it: [first, last) of the lines.
  Status PlayCommand(const std::vector<Line>& lines, size_t first, size_t last);
  static bool IsExpectation(const std::string& word);

  const std::string path_;
  const Places places_;
  const std::string work_;
  Captured last_;
  std::optional<double> until_s_;
};

std::string Run::Fill(std::string text) const {
  text = ReplaceAll(std::move(text), "$WORK", work_);
  text = ReplaceAll(std::move(text), "$HOME_DIR", Home());
  text = ReplaceAll(std::move(text), "$DATA", places_.data);
  text = ReplaceAll(std::move(text), "$BIN", places_.bin);
  return ReplaceAll(std::move(text), "$SIM", places_.sim);
}

Status Run::Execute(const std::vector<std::string>& argv) {
  Command command;
  command.argv = argv;
  command.cwd = work_;
  command.environment = std::vector<std::string>{
      "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + work_, "STOKER_HOME=" + Home(), "TMPDIR=/tmp",
      "STOKER_SIM_DIR=" + work_ + "/sim",  "LC_ALL=C.UTF-8"};
  STOKER_ASSIGN(last_, RunProgram(command, std::chrono::minutes(4)));
  return Ok();
}

bool Run::IsExpectation(const std::string& word) {
  return word == "exit" || word == "out" || word == "err" || word == "no-out" || word == "no-err" ||
         word == "json";
}

Status Run::ExpectJson(const Line& line) const {
  if (line.words.size() < 4) return Invalid("json PATH OP VALUE");
  const std::string op = line.words[2];
  const std::string wanted = Fill(line.words[3]);
  STOKER_ASSIGN(const std::string got, JsonAt(last_.out, line.words[1]));
  const auto a = ParseDouble(got), b = ParseDouble(wanted);
  const bool numbers = a && b;
  const bool holds = op == "="    ? (numbers ? *a == *b : got == wanted)
                     : op == "!=" ? got != wanted
                     : op == "~"  ? got.find(wanted) != std::string::npos
                     : op == ">"  ? numbers && *a > *b
                     : op == "<"  ? numbers && *a < *b
                                  : false;
  if (holds) return Ok();
  return Invalid(line.words[1] + " is " + got + ", not " + op + " " + wanted);
}

Status Run::Expect(const Line& line) const {
  const std::string& word = line.words[0];
  if (word == "json") return ExpectJson(line);
  const std::string text = Fill(line.text);
  if (word == "exit") {
    if (last_.status.exit_code == ParseInt(text)) return Ok();
    return Invalid("ended with " + std::to_string(last_.status.exit_code.value_or(-1)) + ", not " +
                   text + ": " + last_.err);
  }
  const std::string& stream = word.ends_with("out") ? last_.out : last_.err;
  if ((stream.find(text) != std::string::npos) == !word.starts_with("no-")) return Ok();
  return Invalid(word + " " + text + " does not hold; it said: " + stream);
}

Status Run::PlayCommand(const std::vector<Line>& lines, size_t first, size_t last) {
  STOKER_TRY(Step(lines[first]));
  bool exit_said = false;
  for (size_t i = first + 1; i < last; ++i) {
    exit_said |= lines[i].words[0] == "exit";
    if (const Status held = Expect(lines[i]); !held) {
      return held.error().In(path_ + ":" + std::to_string(lines[i].number));
    }
  }
  if (!exit_said && !last_.status.ok()) {
    return Invalid(
        "ended with " + std::to_string(last_.status.exit_code.value_or(-1)) + ": " + last_.err,
        path_ + ":" + std::to_string(lines[first].number));
  }
  return Ok();
}

Status Run::EndDaemon(int signal) const {
  const auto text = ReadFile(Home() + "/serve.pid", 64);
  if (!text) return Ok();
  const auto pid = ParseInt(Trim(*text));
  if (!pid || *pid <= 1) return Ok();
  ::kill(static_cast<pid_t>(*pid), signal);
  // Ended when its lock is free.
  for (int i = 0; i < 500; ++i) {
    if (FileLock::Take(Home() + "/serve.lock")) return Ok();
    std::this_thread::sleep_for(Millis(20));
  }
  return Timeout("the daemon did not end", Home());
}

Status Run::Prepare(const Line& line, std::string& skipped) {
  if (line.words.size() < 3) return Ok();
  const bool data = line.words[1] == "data";
  const std::string path = (data ? places_.data : places_.bin) + "/" + line.words[2];
  if (!FileExists(path)) skipped = line.words[1] + " " + line.words[2] + " is not here";
  return Ok();
}

Status Run::Step(const Line& line) {
  const std::string& word = line.words[0];
  if (word == "stoker") {
    std::vector<std::string> argv = {places_.bin + "/stoker"};
    for (size_t i = 1; i < line.words.size(); ++i) argv.push_back(Fill(line.words[i]));
    return Execute(argv);
  }
  if (word == "shell") return Execute({"/bin/sh", "-c", Fill(line.text)});
  if (word == "file") {
    const std::string text = line.text.substr(std::min(line.text.size(), line.words[1].size() + 1));
    return WriteDurably(JoinPath(work_, line.words[1]), ReplaceAll(Fill(text), "\\n", "\n"));
  }
  if (word == "sim") {
    return WriteDurably(Home() + "/stoker.toml", "[serve]\nnvml = '" + places_.sim + "'\n");
  }
  if (word == "kill-daemon") return EndDaemon(SIGKILL);
  if (word == "stop-daemon") return EndDaemon(SIGTERM);
  return Invalid("no such word: " + word, path_ + ":" + std::to_string(line.number));
}

Status Run::Play(const std::vector<Line>& lines, std::string& skipped) {
  STOKER_TRY(MakeDirs(Home()));
  for (size_t i = 0; i < lines.size();) {
    const std::string& word = lines[i].words[0];
    if (word == "needs") {
      STOKER_TRY(Prepare(lines[i++], skipped));
      if (!skipped.empty()) return Ok();
      continue;
    }
    if (word == "until") {
      until_s_ = ParseDouble(lines[i++].words.at(1));
      continue;
    }
    size_t last = i + 1;
    while (last < lines.size() && IsExpectation(lines[last].words[0])) ++last;
    last_ = Captured{.status = {.exit_code = 0}};
    const auto end = std::chrono::steady_clock::now() + Seconds(until_s_.value_or(0));
    Status held = PlayCommand(lines, i, last);
    while (!held && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(Millis(50));
      held = PlayCommand(lines, i, last);
    }
    STOKER_TRY(held);
    until_s_.reset();
    i = last;
  }
  return Ok();
}

}  // namespace

Result<std::vector<Line>> ParseScenario(const std::string& path, const std::string& text) {
  std::vector<Line> out;
  int number = 0;
  for (const std::string_view raw : Split(text, '\n')) {
    ++number;
    const std::string_view trimmed = Trim(raw);
    if (trimmed.empty() || trimmed.front() == '#') continue;
    Line line{.number = number};
    STOKER_ASSIGN(line.words, Words(std::string(trimmed), path + ":" + std::to_string(number)));
    const size_t space = trimmed.find(' ');
    if (space != std::string_view::npos) line.text = std::string(Trim(trimmed.substr(space)));
    out.push_back(std::move(line));
  }
  return out;
}

Result<std::string> JsonAt(const std::string& json, const std::string& path) {
  STOKER_ASSIGN(const Json root, ParseJson(json, "output"));
  const Json* at = &root;
  const std::string dotted = ReplaceAll(ReplaceAll(path, "[", "."), "]", "");
  for (const std::string_view part : Split(dotted, '.')) {
    if (part == "length" && at->is_array()) return std::to_string(at->size());
    const auto index = ParseInt(part);
    if (index && at->is_array() && *index >= 0 && static_cast<size_t>(*index) < at->size()) {
      at = &(*at)[static_cast<size_t>(*index)];
    } else if (at->is_object() && at->contains(std::string(part))) {
      at = &(*at)[std::string(part)];
    } else {
      return NotFound("the JSON has no " + path + " (at " + std::string(part) + ")");
    }
  }
  return at->is_string() ? at->get<std::string>() : DumpJson(*at);
}

Status RunScenario(const std::string& path, const Places& places, std::string& skipped) {
  STOKER_ASSIGN(const std::string text, ReadFile(path));
  STOKER_ASSIGN(const auto lines, ParseScenario(path, text));
  STOKER_ASSIGN(const TempDir work, TempDir::Make("scenario"));
  Run run(path, places, work.path());
  return run.Play(lines, skipped);
}

}  // namespace stoker::scenario
