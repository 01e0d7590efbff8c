#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace stoker::cli {

namespace {

// Our own usage line instead of the generated one.
class UsageFormatter : public CLI::Formatter {
 public:
  explicit UsageFormatter(std::string usage) : usage_(std::move(usage)) {}
  std::string make_usage(const CLI::App*, std::string) const override {
    return "usage: " + usage_ + "\n";
  }

 private:
  const std::string usage_;
};

}  // namespace

struct Options::State {
  State(const std::string& name, const std::string& sentence) : app(sentence, "stoker " + name) {}
  CLI::App app;
};

Options::Options(const std::string& name, const std::string& usage, const std::string& sentence)
    : state_(std::make_unique<State>(name, sentence)) {
  state_->app.set_help_flag("-h,--help", "this text");
  state_->app.formatter(
      std::make_shared<UsageFormatter>("stoker " + name + (usage.empty() ? "" : " " + usage)));
}
Options::~Options() = default;

Options& Options::Flag(const std::string& names, bool& target, const std::string& help) {
  state_->app.add_flag(names, target, help);
  return *this;
}
Options& Options::Text(const std::string& names, std::string& target, const std::string& help) {
  state_->app.add_option(names, target, help)->type_name("TEXT");
  return *this;
}
Options& Options::Number(const std::string& names, int64_t& target, const std::string& help) {
  state_->app.add_option(names, target, help)->type_name("N");
  return *this;
}
Options& Options::Texts(const std::string& names, std::vector<std::string>& target,
                        const std::string& help) {
  state_->app.add_option(names, target, help)->type_name("TEXT")->allow_extra_args(false);
  return *this;
}
Options& Options::Required(const std::string& place, std::string& target, const std::string& help) {
  state_->app.add_option(place, target, help)->required()->type_name("");
  return *this;
}
Options& Options::Optional(const std::string& place, std::string& target, const std::string& help) {
  state_->app.add_option(place, target, help)->type_name("");
  return *this;
}
Options& Options::Rest(const std::string& place, std::vector<std::string>& target,
                       const std::string& help, bool required) {
  state_->app.add_option(place, target, help)->required(required)->type_name("");
  return *this;
}

Result<std::optional<std::string>> Options::Parse(std::vector<std::string> args) {
  // CLI11 takes the arguments last first.
  std::reverse(args.begin(), args.end());
  try {
    state_->app.parse(args);
    return std::optional<std::string>();
  } catch (const CLI::CallForHelp&) {
    return std::optional<std::string>(state_->app.help());
  } catch (const CLI::Error& error) {
    return Invalid(error.what(), state_->app.get_name(),
                   "see " + state_->app.get_name() + " --help");
  }
}

}  // namespace stoker::cli
