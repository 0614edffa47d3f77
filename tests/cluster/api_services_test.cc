// APIServices that nobody answers for: namespaces lose their content, and do not end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cluster/world.h"

namespace lastout::cluster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsSupersetOf;

constexpr const char* kApiService = "apiservices.apiregistration.k8s.io/v1.metrics.example.com";

// A namespace, and an APIService with this in its spec.
std::string worldWith(const std::string& spec, const std::string& more = "") {
  return R"(
{apiVersion: v1, kind: Namespace, metadata: {name: team}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: team}}
---
{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.metrics.example.com}, spec: {)" +
         spec + "group: metrics.example.com, version: v1}}\n" + more;
}

constexpr const char* kCalled = "service: {namespace: metrics, name: adapter}, ";

std::string service(const std::string& spec) {
  return "---\n{apiVersion: v1, kind: Service, metadata: {name: adapter, namespace: metrics}, spec: {" +
         spec + "}}\n";
}

TEST(ApiService, WithoutItsServiceKeepsEveryNamespaceButNotTheContent) {
  World world(worldWith(kCalled));
  world.deletes("namespaces/team");
  world.settle();
  EXPECT_TRUE(world.terminating("namespaces/team"));
  EXPECT_FALSE(world.present("configmaps/team/a"));
  EXPECT_FALSE(world.enabled(Kind::NamespaceFinish, "namespaces/team"));
  world.deletes(kApiService);
  world.settle();
  EXPECT_FALSE(world.present("namespaces/team"));
}

TEST(ApiService, ThatTheApiServerServesItselfKeepsNothing) {
  World world(worldWith(""));
  world.deletes("namespaces/team");
  world.settle();
  EXPECT_THAT(world.left(), ElementsAre(kApiService));
}

TEST(ApiService, OfAServiceWithoutASelectorIsTakenToAnswer) {
  World world(worldWith(kCalled, service("ports: [{port: 443}]")));
  world.deletes("namespaces/team");
  world.settle();
  EXPECT_FALSE(world.present("namespaces/team"));
}

TEST(ApiService, AnswersWhileAPodIsBehindItsService) {
  const std::string adapter = service("selector: {app: adapter}") + R"(---
apiVersion: apps/v1
kind: Deployment
metadata: {name: adapter, namespace: metrics}
spec: {replicas: 1, template: {metadata: {labels: {app: adapter}}}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: metrics}}
)";
  World answered(worldWith(kCalled, adapter));
  answered.deletes("namespaces/team");
  answered.settle();
  EXPECT_FALSE(answered.present("namespaces/team"));

  // Its own namespace takes the Service along, and waits for an answer that cannot come any more.
  World world(worldWith(kCalled, adapter));
  world.deletes("namespaces/metrics");
  world.settle();
  world.deletes("namespaces/team");
  world.settle();
  EXPECT_THAT(world.left(), IsSupersetOf({std::string(kApiService), std::string("namespaces/metrics"),
                                          std::string("namespaces/team")}));
  EXPECT_FALSE(world.present("services/metrics/adapter"));
}

}  // namespace
}  // namespace lastout::cluster
