// Settings: what a command line leaves out comes from the environment, and otherwise from a file.
#include "cmd/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>
#include <fstream>
#include <map>

#include "cmd/usage.h"
#include "tests/support/program.h"

namespace lastout::cmd {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class SettingsTest : public ::testing::Test {
 protected:
  SettingsTest() {
    app_.add_option("--config", config_);
    app_.add_option("--name", name_);
    app_.add_option("--deny-status", status_)->check(eitherOf("403", "429"));
    app_.add_option("--manage", manage_);
    app_.add_flag("--audit-only", audit_);
  }
  ~SettingsTest() override { std::filesystem::remove(file_); }
  SettingsTest(const SettingsTest&) = delete;
  SettingsTest& operator=(const SettingsTest&) = delete;

  // `arguments` as on a command line, `text` in the file.
  std::string take(const std::string& arguments, const std::string& text = {}) {
    std::ofstream(file_, std::ios::binary) << text;
    app_.parse(arguments + (text.empty() ? "" : " --config " + file_));
    return taken();
  }
  std::string taken() {
    const auto taken = takeSettings(app_, variables_);
    return taken ? "" : kube::toString(taken.error());
  }

  std::string file_ =
      (std::filesystem::temp_directory_path() / ("lastout-settings-" + std::to_string(getpid()) + ".yaml"))
          .string();
  client::Environment variables_;
  CLI::App app_;
  std::string config_;
  std::string name_ = "default";
  int status_ = 403;
  bool manage_ = true;
  bool audit_ = false;
};

TEST_F(SettingsTest, AFileGivesWhatTheCommandLineLeavesOut) {
  EXPECT_EQ(take("--name given", "name: from-file\ndeny-status: 429\nmanage: false\naudit-only: true\n"), "");
  EXPECT_EQ(name_, "given");
  EXPECT_EQ(status_, 429);
  EXPECT_FALSE(manage_);
  EXPECT_TRUE(audit_);
}

TEST_F(SettingsTest, AFlagMayBeOffInTheFile) {
  EXPECT_EQ(take("", "audit-only: false\n"), "");
  EXPECT_FALSE(audit_);
}

TEST_F(SettingsTest, TheEnvironmentComesBeforeTheFile) {
  variables_ = {
      {"LASTOUT_NAME", "from-environment"}, {"LASTOUT_DENY_STATUS", ""}, {"LASTOUT_AUDIT_ONLY", "true"}};
  EXPECT_EQ(take("", "name: from-file\ndeny-status: 429\n"), "");
  EXPECT_EQ(name_, "from-environment");
  EXPECT_EQ(status_, 429) << "an empty variable is none";
  EXPECT_TRUE(audit_);
}

TEST_F(SettingsTest, TheCommandLineComesBeforeTheEnvironment) {
  variables_ = {{"LASTOUT_NAME", "from-environment"}};
  EXPECT_EQ(take("--name given"), "");
  EXPECT_EQ(name_, "given");
}

TEST_F(SettingsTest, TheEnvironmentMayNameTheFile) {
  std::ofstream(file_) << "name: from-file\n";
  variables_ = {{"LASTOUT_CONFIG", file_}};
  app_.parse("");
  EXPECT_EQ(taken(), "");
  EXPECT_EQ(name_, "from-file");
}

TEST_F(SettingsTest, WhatIsWrongHasAPlace) {
  const std::pair<const char*, const char*> cases[] = {
      {"deny-status: 404\n", ":1:14: --deny-status: \"404\" is neither 403 nor 429"},
      {"name: x\ndeny-staus: 429\n",
       ":2:1: there is no option \"deny-staus\"; did you mean \"deny-status\"?"},
      {"config: other.yaml\n", ":1:1: config is for the command line"},
      {"name: [a]\n", ":1:7: name: a string, number or boolean is expected, not a list"},
      {"name:\n", "name: a string, number or boolean is expected, not null"},
      {"- name\n", ":1:1: a map of options is expected"},
      {"name: a\n---\nname: b\n", ":3:1: one document is expected"},
      {"name: a\nname: b\n", ":2:1: "},
      {"audit-only: perhaps\n", ":1:13: --audit-only: \"perhaps\" is neither true nor false"},
      {"manage: perhaps\n", ":1:9: "}};
  for (const auto& [text, words] : cases) {
    SCOPED_TRACE(text);
    app_.clear();
    EXPECT_THAT(take("", text), AllOf(HasSubstr(file_), HasSubstr(words)));
  }
}

TEST_F(SettingsTest, AVariableThatIsRefusedIsNamed) {
  variables_ = {{"LASTOUT_DENY_STATUS", "no"}};
  EXPECT_THAT(take(""), HasSubstr("LASTOUT_DENY_STATUS: "));
}

TEST_F(SettingsTest, AVariableThatIsAlmostAnOptionsIsMisspelt) {
  variables_ = {{"LASTOUT_DENYSTATUS", "429"}};
  EXPECT_THAT(take(""), HasSubstr("LASTOUT_DENYSTATUS is no option; did you mean LASTOUT_DENY_STATUS?"));
  variables_ = {{"LASTOUT_SERVICE_HOST", "10.0.0.1"},
                {"LASTOUT_SERVICE_PORT", "443"},
                {"LASTOUT_NAMES_PORT_443_TCP", "tcp://10.0.0.1:443"},
                {"LASTOUT_NAM_PORT", "tcp://10.0.0.1:443"},
                {"LASTOUT_NAMES", ""}};
  EXPECT_EQ(taken(), "") << "Services make these, and an empty variable is none";
}

TEST(Environment, HoldsLastoutsOwnVariablesAlone) {
  const char* const variables[] = {"LASTOUT_NAME=a=b", "PATH=/bin", "LASTOUT_EMPTY=", "LASTOUT_ODD", nullptr};
  EXPECT_EQ(ownVariables(client::environmentOf(variables)),
            (client::Environment{{"LASTOUT_NAME", "a=b"}, {"LASTOUT_EMPTY", ""}}));
}

// The program as a whole: nothing has begun when a setting is wrong.
TEST(ServeSettings, BadOnesEndTheProgram) {
  const std::pair<const char*, const char*> cases[] = {
      {"lastout serve --config nowhere.yaml", "nowhere.yaml: cannot be read"},
      {"LASTOUT_CONFIG=nowhere.yaml lastout serve", "nowhere.yaml: cannot be read"},
      {"LASTOUT_DENY_STATUS=500 lastout serve", "LASTOUT_DENY_STATUS: "},
      {"LASTOUT_LISTEN=here lastout serve", "--listen: \"here\" is no address"},
      {"lastout serve --service a/b/c", "--service: \"a/b/c\" is no namespace/name"},
      {"lastout serve --tls-secret lastout", "--tls-secret: \"lastout\" is no namespace/name"},
      {"lastout serve --own-namespace Bad_Name", "--own-namespace: \"Bad_Name\" is no name"},
      {"lastout serve --url http://a.example", "--url: API servers call webhooks by https:// alone"},
      {"lastout serve --url https://exa_mple:bad", "--url: "},
      {"lastout serve --url https://a.example --service a/b", "choose one"},
      {"lastout serve --tls-ca README.md", "--tls-ca: it vouches for"},
      {"lastout serve --tls-cert README.md", "belong together"},
      {"lastout serve --client-ca README.md", "README.md: --client-ca: it is no list of certificates"},
      {"lastout serve --tls-cert README.md --tls-key LICENSE", "LICENSE: --tls-key: no private key"}};
  for (const auto& [line, words] : cases) {
    const testing::Ran ran = testing::shell(line);
    EXPECT_EQ(ran.exitCode, 2) << line;
    EXPECT_THAT(ran.out, HasSubstr(words));
  }
}

// What an API server cannot call it takes for a denial: such an address is not written.
TEST_F(SettingsTest, AnAddressThatNobodyCanCallIsRefused) {
  std::ofstream(file_) << R"({"clusters":[{"name":"c","cluster":{"server":"https://api.example:6443"}}],)"
                          R"("contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],)"
                          R"("users":[{"name":"u","user":{}}],"current-context":"c"})";
  for (const char* listen : {"127.0.0.1:0", "0.0.0.0:0", "[::]:0"}) {
    const testing::Ran ran =
        testing::shell("lastout serve --answers none --kubeconfig " + file_ + " --listen " + listen);
    EXPECT_EQ(ran.exitCode, 2) << listen;
    EXPECT_THAT(ran.out, HasSubstr("cannot call"));
  }
}

}  // namespace
}  // namespace lastout::cmd
