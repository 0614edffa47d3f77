// Which of several ways to a cluster is taken, and that of a Pod.
#include "client/find_connection.h"

#include "client/credentials.h"
#include "tests/client/client_fixture.h"

namespace lastout::client {
namespace {

class Places : public ClientFolder {
 protected:
  std::string config(const std::string& name) const {
    return write(
        name, "current-context: a\nclusters: [{name: c, cluster: {server: \"https://" + name +
                  "\"}}]\ncontexts: [{name: a, context: {cluster: c}}, {name: b, context: {cluster: c}}]\n");
  }
  void mount() const {
    write("pod/ca.crt", testAuthority().certificate);
    write("pod/token", "pod-token\n");
    write("pod/namespace", "lastout-system\n");
  }
  // The server that is found, or why none is.
  std::string found(const ConnectionChoice& choice, const Environment& environment) const {
    const auto connection = findConnection(choice, environment, at("pod"));
    return connection ? toString(connection->server) : errorsOf(connection);
  }
  const Environment inPod_ = {{"KUBERNETES_SERVICE_HOST", "10.96.0.1"}, {"KUBERNETES_SERVICE_PORT", "443"}};
};

TEST_F(Places, AreLookedAtInOrder) {
  mount();
  std::filesystem::create_directories(at(".kube"));
  std::filesystem::rename(config("usual"), at(".kube/config"));
  Environment environment = inPod_;
  environment["HOME"] = folder_;
  environment["KUBECONFIG"] = ":" + at("absent") + ":" + config("named") + ":" + config("second");
  EXPECT_EQ(found({config("given"), ""}, environment), "https://given:443");
  EXPECT_EQ(found({}, environment), "https://named:443");
  environment["KUBECONFIG"] = "";
  EXPECT_EQ(found({}, environment), "https://10.96.0.1:443");
  EXPECT_EQ(found({"", "b"}, environment), "https://usual:443") << "a Pod has no contexts";
  environment.erase("KUBERNETES_SERVICE_PORT");
  EXPECT_EQ(found({}, environment), "https://usual:443");
  environment.erase("HOME");
  EXPECT_EQ(
      found({}, environment),
      "no cluster is named: give --kubeconfig, set KUBECONFIG, have a ~/.kube/config, or run in a cluster");
}

TEST_F(Places, AreNotExchangedForOthersWhenTheyAreBroken) {
  mount();
  Environment environment = inPod_;
  environment["KUBECONFIG"] = at("absent");
  EXPECT_EQ(found({}, environment), "there is no such kubeconfig file: ~/absent");
  EXPECT_EQ(found({at("gone"), ""}, environment), "there is no such kubeconfig file: ~/gone");
  remove("pod");
  environment = inPod_;
  EXPECT_EQ(found({}, environment), "~/pod/ca.crt: cannot be read: No such file or directory");
}

TEST_F(Places, GiveAPodWhatItNeeds) {
  mount();
  const auto connection = inClusterConnection(inPod_, at("pod"));
  ASSERT_TRUE(connection) << errorOf(connection);
  EXPECT_EQ(connection->authority, testAuthority().certificate);
  EXPECT_EQ(connection->serverName, "10.96.0.1");
  EXPECT_EQ(connection->defaultNamespace, "lastout-system");
  EXPECT_TRUE(connection->inCluster);
  EXPECT_FALSE(connection->insecure);
  Credentials credentials(connection->authentication);
  EXPECT_EQ(credentials.at(0)->authorization, "Bearer pod-token");
  write("pod/token", "rotated");
  EXPECT_EQ(credentials.at(60)->authorization, "Bearer rotated");
}

TEST_F(Places, OfAPodAreChecked) {
  mount();
  const auto error = [&](const Environment& environment) {
    return errorOf(inClusterConnection(environment, at("pod")));
  };
  EXPECT_EQ(error({}),
            "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set, as they are in a Pod; name a "
            "kubeconfig");
  EXPECT_EQ(error({{"KUBERNETES_SERVICE_HOST", "fd00::1"}, {"KUBERNETES_SERVICE_PORT", "443"}}), "fine");
  EXPECT_EQ(
      error({{"KUBERNETES_SERVICE_HOST", "a/b"}, {"KUBERNETES_SERVICE_PORT", "443"}}),
      "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT: \"https://a/b:443\" is no server's address");
  EXPECT_EQ(
      error({{"KUBERNETES_SERVICE_HOST", "a"}, {"KUBERNETES_SERVICE_PORT", "tcp://1.2.3.4:5"}}),
      "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT: \"https://a:tcp://1.2.3.4:5\" is no server's "
      "address");
  remove("pod/namespace");
  EXPECT_EQ(error(inPod_), "fine");
  remove("pod/token");
  EXPECT_EQ(error(inPod_), "~/pod/token: cannot be read: No such file or directory");
  write("pod/ca.crt", "hello");
  EXPECT_EQ(error(inPod_), "~/pod/ca.crt: holds no PEM certificate (-----BEGIN CERTIFICATE-----)");
}

}  // namespace
}  // namespace lastout::client
