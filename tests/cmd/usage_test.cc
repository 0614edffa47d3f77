// The command line itself: help, version, and what one is told about a wrong one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/support/program.h"

namespace lastout {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using testing::Ran;

void expectUsageError(const Ran& ran, const std::string& message) {
  EXPECT_EQ(ran.exitCode, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr(message));
  EXPECT_LE(std::count(ran.err.begin(), ran.err.end(), '\n'), 2) << ran.err;
}

TEST(Usage, VersionIsTheProjects) {
  const Ran ran = testing::lastout({"--version"});
  EXPECT_EQ(ran.exitCode, 0);
  EXPECT_THAT(ran.out, MatchesRegex("lastout [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_EQ(ran.err, "");
}

TEST(Usage, AMissingCommandIsNamed) {
  expectUsageError(testing::lastout(std::vector<std::string>{}), "lastout: a command is missing: ");
  expectUsageError(testing::lastout(std::vector<std::string>{}), "Try: lastout --help");
}

TEST(Usage, AnUnknownCommandGetsTheNearestOne) {
  expectUsageError(testing::lastout({"garph", "x.yaml"}), "unknown command \"garph\"; did you mean graph?");
  expectUsageError(testing::lastout({"zzzzzzzz"}), "unknown command \"zzzzzzzz\"; there are check, deferred");
}

TEST(Usage, AnUnknownOptionGetsTheNearestOne) {
  expectUsageError(testing::lastout({"--verson"}),
                   "lastout: unknown option --verson; did you mean --version?");
  expectUsageError(testing::lastout({"graph", "--detph=3", "x.yaml"}),
                   "lastout graph: unknown option --detph; did you mean --depth?\nTry: lastout graph --help");
  expectUsageError(testing::lastout({"graph", "-x", "x.yaml"}), "lastout graph: unknown option -x\n");
}

TEST(Usage, AWrongValueIsAnError) {
  expectUsageError(testing::lastout({"graph", "--depth", "many", "x.yaml"}), "--depth");
  expectUsageError(testing::lastout({"graph", "-o", "svg", "x.yaml"}), "svg");
}

TEST(Usage, FilesAreNeeded) { expectUsageError(testing::lastout({"prove"}), "PATH is required"); }

// What kubectl would ask is nobody's business here.
constexpr const char* kNoCluster =
    "unset KUBECONFIG KUBERNETES_SERVICE_HOST; HOME=/nonexistent; export HOME; ";

TEST(Usage, WithoutASourceThereHasToBeACluster) {
  for (const char* command : {"graph", "why ns/x"}) {
    const Ran ran = testing::shell(kNoCluster + std::string("lastout ") + command);
    EXPECT_EQ(ran.exitCode, 2);
    EXPECT_THAT(ran.out, ::testing::StartsWith("no FILE and no --server is given"));
    EXPECT_THAT(ran.out, HasSubstr("set KUBECONFIG"));
  }
}

TEST(Usage, AFullDiskIsAnError) {
  const Ran ran = testing::shell("lastout graph scenarios/story-three-works.yaml >/dev/full");
  EXPECT_EQ(ran.exitCode, 2);
  EXPECT_THAT(ran.out, HasSubstr("cannot write to the standard output"));
}

std::vector<std::string> commands() {
  std::vector<std::string> names;
  std::istringstream help(testing::lastout({"--help"}).out);
  bool inCommands = false;
  for (std::string line; std::getline(help, line);) {
    if (line == "Subcommands:") {
      inCommands = true;
    } else if (!line.starts_with("  ")) {
      inCommands = false;
    } else if (inCommands && line[2] != ' ') {
      names.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
  }
  return names;
}

// "  lastout graph x.yaml   what it does": the command alone.
std::vector<std::string> examplesIn(const std::string& help) {
  std::vector<std::string> examples;
  std::istringstream lines(help);
  bool inExamples = false;
  for (std::string line; std::getline(lines, line);) {
    inExamples = line == "Examples:" || (inExamples && line.starts_with("  "));
    if (!inExamples || line == "Examples:") continue;
    const size_t end = line.find("   ", 2);
    if (line.find("lastout ") != std::string::npos) examples.push_back(line.substr(2, end - 2));
  }
  return examples;
}

// Examples may write files, so they run in a folder that goes away.
constexpr const char* kElsewhere =
    "cd \"$(mktemp -d)\" && trap 'rm -r \"$PWD\"' EXIT && ln -s \"$OLDPWD\"/* . && "
#ifdef LASTOUT_SANITIZED
    // Some twenty times as slow, it gets only scenarios with few states.
    "rm scenarios && mkdir scenarios && ln -s \"$OLDPWD\"/scenarios/[!dh]*.yaml \"$OLDPWD\"/scenarios/crds "
    "\"$OLDPWD\"/scenarios/katalogs \"$OLDPWD\"/scenarios/manifests scenarios && "
#endif
    ;

// Both go on until Ctrl-C, or a signal, which they get as soon as they have greeted; they take any free port.
// `lastout serve` stands beside a `lastout up`, and finds the files that its examples name.
std::string untilItHasGreeted(const std::string& example) {
  return "{ " + example +
         " >greeting 2>&1 & until grep -q Ctrl-C greeting; do kill -0 $! || break; done; "
         "kill $!; wait $! || { code=$?; cat greeting; (exit $code); }; }";
}

std::string endedByItself(std::string example) {
  if (example.find("--changed-from base/") != std::string::npos)
    return "mkdir base && cp -rL scenarios base && " + example;
  if (example.starts_with("lastout up")) return untilItHasGreeted(example);
  if (!example.starts_with("lastout serve")) return example;
  constexpr std::string_view kListen = " --listen 0.0.0.0:9443";
  if (const size_t at = example.find(kListen); at != std::string::npos) example.erase(at, kListen.size());
  const bool listens = example.find("--roles controller") == std::string::npos;
  return "{ lastout up >up & cluster=$!; until grep -q Ctrl-C up; do kill -0 $cluster || break; done; "
         "export KUBECONFIG=$PWD/lastout.kubeconfig; openssl req -x509 -nodes -newkey rsa:2048 -keyout "
         "tls.key "
         "-out tls.crt -subj /CN=lastout 2>/dev/null; cp tls.crt ca.crt; echo 'deny-status: 429' "
         ">serve.yaml; " +
         untilItHasGreeted(example + (listens ? " --listen 127.0.0.1:0" : "") + " --answers 127.0.0.1:0") +
         "; code=$?; kill $cluster; wait $cluster; exit $code; }";
}

// Of these, run where there is no cluster, only the command line itself can be good (tests/clients/ has the
// rest).
bool asksACluster(const std::string& example) {
  return example.find("--server") != std::string::npos || example.starts_with("lastout uninstall") ||
         example.starts_with("lastout deferred") || example.starts_with("lastout check") ||
         example.starts_with("lastout policy apply") ||
         (example.find("scenarios/") == std::string::npos && example.find(" | ") == std::string::npos &&
          (example.starts_with("lastout why") || example.starts_with("lastout graph")));
}

TEST(Usage, EveryCommandHasHelpWithExamplesThatWork) {
  std::vector<std::string> helps = {testing::lastout({"--help"}).out};
  EXPECT_THAT(commands(), ::testing::Contains("graph"));
  for (const std::string& command : commands()) {
    const Ran ran = testing::lastout({command, "--help"});
    EXPECT_EQ(ran.exitCode, 0) << command;
    EXPECT_EQ(ran.err, "") << command;
    helps.push_back(ran.out);
  }
  for (const std::string& help : helps) {
    const std::vector<std::string> examples = examplesIn(help);
    EXPECT_FALSE(examples.empty()) << help;
    for (const std::string& example : examples) {
      const Ran ran = testing::shell(kNoCluster + std::string(kElsewhere) + endedByItself(example));
      const bool isBadUsage = ran.out.find("Try: lastout") != std::string::npos;
      EXPECT_TRUE(ran.exitCode != 2 || (asksACluster(example) && !isBadUsage)) << example << "\n" << ran.out;
    }
  }
}

// An address for documentation, which no machine has (RFC 3849).
TEST(Usage, AnIpv6AddressStandsInBrackets) {
  const Ran ran = testing::lastout({"up", "--listen", "[2001:db8::1]:6443"});
  EXPECT_EQ(ran.exitCode, 2);
  EXPECT_THAT(ran.err, HasSubstr("cannot listen on [2001:db8::1]:6443: Cannot assign requested address"));
}

TEST(Usage, AHostThatNobodyKnowsIsCalledSo) {
  const Ran ran = testing::lastout({"up", "--listen", "nosuchhost.invalid:6443"});
  EXPECT_EQ(ran.exitCode, 2);
  EXPECT_THAT(ran.err, HasSubstr("\"nosuchhost.invalid\" is no address or name of this machine: "));
}

}  // namespace
}  // namespace lastout
