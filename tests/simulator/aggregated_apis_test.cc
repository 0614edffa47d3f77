// APIServices with a Service: while nobody answers for one, its group is served by nobody and no Namespace
// ends. The words are those of kube-aggregator and of Kubernetes' namespace controller.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulator/json.h"
#include "tests/simulator/cluster_fixture.h"

namespace lastout::testing {
namespace {

using simulator::Json;

class AggregatedApis : public ClusterTest {
 protected:
  static inline const std::string kApis = "/apis/apiregistration.k8s.io/v1/apiservices";

  void createApiService() {
    expect(201, "POST", kApis,
           {{"apiVersion", "apiregistration.k8s.io/v1"},
            {"kind", "APIService"},
            {"metadata", {{"name", "v1.zoo.example.com"}}},
            {"spec",
             {{"group", "zoo.example.com"},
              {"version", "v1"},
              {"groupPriorityMinimum", 100},
              {"versionPriority", 100},
              {"caBundle", "Cg=="},
              {"service", {{"namespace", "zoo"}, {"name", "server"}}}}}});
    pass(std::chrono::seconds(1));
  }
  void createService(int port) {
    createNamespace("zoo");
    expect(201, "POST", "/api/v1/namespaces/zoo/services",
           {{"apiVersion", "v1"},
            {"kind", "Service"},
            {"metadata", {{"name", "server"}}},
            {"spec", {{"selector", {{"app", "server"}}}, {"ports", {{{"name", "https"}, {"port", port}}}}}}});
    pass(std::chrono::seconds(1));
  }
  void createPod() {
    expect(201, "POST", "/api/v1/namespaces/zoo/pods",
           {{"apiVersion", "v1"},
            {"kind", "Pod"},
            {"metadata", {{"name", "server"}, {"labels", {{"app", "server"}}}}},
            {"spec", {{"containers", {{{"name", "main"}, {"image", "one"}}}}}}});
    pass(std::chrono::seconds(5));
  }
  Json available() {
    const Json apiService = expect(200, "GET", kApis + "/v1.zoo.example.com");
    const Json* found = simulator::findCondition(apiService["status"], "Available");
    return found == nullptr ? Json() : *found;
  }
  Json discoveryFailure(const std::string& space) {
    const Json object = expect(200, "GET", "/api/v1/namespaces/" + space);
    return *simulator::findCondition(object["status"], "NamespaceDeletionDiscoveryFailure");
  }
  bool isListed() {
    const Json list = expect(200, "GET", "/apis");
    for (const Json& group : list["groups"])
      if (group["name"] == "zoo.example.com") return true;
    return false;
  }
};

TEST_F(AggregatedApis, WithoutTheirServiceAreNotAvailable) {
  createApiService();
  EXPECT_EQ(available()["status"], "False");
  EXPECT_EQ(available()["reason"], "ServiceNotFound");
  EXPECT_EQ(available()["message"], "service/server in \"zoo\" is not present");
  EXPECT_TRUE(isListed());
  EXPECT_EQ(expect(200, "GET", "/apis/zoo.example.com")["preferredVersion"]["groupVersion"],
            "zoo.example.com/v1");
  for (const char* path : {"/apis/zoo.example.com/v1", "/apis/zoo.example.com/v1/namespaces/zoo/lions"}) {
    const auto answer = send("GET", path);
    EXPECT_EQ(answer.status, 503) << path;
    EXPECT_EQ(answer.body, "service unavailable\n") << path;
  }
  EXPECT_FALSE(expect(200, "GET", "/openapi/v3")["paths"].contains("apis/zoo.example.com/v1"));
  expect(200, "DELETE", kApis + "/v1.zoo.example.com");
  EXPECT_FALSE(isListed());
  EXPECT_EQ(send("GET", "/apis/zoo.example.com/v1").status, 404);
}

TEST_F(AggregatedApis, AreAvailableWhileAPodBehindTheirServiceIsReady) {
  createApiService();
  createService(443);
  EXPECT_EQ(available()["reason"], "MissingEndpoints");
  EXPECT_EQ(available()["message"],
            "endpoints for service/server in \"zoo\" have no addresses with port name \"https\"");
  createPod();
  EXPECT_EQ(available()["status"], "True");
  EXPECT_EQ(available()["reason"], "Passed");
  expect(200, "DELETE", "/api/v1/namespaces/zoo/pods/server");
  pass(std::chrono::seconds(60));
  EXPECT_EQ(available()["reason"], "MissingEndpoints");
}

TEST_F(AggregatedApis, NeedTheirPort) {
  createService(8443);
  createApiService();
  EXPECT_EQ(available()["reason"], "ServicePortError");
  EXPECT_EQ(available()["message"], "service/server in \"zoo\" is not listening on port 443");
}

TEST_F(AggregatedApis, KeepANamespaceUntilTheyAreGone) {
  createApiService();
  createNamespace("lab");
  pass(std::chrono::seconds(1));
  expect(200, "DELETE", "/api/v1/namespaces/lab");
  pass(std::chrono::minutes(10));
  EXPECT_EQ(discoveryFailure("lab")["status"], "True");
  EXPECT_EQ(discoveryFailure("lab")["reason"], "DiscoveryFailed");
  EXPECT_EQ(discoveryFailure("lab")["message"],
            "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server "
            "APIs: zoo.example.com/v1: stale GroupVersion discovery: zoo.example.com/v1");
  expect(200, "DELETE", kApis + "/v1.zoo.example.com");
  pass(std::chrono::minutes(10));
  expect(404, "GET", "/api/v1/namespaces/lab");
}

TEST_F(AggregatedApis, KeepANamespaceUntilTheyAnswer) {
  createApiService();
  createService(443);
  createNamespace("lab");
  pass(std::chrono::seconds(1));
  expect(200, "DELETE", "/api/v1/namespaces/lab");
  pass(std::chrono::minutes(10));
  EXPECT_EQ(discoveryFailure("lab")["status"], "True");
  createPod();
  pass(std::chrono::minutes(10));
  expect(404, "GET", "/api/v1/namespaces/lab");
}

}  // namespace
}  // namespace lastout::testing
