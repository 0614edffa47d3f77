// Which file, context, cluster; users are in kubeconfig_user_test.cc.
#include "client/kubeconfig.h"

#include <sys/stat.h>

#include "kube/encoding.h"
#include "tests/client/client_fixture.h"

namespace lastout::client {
namespace {

using Kubeconfigs = ClientFolder;

constexpr const char* kTwoClusters = R"(
apiVersion: v1
kind: Config
preferences: {colors: true}
extensions: [{name: mine, extension: {anything: [1, 2]}}]
current-context: blue
clusters:
- name: blue
  cluster:
    server: https://blue.example.com:6443
    disable-compression: true
    extensions: [{name: theirs, extension: 5}]
- name: green
  cluster: {server: "https://green.example.com/", tls-server-name: inside}
users:
- {name: me, user: {token: abc}}
- {name: nobody}
contexts:
- {name: blue, context: {cluster: blue, user: me, namespace: demo}}
- {name: green, context: {cluster: green, user: nobody}}
- {name: green-without-user, context: {cluster: green}}
)";

TEST_F(Kubeconfigs, ConnectAsTheContextSays) {
  const std::string file = write("config", kTwoClusters);
  const auto blue = loadKubeconfig({file});
  ASSERT_TRUE(blue) << errorsOf(blue);
  EXPECT_EQ(toString(blue->server), "https://blue.example.com:6443");
  EXPECT_EQ(blue->serverName, "blue.example.com");
  EXPECT_EQ(blue->authentication.token, "abc");
  EXPECT_EQ(blue->defaultNamespace, "demo");
  EXPECT_TRUE(blue->warnings.empty());
  for (const char* context : {"green", "green-without-user"}) {
    const auto green = loadKubeconfig({file}, context);
    ASSERT_TRUE(green) << errorsOf(green);
    EXPECT_EQ(toString(green->server), "https://green.example.com:443");
    EXPECT_EQ(green->serverName, "inside");
    EXPECT_EQ(green->authentication.token, "");
  }
}

TEST_F(Kubeconfigs, OfLastoutUpAreRead) {
  const std::string text =
      simulator::kubeconfig("https://127.0.0.1:6443", testAuthority().certificate, {testClient(), ""});
  const auto connection = loadKubeconfig({write("config", text)});
  ASSERT_TRUE(connection) << errorsOf(connection);
  EXPECT_EQ(connection->authority, testAuthority().certificate);
  EXPECT_EQ(connection->authentication.client, (KeyPair{testClient().certificate, testClient().key}));
}

TEST_F(Kubeconfigs, SayWhatCouldHaveBeenMeant) {
  const std::string file = write("config", kTwoClusters);
  EXPECT_EQ(errorsOf(loadKubeconfig({file}, "gren")),
            "~/config: there is no context \"gren\"; did you mean \"green\"?");
  EXPECT_EQ(errorsOf(loadKubeconfig({file}, "production")),
            "~/config: there is no context \"production\"; there are blue, green, green-without-user");
  EXPECT_EQ(errorsOf(loadKubeconfig({write("empty", "")})),
            "~/empty: the kubeconfig has no current-context; choose a context; there are none");
  EXPECT_EQ(errorsOf(loadKubeconfig({write("lost", R"(
current-context: x
contexts: [{name: x, context: {cluster: gone, user: away}}, {name: y, context: {}}]
)")})),
            "~/lost:3:41: contexts[0].context.cluster: there is no cluster \"gone\"; there are none\n"
            "~/lost:3:53: contexts[0].context.user: there is no user \"away\"; there are none");
  EXPECT_EQ(errorsOf(loadKubeconfig({at("lost")}, "y")),
            "~/lost:3:80: contexts[1].context.cluster is missing");
}

TEST_F(Kubeconfigs, AreJoinedAsKubectlJoinsThem) {
  const std::string first = write("first", R"(
current-context: here
users: [{name: red, user: {username: from-first}}]
)");
  const std::string second = write("second", R"(
current-context: elsewhere
users: [{name: red, user: {username: from-second, password: p}}]
clusters: [{name: c, cluster: {server: "https://c"}}]
contexts: [{name: here, context: {cluster: c, user: red}}]
)");
  const auto joined = loadKubeconfig({at("absent"), first, second});
  ASSERT_TRUE(joined) << errorsOf(joined);
  EXPECT_EQ(joined->authentication.username, "from-first");
  EXPECT_EQ(joined->authentication.password, "") << "of one name, only the first file counts";
  const auto other = loadKubeconfig({second, first}, "here");
  EXPECT_EQ(other->authentication.username, "from-second");
}

TEST_F(Kubeconfigs, MustBeThereAndReadable) {
  EXPECT_EQ(errorsOf(loadKubeconfig({at("a"), at("b")})), "there is no such kubeconfig file: ~/a, ~/b");
  EXPECT_EQ(errorsOf(loadKubeconfig({})), "no kubeconfig is named");
  EXPECT_EQ(errorsOf(loadKubeconfig({folder_})), "~: is a folder, not a file");
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_EQ(errorsOf(loadKubeconfig({at("pipe")})), "~/pipe: is no regular file");
  const std::string good = write("good", kTwoClusters);
  EXPECT_EQ(errorsOf(loadKubeconfig({good, write("bad", "clusters: {}")})),
            "~/bad:1:11: clusters must be a list, not a map")
      << "a further file that is broken is not passed over";
}

TEST_F(Kubeconfigs, FindFilesBesideThemselves) {
  write("home/pki/ca.crt", testAuthority().certificate);
  write("home/pki/me.crt", testClient().certificate);
  write("me.key", testClient().key);
  const auto connection = loadKubeconfig(
      {write("home/config", kubeconfigWith("server: \"https://c\", certificate-authority: pki/ca.crt",
                                           "client-certificate: ./pki/me.crt, client-key: " + at("me.key") +
                                               ", tokenFile: ../token"))});
  ASSERT_TRUE(connection) << errorsOf(connection);
  EXPECT_EQ(connection->authority, testAuthority().certificate);
  EXPECT_EQ(connection->authentication.client.key, testClient().key);
  EXPECT_EQ(connection->authentication.tokenFile, at("home/../token"));
}

TEST(Kubeconfig, IsReadStrictlyWhereItIsKnown) {
  const std::pair<const char*, const char*> bad[] = {
      {"[]", "f:1:1: the document must be a map, not a list"},
      {"hello", "f:1:1: the document must be a map, not a string"},
      {"a: 1\n---\nb: 2", "f:3:1: a kubeconfig is one document; a second one begins here"},
      {"kind: Pod", "f:1:7: kind must be one of Config, not \"Pod\""},
      {"apiVersion: 1", "f:1:13: apiVersion must be a string, not an integer: put it in quotes"},
      {"apiVersion: v2", "f:1:13: apiVersion must be one of v1, not \"v2\"; did you mean \"v1\"?"},
      {"users: 5", "f:1:8: users must be a list, not an integer"},
      {"users: [5]", "f:1:9: users[0] must be a map, not an integer"},
      {"users: [{user: {}}]", "f:1:9: users[0].name is missing"},
      {"users: [{name: x, user: []}]", "f:1:25: users[0].user must be a map, not a list"},
      {"users: [{name: x}, {name: x}]", "f:1:27: users[1].name: \"x\" is in this list twice"},
      {"current-context: [a]", "f:1:18: current-context must be a string, not a list"},
      {"users: []\nusers: []", "f:2:1: the key \"users\" is in this map twice; the first is in line 1"},
      {"users: &a [*a]",
       "f:1:12: this alias stands inside the value of its own anchor, which would then have no end"},
      {"users: [", "f:1:9: this is no valid YAML: a \"[\" is not closed, or its items lack a \",\" here"},
  };
  for (const auto& [text, error] : bad) {
    const auto config = parseKubeconfig(text, "f");
    ASSERT_FALSE(config) << text;
    EXPECT_EQ(wordsOf(config.error()), error);
  }
}

TEST(Kubeconfig, OfAnotherContextMayBeBroken) {
  const auto config = parseKubeconfig(R"(
current-context: good
clusters: [{name: bad, cluster: {server: 5}}, {name: good, cluster: {server: "https://good"}}]
contexts: [{name: bad, context: {cluster: bad}}, {name: good, context: {cluster: good}}]
)",
                                      "f");
  ASSERT_TRUE(config);
  EXPECT_TRUE(connectionOf(*config));
  EXPECT_EQ(wordsOf(connectionOf(*config, "bad").error()),
            "f:3:42: clusters[0].cluster.server must be a string, not an integer: put it in quotes");
}

TEST(KubeconfigCluster, IsChecked) {
  const std::string data = kube::toBase64(testAuthority().certificate);
  const std::string notPem = kube::toBase64("hello");
  std::string broken = testAuthority().certificate;
  broken.replace(broken.find('\n') + 1, 8, "AAAAAAAA");
  const std::string server = R"(server: "https://c", )";
  const auto error = [](const std::string& cluster) {
    const auto connection = connectionWith(cluster);
    return connection ? "fine" : withoutPlaces(wordsOf(connection.error()), "config:3:", "clusters[0].");
  };
  EXPECT_EQ(error(""), "cluster.server is missing");
  EXPECT_EQ(error("server: c"),
            "cluster.server is no server's address: it begins "
            "with neither https:// nor http://; write it as https://HOST:PORT");
  EXPECT_EQ(error(server + "certificate-authority-data: " + data), "fine");
  EXPECT_EQ(error(server + "certificate-authority-data: \"***\""),
            "cluster.certificate-authority-data is no Base64");
  EXPECT_EQ(error(server + "certificate-authority-data: " + notPem),
            "cluster.certificate-authority-data holds no PEM certificate "
            "(-----BEGIN CERTIFICATE-----)");
  EXPECT_EQ(error(server + "certificate-authority-data: " + kube::toBase64(broken)),
            "cluster.certificate-authority-data holds a certificate that cannot be read");
  EXPECT_EQ(
      error(server + "certificate-authority-data: " + kube::toBase64(testAuthority().certificate + broken)),
      "cluster.certificate-authority-data holds a certificate that cannot be read");
  EXPECT_EQ(error(server + "certificate-authority: ca.crt"),
            "cluster.certificate-authority: ca.crt: is not there");
  EXPECT_EQ(error(server + "certificate-authority: ca.crt, certificate-authority-data: " + data),
            "cluster.certificate-authority and certificate-authority-data are both "
            "there; remove one");
  EXPECT_EQ(error(server + "certificate-authority-data: [" + data + "]"),
            "cluster.certificate-authority-data must be a string, not a list");
  EXPECT_EQ(error(server + R"(certificate-authority: "a\0b")"),
            "cluster.certificate-authority may not hold the character NUL");
  EXPECT_EQ(error(server + R"(tls-server-name: "a b")"), "cluster.tls-server-name is no host's name");
  EXPECT_EQ(error(server + "insecure-skip-tls-verify: \"yes\""),
            "cluster.insecure-skip-tls-verify must be true or false, not a string");
  EXPECT_EQ(error(server + "insecure-skip-tls-verify: true, certificate-authority-data: " + data),
            "cluster.insecure-skip-tls-verify contradicts the certificate-authority "
            "beside it; remove one");
  EXPECT_TRUE(error(server + "proxy-url: \"http://p:3128\"").starts_with("cluster.proxy-url cannot be used"));
}

TEST_F(Kubeconfigs, DoNotReadAnAuthorityOfAnySize) {
  write("ca.crt", "");
  std::filesystem::resize_file(at("ca.crt"), uintmax_t{1} << 40);  // sparse: takes no space
  const std::string file =
      write("config", kubeconfigWith("server: \"https://c\", certificate-authority: ca.crt"));
  EXPECT_EQ(errorsOf(loadKubeconfig({file})),
            "~/config:3:76: clusters[0].cluster.certificate-authority: ~/ca.crt: has 1099511627776 bytes; at "
            "most 1048576 are read");
  write("ca.crt", "");
  EXPECT_EQ(errorsOf(loadKubeconfig({file})),
            "~/config:3:76: clusters[0].cluster.certificate-authority is an empty file");
}

TEST(KubeconfigCluster, WarnsLoudlyOfWhatIsUnsafe) {
  const auto insecure = connectionWith("server: \"https://c\", insecure-skip-tls-verify: true");
  ASSERT_TRUE(insecure);
  EXPECT_TRUE(insecure->insecure);
  ASSERT_EQ(insecure->warnings.size(), 1U);
  EXPECT_TRUE(
      insecure->warnings[0].starts_with("config:3:79: clusters[0].cluster.insecure-skip-tls-verify: the "
                                        "certificate of https://c:443 is NOT checked."))
      << insecure->warnings[0];

  const auto plain = connectionWith("server: \"http://c\"");
  ASSERT_EQ(plain->warnings.size(), 1U);
  EXPECT_TRUE(plain->warnings[0].starts_with(
      "config:3:40: clusters[0].cluster.server: http://c:80 is NOT encrypted."))
      << plain->warnings[0];
  EXPECT_TRUE(connectionWith("server: \"http://127.0.0.1:8001\"")->warnings.empty())
      << "nobody stands between";
  EXPECT_FALSE(connectionWith("server: \"https://c\"")->insecure);
}

}  // namespace
}  // namespace lastout::client
