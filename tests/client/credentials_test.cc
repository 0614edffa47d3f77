#include "client/credentials.h"

#include <atomic>
#include <thread>

#include "tests/client/client_fixture.h"

namespace lastout::client {
namespace {

constexpr int64_t kNow = 1'000'000'000;  // 2001-09-09T01:46:40Z

std::string headerOf(const kube::Result<Identity>& identity) {
  return identity ? identity->authorization : toString(identity.error());
}

Authentication byToken(const std::string& token, const std::string& file = "") {
  Authentication authentication;
  authentication.token = token;
  authentication.tokenFile = file;
  return authentication;
}

Authentication byCertificate(KeyPair pair) {
  Authentication authentication;
  authentication.client = std::move(pair);
  return authentication;
}

Authentication byPlugin(const std::string& command, KeyPair pair = {}) {
  Authentication authentication = byCertificate(std::move(pair));
  authentication.plugin.emplace();
  authentication.plugin->command = command;
  authentication.plugin->apiVersion = "v";
  return authentication;
}

TEST(Credentials, AreWhatTheConnectionSays) {
  EXPECT_EQ(headerOf(Credentials(Authentication{}).at(kNow)), "");
  EXPECT_EQ(headerOf(Credentials(byToken("abc")).at(kNow)), "Bearer abc");
  // RFC 7617, section 2.
  Authentication basic;
  basic.username = "Aladdin";
  basic.password = "open sesame";
  EXPECT_EQ(headerOf(Credentials(basic).at(kNow)), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
  EXPECT_EQ(Credentials(byCertificate({"CERTIFICATE", "KEY"})).at(kNow)->client,
            (KeyPair{"CERTIFICATE", "KEY"}));
}

class TokenFile : public ClientFolder {
 protected:
  void put(std::string_view token) const { write("token", token); }
  std::string header(int64_t now) { return shortened(headerOf(credentials().at(now))); }
  Credentials& credentials() {
    if (!credentials_) credentials_.emplace(byToken(fallback_, at("token")));
    return *credentials_;
  }
  std::string fallback_;
  std::optional<Credentials> credentials_;
};

TEST_F(TokenFile, IsReadAgainAsItRotates) {
  put("  first\n");
  EXPECT_EQ(header(kNow), "Bearer first");
  put("second");
  EXPECT_EQ(header(kNow + 9), "Bearer first") << "not for every request";
  EXPECT_EQ(header(kNow + 10), "Bearer second");
  put("third");
  EXPECT_EQ(header(kNow - 3600), "Bearer third") << "the clock was put back";
}

TEST_F(TokenFile, IsReadAtOnceWhenItsTokenIsRefused) {
  put("first");
  const Identity first = credentials().at(kNow).value();
  put("second");
  credentials().refused(first);
  EXPECT_EQ(header(kNow), "Bearer second");
  put("third");
  credentials().refused(first);
  EXPECT_EQ(header(kNow), "Bearer second") << "it was the first one that was refused";
}

TEST_F(TokenFile, MayBeAwayForAMoment) {
  EXPECT_EQ(header(kNow), "~/token: cannot be read: No such file or directory");
  put("first");
  EXPECT_EQ(header(kNow), "Bearer first");
  remove("token");
  EXPECT_EQ(header(kNow + 60), "Bearer first");
  put("");
  EXPECT_EQ(header(kNow + 120), "Bearer first");
  credentials().refused(credentials().at(kNow + 120).value());
  EXPECT_EQ(header(kNow + 120), "~/token: the token in it is empty");
}

TEST_F(TokenFile, StandsBehindATokenBesideItOnlyUntilItIsThere) {
  fallback_ = "inline";
  EXPECT_EQ(header(kNow), "Bearer inline");
  put("from-file");
  EXPECT_EQ(header(kNow), "Bearer from-file");
}

TEST_F(TokenFile, HoldsWhatAHeaderCanCarry) {
  put("s3cr3t\r\nX-Injected: 1");
  EXPECT_EQ(header(kNow),
            "~/token: the token in it holds a space or another character that no token may have");
  put(std::string(70'000, 'x'));
  EXPECT_EQ(header(kNow), "~/token: has 70000 bytes; at most 65536 are read");
}

// A plugin that answers what `next` says, and counts.
class AskedPlugin : public ::testing::Test {
 protected:
  static std::string answer(const std::string& token, const std::string& more = "") {
    return R"({"kind": "ExecCredential", "apiVersion": "v", "status": {"token": ")" + token + "\"" + more +
           "}}";
  }
  static std::string until(const std::string& time) { return ", \"expirationTimestamp\": \"" + time + "\""; }
  std::string header(int64_t now) { return headerOf(credentials_.at(now)); }

  kube::Result<std::string> next_ = answer("first");
  std::atomic<int> asked_ = 0;
  Credentials credentials_{byPlugin("p"), [this](const ExecPlugin&, const std::stop_token&) {
                             ++asked_;
                             return next_;
                           }};
};

TEST_F(AskedPlugin, IsAskedOnceWhenItsCredentialDoesNotExpire) {
  EXPECT_EQ(header(kNow), "Bearer first");
  EXPECT_EQ(header(kNow + 1'000'000), "Bearer first");
  EXPECT_EQ(asked_, 1);
}

TEST_F(AskedPlugin, IsAskedAgainBeforeItsCredentialExpires) {
  next_ = answer("first", until("2001-09-09T01:56:40Z"));  // in 600 s
  EXPECT_EQ(header(kNow), "Bearer first");
  next_ = answer("second", until("2001-09-09T01:56:52Z"));  // 12 s after that
  EXPECT_EQ(header(kNow + 589), "Bearer first");
  EXPECT_EQ(header(kNow + 590), "Bearer second");
  next_ = answer("third");
  EXPECT_EQ(header(kNow + 606), "Bearer second");
  EXPECT_EQ(header(kNow + 607), "Bearer third") << "a quarter of its 22 s before";
  EXPECT_EQ(asked_, 3);
}

TEST_F(AskedPlugin, MayGiveWhatLivesShortly) {
  next_ = answer("short", until("2001-09-09T01:46:48Z"));  // 8 s
  EXPECT_EQ(header(kNow), "Bearer short");
  EXPECT_EQ(header(kNow + 5), "Bearer short");
  EXPECT_EQ(asked_, 1) << "not asked for every request";
}

TEST_F(AskedPlugin, IsNotAskedForEveryRequestWhenItFails) {
  next_ = tl::unexpected(kube::Error{"no network", "", {}});
  EXPECT_EQ(header(kNow), "no network");
  EXPECT_EQ(header(kNow + 4), "no network");
  EXPECT_EQ(asked_, 1);
  next_ = answer("back");
  EXPECT_EQ(header(kNow + 5), "Bearer back");
}

TEST_F(AskedPlugin, MayFailAsLongAsItsCredentialLives) {
  next_ = answer("first", until("2001-09-09T01:56:40Z"));
  EXPECT_EQ(header(kNow), "Bearer first");
  next_ = tl::unexpected(kube::Error{"no network", "", {}});
  EXPECT_EQ(header(kNow + 599), "Bearer first");
  EXPECT_EQ(header(kNow + 600), "no network");
  EXPECT_EQ(asked_, 2);
}

TEST_F(AskedPlugin, MayNotGiveWhatHasExpired) {
  next_ = answer("old", until("2001-09-09T01:46:40Z"));
  EXPECT_EQ(header(kNow),
            "the credential plugin \"p\" gave a credential that has expired already; is this machine's clock "
            "right?");
  next_ = answer("far", until("9999-12-31T23:59:59Z"));
  EXPECT_EQ(header(kNow + 5), "Bearer far");
  EXPECT_EQ(header(kNow + 1'000'000), "Bearer far");
}

TEST_F(AskedPlugin, IsAskedOnceForARefusalThatManyHeard) {
  const Identity first = credentials_.at(kNow).value();
  next_ = answer("second");
  for (int watch = 0; watch < 10; ++watch) {
    credentials_.refused(first);
    EXPECT_EQ(header(kNow), "Bearer second");
  }
  EXPECT_EQ(asked_, 2);
}

TEST_F(AskedPlugin, IsAskedOnceByManyThreads) {
  std::vector<std::thread> threads;
  threads.reserve(8);
  std::atomic<int> right = 0;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] { right += headerOf(credentials_.at(kNow)) == "Bearer first" ? 1 : 0; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 8);
  EXPECT_EQ(asked_, 1);
}

TEST_F(AskedPlugin, IsNotAskedAfterTheEnd) {
  credentials_.stop();
  EXPECT_EQ(header(kNow), "the credential plugin \"p\" is not asked any more");
  EXPECT_EQ(asked_, 0);
}

TEST(Credentials, OfAPluginMayHaveACertificateOfTheirOwn) {
  const auto escaped = [](const std::string& pem) {
    std::string text;
    for (const char c : pem) text += c == '\n' ? "\\n" : std::string(1, c);
    return text;
  };
  const std::string text =
      R"({"kind": "ExecCredential", "apiVersion": "v", "status": {"clientCertificateData": ")" +
      escaped(testClient().certificate) + R"(", "clientKeyData": ")" + escaped(testClient().key) + "\"}}";
  Credentials credentials(byPlugin("p", {"OLD", "KEY"}),
                          [&](const ExecPlugin&, const std::stop_token&) { return text; });
  const auto identity = credentials.at(kNow);
  ASSERT_TRUE(identity) << toString(identity.error());
  EXPECT_EQ(identity->client, (KeyPair{testClient().certificate, testClient().key}));
  EXPECT_EQ(identity->authorization, "");
}

using RealPlugin = ClientFolder;

TEST_F(RealPlugin, GivesTheTokenOfTheKubeconfigsUser) {
  // Each time another token.
  script("bin/login", R"sh(echo run >> "$COUNT"
printf '{"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "status": {"token": "%s-%s"}}' \
  "$1" "$(wc -l < "$COUNT" | tr -d ' ')")sh");
  const std::string user =
      "exec: {apiVersion: client.authentication.k8s.io/v1, command: ./bin/login, args: [token], env: [{name: "
      "COUNT, value: " +
      at("count") + "}]}";
  const auto connection = loadKubeconfig({write("config", kubeconfigWith("server: \"https://c\"", user))});
  ASSERT_TRUE(connection) << errorsOf(connection);
  Credentials credentials(connection->authentication);
  const auto first = credentials.at(kNow);
  ASSERT_TRUE(first) << errorOf(first);
  EXPECT_EQ(first->authorization, "Bearer token-1");
  EXPECT_EQ(headerOf(credentials.at(kNow + 3600)), "Bearer token-1");
  credentials.refused(*first);
  EXPECT_EQ(headerOf(credentials.at(kNow + 3600)), "Bearer token-2");
}

TEST_F(RealPlugin, IsEndedByStop) {
  const std::string command = script("hang", "echo $$ > " + at("started") + "; exec sleep 1000");
  Credentials credentials(byPlugin(command));
  std::thread stopper([&] {
    while (read("started").empty()) std::this_thread::yield();
    credentials.stop();
  });
  EXPECT_EQ(shortened(headerOf(credentials.at(kNow))), "the credential plugin \"~/hang\" was stopped");
  stopper.join();
}

}  // namespace
}  // namespace lastout::client
