#include "app/settings_file.h"

#include <gtest/gtest.h>

#include "base/durable_file.h"
#include "base/file.h"

namespace stoker::app {
namespace {

class SettingsFileTest : public testing::Test {
 protected:
  Result<cli::Settings> Load(const std::string& text) {
    EXPECT_TRUE(WriteDurably(path_, text));
    auto settings = LoadSettings(path_);
    if (!settings) line_ = settings.error().Line().substr(path_.size());
    return settings;
  }
  const Result<TempDir> dir_ = TempDir::Make();
  const std::string path_ = dir_->path() + "/stoker.toml";
  std::string line_;
};

TEST_F(SettingsFileTest, AnAbsentFileIsAllDefaults) {
  const auto settings = LoadSettings(path_);
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->serve_listen, "127.0.0.1:8090");
  EXPECT_EQ(settings->collect_interval_ms, 1000);
}

TEST_F(SettingsFileTest, TakesWhatIsSaidAndKeepsTheRest) {
  const auto settings = Load("[serve]\nlisten = '127.0.0.1:9'\n[vault]\nquiet_ms = 5\n");
  ASSERT_TRUE(settings) << line_;
  EXPECT_EQ(settings->serve_listen, "127.0.0.1:9");
  EXPECT_EQ(settings->vault_quiet_ms, 5);
  EXPECT_EQ(settings->jobs_grace_s, 15);
}

TEST_F(SettingsFileTest, ASlipIsNamedWithItsLineAndASuggestion) {
  EXPECT_FALSE(Load("[serve]\nlisten = 'x'\nlisen = 'y'\n"));
  EXPECT_EQ(line_, ":3: no such setting: serve.lisen (did you mean serve.listen?)");
  EXPECT_FALSE(Load("[vault]\nquiet_ms = -1\n"));
  EXPECT_EQ(line_, ":2: vault.quiet_ms must be a whole number from 0 to 600000");
  EXPECT_FALSE(Load("[vault]\nfolder = 3\n"));
  EXPECT_EQ(line_, ":2: vault.folder must be a text in quotes");
  EXPECT_FALSE(Load("[vault\n"));
  EXPECT_FALSE(Load("listen = 'x'\n"));
}

TEST_F(SettingsFileTest, TheCommittedExampleIsAllDefaults) {
  const auto settings = LoadSettings(EXAMPLE_TOML);
  ASSERT_TRUE(settings) << settings.error().Line();
  EXPECT_EQ(settings->serve_listen, cli::Settings().serve_listen);
}

}  // namespace
}  // namespace stoker::app
