// Plugins are real here: small shell scripts, most of them bad.
#include "client/plugin.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include "client/secret.h"
#include "tests/client/client_fixture.h"

namespace lastout::client {
namespace {

using namespace std::chrono_literals;

class Plugins : public ClientFolder {
 protected:
  ExecPlugin plugin(std::string_view lines) const {
    ExecPlugin made;
    made.command = script("plugin", lines);
    made.apiVersion = "client.authentication.k8s.io/v1";
    made.info = R"({"kind":"ExecCredential"})";
    made.environment = {{"FOLDER", folder_}};
    return made;
  }
  // What it answered, or why not.
  std::string run(const ExecPlugin& made, const PluginLimits& limits = {},
                  const std::stop_token& stop = {}) const {
    const auto answer = runPlugin(made, limits, stop);
    return answer ? *answer : errorOf(answer);
  }
  std::string run(std::string_view lines, const PluginLimits& limits = {}) const {
    return run(plugin(lines), limits);
  }
  // The process whose number a plugin wrote to this file, which has to come.
  pid_t processIn(const std::string& name) const {
    for (;;) {
      const std::string text = read(name);
      if (text.ends_with('\n')) return std::stoi(text);
      std::this_thread::yield();
    }
  }
  // Nobody is there any more, or only its exit code.
  static bool isGone(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string number, name, state;
    return !(file >> number >> name >> state) || state == "Z" || state == "X";
  }
};

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

const std::string kOpening = "the credential plugin \"~/plugin\" ";

TEST_F(Plugins, AnswerOnTheirStandardOutput) { EXPECT_EQ(run("echo noise >&2; echo answer"), "answer\n"); }

TEST_F(Plugins, AreToldWhatTheyNeed) {
  ExecPlugin made = plugin(R"(printf '%s|%s|%s|%s' "$KUBERNETES_EXEC_INFO" "$FOLDER" "$HOME" "$2")");
  made.arguments = {"one", "t w\no"};
  const std::optional<std::string> home = variable("HOME");
  ::setenv("HOME", "/home/me", 1);
  EXPECT_EQ(shortened(run(made)), R"({"kind":"ExecCredential"}|~|/home/me|t w)"
                                  "\no");
  if (home)
    ::setenv("HOME", home->c_str(), 1);
  else
    ::unsetenv("HOME");
}

TEST_F(Plugins, AreFoundInThePath) {
  ExecPlugin made = plugin("");
  made.command = "echo";
  made.arguments = {"found"};
  EXPECT_EQ(run(made), "found\n");
}

TEST_F(Plugins, HaveNothingOfThisProcess) {
  const int left = ::open("/dev/null", O_RDONLY);  // not closed on exec
  EXPECT_EQ(run("cat; test -e /proc/$$/fd/" + std::to_string(left) + " && echo left; echo end"), "end\n")
      << "nothing to read, nothing left open";
  ::close(left);
  // What the program blocks for itself.
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  EXPECT_EQ(run("kill -TERM $$; echo survived"), kOpening + "was ended by signal 15");
  pthread_sigmask(SIG_UNBLOCK, &blocked, nullptr);
}

TEST_F(Plugins, SayWhyTheyFail) {
  EXPECT_EQ(run("echo answer; exit 1"), kOpening + "failed with 1");
  EXPECT_EQ(run("echo 'token expired: run' >&2; echo 'aws sso login' >&2; exit 255"),
            kOpening + "failed with 255; it said: token expired: run aws sso login");
  EXPECT_EQ(run("kill -KILL $$"), kOpening + "was ended by signal 9");
  const std::string much = run("head -c 3000000 /dev/zero | tr '\\0' x >&2; echo ' the end' >&2; exit 1");
  EXPECT_LT(much.size(), 500U);
  EXPECT_TRUE(much.ends_with("xxx the end")) << "the end counts";
  EXPECT_EQ(run("printf '\\033[31m\\377' >&2; exit 1"), kOpening + "failed with 1; it said: \\x1b[31m\\xff")
      << "nothing that a terminal would obey";
}

TEST_F(Plugins, MayNotBeThere) {
  ExecPlugin made = plugin("");
  made.command = at("absent");
  made.installHint = "Install it with: apt install absent";
  made.path = "users[0].user.exec";
  made.file = "/config";
  made.position = {4, 7};
  EXPECT_EQ(run(made),
            "/config:4:7: users[0].user.exec: the credential plugin \"~/absent\" cannot be started: No such "
            "file or directory; Install it with: apt install absent");
  made = plugin("");
  std::filesystem::permissions(made.command, std::filesystem::perms::owner_read);
  EXPECT_EQ(run(made), kOpening + "cannot be started: Permission denied");
  made.command = folder_;
  EXPECT_EQ(run(made), "the credential plugin \"~\" cannot be started: Permission denied");
}

TEST_F(Plugins, ThatHangAreEndedWithWhatTheyStarted) {
  EXPECT_EQ(run("trap '' TERM INT; sleep 1000 & echo $! > $FOLDER/child; echo $$ > $FOLDER/self; wait",
                {.time = 1s}),
            kOpening + "did not end within 1000 ms; it must work without being asked anything");
  EXPECT_TRUE(isGone(processIn("self")));
  while (!isGone(processIn("child"))) std::this_thread::yield();  // it dies when it is its turn to run
  EXPECT_EQ(
      run("echo please log in >&2; exec >&- 2>&-; exec sleep 1000", {.time = 1s}),
      kOpening +
          "did not end within 1000 ms; it must work without being asked anything; it said: please log in");
}

TEST_F(Plugins, ThatWriteMegabytesAreEnded) {
  const PluginLimits limits{.time = 60s, .answerBytes = 100'000};
  EXPECT_EQ(run("echo $$ > $FOLDER/self; exec yes", limits),
            kOpening + "wrote more than 100000 bytes: that is no credential");
  EXPECT_TRUE(isGone(processIn("self")));
  EXPECT_EQ(run("head -c 100001 /dev/zero", limits),
            kOpening + "wrote more than 100000 bytes: that is no credential");
  EXPECT_EQ(run("head -c 100000 /dev/zero", limits).size(), 100'000U);
}

TEST_F(Plugins, MayLeaveSomebodyBehind) {
  EXPECT_EQ(run("sleep 1000 & echo $! > $FOLDER/child; echo answer", {.time = 60s}), "answer\n")
      << "who holds its output is not waited for";
  ::kill(processIn("child"), SIGKILL);
}

TEST_F(Plugins, AreEndedFromAnotherThread) {
  std::stop_source stop;
  const ExecPlugin made = plugin("echo $$ > $FOLDER/self; exec sleep 1000");
  std::thread stopper([&] {
    processIn("self");
    stop.request_stop();
  });
  EXPECT_EQ(run(made, {.time = 1h}, stop.get_token()), kOpening + "was stopped");
  stopper.join();
  EXPECT_TRUE(isGone(processIn("self")));
}

std::string answered(std::string_view text) {
  ExecPlugin plugin;
  plugin.command = "p";
  plugin.apiVersion = "client.authentication.k8s.io/v1beta1";
  const auto credential = parsePluginAnswer(text, plugin);
  if (!credential) {
    const std::string opening = "the credential plugin \"p\" ";
    EXPECT_TRUE(credential.error().message.starts_with(opening));
    return credential.error().message.substr(opening.size());
  }
  return credential->token + "|" + (credential->client.key.empty() ? "no key" : "key") + "|" +
         (credential->expires ? std::to_string(*credential->expires) : "no end");
}

std::string statusAnswered(const std::string& status) {
  return answered(
      R"({"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1beta1", "status": )" +
      status + "}");
}

std::string pem(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += c == '\n' ? "\\n" : std::string(1, c);
  return "\"" + escaped + "\"";
}

TEST(PluginAnswer, IsATokenOrACertificate) {
  EXPECT_EQ(statusAnswered(R"({"token": "abc"})"), "abc|no key|no end");
  EXPECT_EQ(statusAnswered(R"({"token": "abc", "expirationTimestamp": "2001-09-09T01:46:40Z", "more": [1]})"),
            "abc|no key|1000000000");
  EXPECT_EQ(statusAnswered(R"({"token": "abc", "expirationTimestamp": null})"), "abc|no key|no end");
  EXPECT_EQ(statusAnswered("{\"clientCertificateData\": " + pem(testClient().certificate) +
                           ", \"clientKeyData\": " + pem(testClient().key) + "}"),
            "|key|no end");
}

TEST(PluginAnswer, IsRefusedWithoutRepeatingIt) {
  EXPECT_EQ(answered(""), "wrote no JSON object to its standard output (line 1, column 1)");
  EXPECT_EQ(answered("{\"kind\": \"x\",\n\"token\": s3cr3t"),
            "wrote no JSON object to its standard output (line 2, column 10)");
  const std::string opening = "gave an answer that cannot be used: ";
  EXPECT_EQ(answered("[]"), opening + "the document must be a map, not a list");
  EXPECT_EQ(answered(R"({"kind": "s3cr3t"})"), opening + "kind is not ExecCredential");
  EXPECT_EQ(answered(R"({"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1"})"),
            opening + "apiVersion is not client.authentication.k8s.io/v1beta1, which it was asked for");
  EXPECT_EQ(answered(R"({"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1beta1"})"),
            opening + "status is missing");
  EXPECT_EQ(statusAnswered("{}"), opening + "status has neither a token nor a client certificate");
  EXPECT_EQ(statusAnswered(R"({"token": ["s3cr3t"]})"),
            opening + "status.token must be a string, not a list");
  EXPECT_EQ(statusAnswered(R"({"token": "s3cr3t\r\nX-Injected: 1"})"),
            opening + "status.token holds a space or another character that no token may have");
  EXPECT_EQ(statusAnswered(R"({"token": "abc", "expirationTimestamp": "tomorrow"})"),
            opening + "status.expirationTimestamp is no RFC 3339 time");
  EXPECT_EQ(statusAnswered(R"({"clientKeyData": "s3cr3t"})"),
            opening + "status.clientCertificateData and status.clientKeyData come together");
  EXPECT_EQ(statusAnswered(R"({"clientCertificateData": "x", "clientKeyData": "s3cr3t"})"),
            opening + "status.clientCertificateData holds no PEM certificate (-----BEGIN CERTIFICATE-----)");
  EXPECT_EQ(statusAnswered("{\"clientCertificateData\": " + pem(testClient().certificate) +
                           ", \"clientKeyData\": " + pem(testAuthority().key) + "}"),
            opening + "status.clientKeyData is not the key of the client's certificate");
  EXPECT_EQ(answered(std::string(100'000, '[')),
            "wrote no JSON object to its standard output (line 1, column 65)");
}

TEST(Messages, DoNotQuoteWhatCouldNotBeRead) {
  const auto said = [](const char* message) { return withoutQuotes({message, "", {}}).message; };
  EXPECT_EQ(said("\"a \"b\" c\" is no number"), "what stands here is no number");
  EXPECT_EQ(said("the key \"token\" is in this map twice"), "the key \"token\" is in this map twice");
  EXPECT_EQ(said("nothing quoted"), "nothing quoted");
}

}  // namespace
}  // namespace lastout::client
