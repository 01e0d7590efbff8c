// The program `stoker`: reads the environment, chooses the home, and runs one command.
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "app/serve.h"
#include "app/settings_file.h"
#include "base/file.h"
#include "base/proc_info.h"
#include "base/text.h"
#include "cli/command.h"

#ifndef STOKER_VERSION
#error "the build passes STOKER_VERSION"
#endif

extern char** environ;

namespace stoker::app {
namespace {

struct Arguments {
  std::string home;
  bool json = false;
  bool help = false;
  bool version = false;
  std::string command;
  std::vector<std::string> rest;
};

// Global options stand before the command; --json is taken after it too, but not past "--".
Result<Arguments> ParseArguments(const std::vector<std::string>& args) {
  Arguments out;
  size_t i = 0;
  for (; i < args.size() && args[i].starts_with("-"); ++i) {
    if (args[i] == "--json") {
      out.json = true;
    } else if (args[i] == "--help" || args[i] == "-h") {
      out.help = true;
    } else if (args[i] == "--version") {
      out.version = true;
    } else if (args[i] == "--home" && i + 1 < args.size()) {
      out.home = args[++i];
    } else if (args[i].starts_with("--home=")) {
      out.home = args[i].substr(7);
    } else {
      return Invalid("no such option: " + args[i], "stoker", "see stoker --help");
    }
  }
  if (i < args.size()) out.command = args[i++];
  bool ours = true;
  for (; i < args.size(); ++i) {
    if (args[i] == "--") ours = false;
    if (ours && args[i] == "--json") {
      out.json = true;
    } else {
      out.rest.push_back(args[i]);
    }
  }
  return out;
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// --home, else $STOKER_HOME, else /var/lib/stoker for root, else the user's data folder.
std::string ChooseHome(const std::string& given, const std::string& cwd) {
  if (!given.empty()) return CleanPath(given, cwd);
  if (const std::string home = Variable("STOKER_HOME"); !home.empty()) return CleanPath(home, cwd);
  if (::geteuid() == 0) return "/var/lib/stoker";
  if (const std::string data = Variable("XDG_DATA_HOME"); !data.empty()) return data + "/stoker";
  return Variable("HOME") + "/.local/share/stoker";
}

report::TextStyle ChooseStyle() {
  report::TextStyle style;
  winsize size{};
  const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  if (terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    style.width = size.ws_col;
  } else if (const auto columns = ParseInt(Variable("COLUMNS")); columns && *columns > 20) {
    style.width = static_cast<int>(std::min<int64_t>(*columns, 400));
  }
  style.color = terminal && Variable("NO_COLOR").empty() && Variable("TERM") != "dumb";
  return style;
}

std::vector<std::string> Environment() {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) out.emplace_back(*entry);
  return out;
}

std::function<void(std::string_view)> PrintTo(int fd) {
  // A reader that went away (head) is no error of ours.
  return [fd](std::string_view text) {
    Fd out(fd);
    Ignore(WriteAll(out, text, "output"));
    out.Release();
  };
}

std::string OwnFolder() {
  char path[4096];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  return size > 0 ? DirName(std::string_view(path, static_cast<size_t>(size))) : ".";
}

// SIGINT and SIGTERM are taken by a thread of their own, so that no code runs inside a handler.
void BlockSignals(sigset_t& set) {
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM}) ::sigaddset(&set, signal);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

// `stoker X` runs stoker-X where one exists beside us; does not return then.
void RunOtherProgram(const std::string& folder, const Arguments& arguments,
                     const std::string& home) {
  const std::string program = folder + "/stoker-" + arguments.command;
  if (arguments.command.find('/') != std::string::npos || ::access(program.c_str(), X_OK) != 0)
    return;
  std::vector<std::string> words = {program};
  if (arguments.json) words.emplace_back("--json");
  words.insert(words.end(), arguments.rest.begin(), arguments.rest.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::setenv("STOKER_HOME", home.c_str(), 1);
  sigset_t none;
  ::sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::execv(program.c_str(), argv.data());
}

std::vector<cli::Command> AllCommands() {
  std::vector<cli::Command> commands = cli::Commands();
  commands.insert(commands.begin(),
                  {"serve", "the daemon: collect, jobs, vault, pages", ServeCommand});
  return commands;
}

int Run(const Arguments& arguments) {
  const SystemClock clock;
  StopSignal interrupted;
  sigset_t signals;
  BlockSignals(signals);
  const auto log =
      MakeFdLogger(Fd(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)), LogLevel::kInfo, clock);
  const auto cwd = CurrentDir();
  NullLogger silent;
  cli::Context context{
      .home = Home(ChooseHome(arguments.home, cwd.value_or("/"))),
      .settings = {},
      .json = arguments.json,
      .style = ChooseStyle(),
      .out_is_terminal = ::isatty(STDOUT_FILENO) == 1,
      .environment = Environment(),
      .cwd = cwd.value_or("/"),
      .bin_dir = OwnFolder(),
      .user = UserName(::geteuid()),
      .clock = clock,
      .log = arguments.command == "serve" ? *log : silent,
      .interrupted = interrupted,
      .out = PrintTo(STDOUT_FILENO),
      .err = PrintTo(STDERR_FILENO),
  };
  const auto commands = AllCommands();
  const bool known = std::any_of(commands.begin(), commands.end(),
                                 [&](const auto& c) { return c.name == arguments.command; });
  if (!known) RunOtherProgram(context.bin_dir, arguments, context.home.root());
  auto settings = LoadSettings(context.home.settings());
  if (!settings) {
    context.err("stoker: " + settings.error().Line() + "\n");
    return 1;
  }
  context.settings = *settings;
  NamedThread waiter("signals", [&](StopSignal& stop) {
    const timespec look{0, 100'000'000};
    while (!stop.stopped()) {
      if (::sigtimedwait(&signals, nullptr, &look) > 0) interrupted.Stop();
    }
  });
  return cli::Dispatch(context, commands, arguments.command, arguments.rest);
}

int Main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  const auto print = PrintTo(STDOUT_FILENO);
  const auto arguments = ParseArguments(args);
  if (!arguments) {
    PrintTo(STDERR_FILENO)("stoker: " + arguments.error().Line() + "\n");
    return 2;
  }
  if (arguments->version) {
    print("stoker " STOKER_VERSION "\n");
    return 0;
  }
  if (arguments->help || arguments->command.empty() || arguments->command == "help") {
    print(cli::HelpText(AllCommands()));
    return arguments->help || arguments->command == "help" ? 0 : 2;
  }
  return Run(*arguments);
}

}  // namespace
}  // namespace stoker::app

int main(int argc, char** argv) { return stoker::app::Main(argc, argv); }
