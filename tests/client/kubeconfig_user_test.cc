// How the user of a kubeconfig authenticates.
#include <nlohmann/json.hpp>

#include "client/kubeconfig.h"
#include "kube/encoding.h"
#include "tests/client/client_fixture.h"

namespace lastout::client {
namespace {

constexpr const char* kServer = "server: \"https://c\"";

std::string userError(const std::string& user) {
  const auto connection = connectionWith(kServer, user);
  return connection ? "fine" : withoutPlaces(wordsOf(connection.error()), "config:4:", "users[0].");
}

Authentication authenticationOf(const std::string& user) {
  return connectionWith(kServer, user)->authentication;
}

TEST(KubeconfigUser, HasOneWayToSayWhoItIs) {
  EXPECT_EQ(authenticationOf("token: abc").token, "abc");
  EXPECT_EQ(authenticationOf("tokenFile: /run/token, token: old").tokenFile, "/run/token");
  const Authentication basic = authenticationOf("username: me, password: \"\"");
  EXPECT_EQ(basic.username, "me");
  EXPECT_EQ(userError("token: abc, username: me"),
            "user has more than one of token, username and exec; keep one of them");
  EXPECT_EQ(userError("password: x"), "user.password needs a username beside it");
  EXPECT_EQ(userError("username: \"a:b\""), "user.username may not hold a \":\"");
  EXPECT_EQ(userError("auth-provider: {name: gcp}"),
            "user.auth-provider cannot be used: Kubernetes has removed it; use an exec "
            "plugin instead");
}

TEST(KubeconfigUser, HasATokenThatAHeaderCanCarry) {
  EXPECT_EQ(userError("token: \"\""), "fine");
  EXPECT_EQ(userError("token: 123456"), "user.token must be a string, not an integer: put it in quotes");
  for (const char* token : {R"("abc\r\nX-Injected: 1")", R"("a b")", R"("abc\n")", R"("a\0")", R"("é")"})
    EXPECT_EQ(userError("token: " + std::string(token)),
              "user.token holds a space or another character that no token may have");
  EXPECT_EQ(userError("tokenFile: \"a\\0b\""), "user.tokenFile may not hold the character NUL");
}

TEST(KubeconfigUser, HasACertificateAndItsKey) {
  const std::string certificate = "client-certificate-data: " + kube::toBase64(testClient().certificate);
  const auto key = [](const std::string& pem) { return "client-key-data: " + kube::toBase64(pem); };
  EXPECT_EQ(userError(certificate + ", " + key(testClient().key)), "fine");
  EXPECT_EQ(userError(certificate), "user.client-certificate-data needs a client-key beside it");
  EXPECT_EQ(userError(key(testClient().key)), "user.client-key-data needs a client-certificate beside it");
  EXPECT_EQ(userError(key(testAuthority().key) + ", " + certificate),
            "user.client-key-data is not the key of the client's certificate");
  EXPECT_EQ(userError(key("hello") + ", " + certificate),
            "user.client-key-data holds no PEM private key that can be read");
  EXPECT_EQ(userError("client-certificate-data: aGVsbG8=, " + key(testClient().key)),
            "user.client-certificate-data holds no PEM certificate (-----BEGIN "
            "CERTIFICATE-----)");
  EXPECT_EQ(userError("client-certificate: me.crt, " + key(testClient().key)),
            "user.client-certificate: me.crt: is not there");
}

// Made with: openssl genpkey -algorithm ED25519 -aes256 -pass pass:secret
constexpr const char* kEncryptedKey = R"(-----BEGIN ENCRYPTED PRIVATE KEY-----
MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhQMso7A7HngAICCAAw
DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEEX3Wbqe4DSMFxV073v/r2sEQOqv
IZ/Wozae6g0Hv562BpKLclQs/Y5Hlo5SeVsvpob6cO66UEqwedAA4J+VQfzQcIZg
Zt85+PgRTDZTabPKi8Q=
-----END ENCRYPTED PRIVATE KEY-----
)";

TEST(KubeconfigUser, IsNotAskedForAPassphrase) {
  const std::string certificate = "client-certificate-data: " + kube::toBase64(testClient().certificate);
  EXPECT_EQ(userError("client-key-data: " + kube::toBase64(kEncryptedKey) + ", " + certificate),
            "user.client-key-data is encrypted; only keys without a passphrase can be used");
}

// https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation
TEST(KubeconfigUser, MayActAsSomebodyElse) {
  const auto connection = connectionWith(kServer,
                                         "token: t, as: jane, as-uid: \"5\", as-groups: [devs, admins], "
                                         "as-user-extra: {Example.com/Scope: [a, b]}");
  ASSERT_TRUE(connection) << wordsOf(connection.error());
  const std::vector<Header> expected = {{"Impersonate-User", "jane"},
                                        {"Impersonate-Uid", "5"},
                                        {"Impersonate-Group", "devs"},
                                        {"Impersonate-Group", "admins"},
                                        {"Impersonate-Extra-Example.com%2FScope", "a"},
                                        {"Impersonate-Extra-Example.com%2FScope", "b"}};
  EXPECT_EQ(connection->headers, expected);
  EXPECT_EQ(userError("as-groups: [devs]"),
            "user.as is missing: as-uid, as-groups and as-user-extra need it");
  EXPECT_EQ(userError("as: \"jane\\r\\nX-Injected: 1\""), "user.as holds what no header may have");
  EXPECT_EQ(userError("as: jane, as-groups: [\"a\\nb\"]"), "user.as-groups holds what no header may have");
}

constexpr const char* kPlugin =
    "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: ";

TEST(KubeconfigUser, MayAskAPlugin) {
  const Authentication asked = authenticationOf(
      std::string(kPlugin) +
      "aws, args: [eks, get-token], env: [{name: AWS_PROFILE, value: x}], installHint: get it}");
  ASSERT_TRUE(asked.plugin);
  EXPECT_EQ(asked.plugin->command, "aws") << "looked for in PATH";
  EXPECT_EQ(asked.plugin->arguments, (std::vector<std::string>{"eks", "get-token"}));
  EXPECT_EQ(asked.plugin->environment,
            (std::vector<std::pair<std::string, std::string>>{{"AWS_PROFILE", "x"}}));
  EXPECT_EQ(asked.plugin->installHint, "get it");
  EXPECT_EQ(
      nlohmann::json::parse(asked.plugin->info),
      nlohmann::json::parse(R"({"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1",
                                      "spec": {"interactive": false}})"));
}

TEST(KubeconfigUser, HasAPluginBesideItsFile) {
  const auto command = [](const std::string& file, const std::string& path) {
    const auto config = parseKubeconfig(kubeconfigWith(kServer, kPlugin + path + "}"), file);
    return connectionOf(*config)->authentication.plugin->command;
  };
  EXPECT_EQ(command("/home/me/.kube/config", "bin/login"), "/home/me/.kube/bin/login");
  EXPECT_EQ(command("/home/me/.kube/config", "/bin/login"), "/bin/login");
  EXPECT_EQ(command("/home/me/.kube/config", "login"), "login");
}

TEST(KubeconfigUser, TellsItsPluginOfTheClusterWhenItIsToBeTold) {
  const std::string cluster = std::string(kServer) +
                              ", tls-server-name: inside, certificate-authority-data: " +
                              kube::toBase64(testAuthority().certificate) +
                              ", extensions: [{name: other, extension: 1}, {name: "
                              "client.authentication.k8s.io/exec, extension: {handlers: x}}]";
  const auto connection = connectionWith(cluster, std::string(kPlugin) + "p, provideClusterInfo: true}");
  ASSERT_TRUE(connection) << wordsOf(connection.error());
  const auto info = nlohmann::json::parse(connection->authentication.plugin->info);
  const nlohmann::json expected = {
      {"server", "https://c"},
      {"tls-server-name", "inside"},
      {"certificate-authority-data", kube::toBase64(testAuthority().certificate)},
      {"config", {{"handlers", "x"}}}};
  EXPECT_EQ(info["spec"]["cluster"], expected);
}

TEST(KubeconfigUser, CannotUseEveryPlugin) {
  EXPECT_EQ(userError("exec: {}"), "user.exec.apiVersion is missing\nuser.exec.command is missing");
  EXPECT_EQ(userError("exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: p}"),
            "user.exec.apiVersion must be one of client.authentication.k8s.io/v1, "
            "client.authentication.k8s.io/v1beta1, not \"client.authentication.k8s.io/v1alpha1\"; did you "
            "mean \"client.authentication.k8s.io/v1beta1\"?");
  EXPECT_EQ(
      userError("exec: {apiVersion: client.authentication.k8s.io/v1, command: p, interactiveMode: Always}"),
      "user.exec.interactiveMode is Always: nobody sits at a terminal here; use a plugin "
      "that needs none");
  for (const char* bad : {R"("p\0q"})", R"(p, args: ["a\0b"]})", R"(p, env: [{name: A, value: "a\0b"}]})",
                          R"(p, env: [{name: "A=B", value: x}]})", R"(p, env: [{value: x}]})", "p, args: a}",
                          "p, args: [5]}", "p, env: {A: x}}", "[p]}"})
    EXPECT_NE(userError(kPlugin + std::string(bad)), "fine") << bad;
  EXPECT_NE(userError(std::string(kPlugin) + "p}, token: abc"), "fine");
}

// Whatever is wrong with a user, what it keeps secret is in no message.
TEST(KubeconfigUser, KeepsItsSecrets) {
  const std::string secret = "s3cr3t";
  const std::vector<std::string> users = {R"(token: "s3cr3t\n")",
                                          "token: {s3cr3t: x}",
                                          "token: [s3cr3t]",
                                          "token: !!int s3cr3t",
                                          "token: s3cr3t, username: me, password: s3cr3t",
                                          "password: s3cr3t",
                                          "client-key-data: s3cr3t",
                                          "client-key-data: " + kube::toBase64("s3cr3t"),
                                          "token: *s3cr3t",
                                          "token: &s3cr3t [x]",
                                          "token: !s3cr3t x",
                                          "token: \"s3cr3t",
                                          "token: s3cr3t]",
                                          std::string(kPlugin) + "p, env: [{name: T, value: [s3cr3t]}]}",
                                          "username: \"s3cr3t:x\""};
  for (const std::string& user : users) {
    const std::string error = userError(user);
    EXPECT_NE(error, "fine") << user;
    EXPECT_EQ(error.find(secret), std::string::npos) << error;
  }
  const auto number = parseKubeconfig("users: [{name: x, user: {token: 1e999}}]", "f");
  ASSERT_FALSE(number);
  EXPECT_EQ(wordsOf(number.error()).find("1e999"), std::string::npos) << wordsOf(number.error());
}

}  // namespace
}  // namespace lastout::client
