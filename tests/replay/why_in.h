// What lastout why says of manifests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "admission/known_cluster.h"
#include "replay/manifest_graph.h"
#include "tests/support/manifests.h"

namespace lastout::replay {

inline admission::Why whyIn(const std::string& yaml, std::string_view reference) {
  auto manifests = readManifests({{"m.yaml", yaml}});
  if (!manifests) {
    ADD_FAILURE() << testing::lines(manifests.error());
    return {};
  }
  auto built = graphOf(*manifests);
  if (!built) {
    ADD_FAILURE() << testing::lines(built.error());
    return {};
  }
  admission::KnownCluster cluster(std::move(built->graph), std::move(built->guards),
                                  std::move(manifests->types));
  cluster.specs = std::move(built->specs);
  auto why = admission::whyOf(cluster, reference);
  if (why) return std::move(*why);
  ADD_FAILURE() << why.error().message;
  return {};
}

inline constexpr const char* kThings = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Thing, plural: things, singular: thing}
  versions: [{name: v1, served: true, storage: true}]
---
{apiVersion: v1, kind: Namespace, metadata: {name: team}}
---
{apiVersion: example.com/v1, kind: Thing, metadata: {name: t, namespace: team}}
---
)";

// A webhook for these operations on things; `more`: of its fields, in one line each.
inline std::string webhookFor(const std::string& operations, const std::string& more = "",
                              const std::string& client = "{service: {namespace: gone, name: hook}}") {
  return std::string(kThings) +
         "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\n"
         "metadata: {name: checks}\nwebhooks:\n- name: other.example.com\n  failurePolicy: Ignore\n"
         "- name: things.example.io\n  clientConfig: " +
         client + "\n" + more +
         "  rules: [{apiGroups: [example.com], apiVersions: ['*'], resources: [things], operations: [" +
         operations + "]}]\n";
}

inline std::vector<std::string> blockersOf(const admission::Why& why) {
  std::vector<std::string> messages;
  for (const admission::WhyBlocker& one : why.blockers) messages.push_back(one.message);
  return messages;
}

// "namespaces/x > things.example.com/x/t > ...: why", of each root.
inline std::vector<std::string> chainsOf(const admission::Why& why) {
  std::vector<std::string> chains;
  for (const admission::WhyRoot& root : why.roots) {
    std::string chain;
    for (const std::string& one : root.path) {
      if (!one.starts_with("existence of ")) chain += one + " > ";
    }
    chains.push_back(chain + root.message);
  }
  return chains;
}

}  // namespace lastout::replay
