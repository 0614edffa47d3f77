// An embedded cluster without sockets, on virtual time, for tests that read as a client's session.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "simulator/embedded_cluster.h"

namespace lastout::testing {

// Every call of a webhook fails.
simulator::CallWebhook noWebhook();
// Answers the `request` of a review with its `response`, to which the uid is added.
using Responds =
    std::function<simulator::Json(const simulator::Webhook& webhook, const simulator::Json& request)>;
simulator::CallWebhook webhookThat(Responds responds);

class ClusterTest : public ::testing::Test {
 public:
  static constexpr const char* kMerge = "application/merge-patch+json";
  static inline const std::string kMaps = "/api/v1/namespaces/default/configmaps";
  static inline const std::string kWidgets = "/apis/example.com/v1/namespaces/default/widgets";
  static simulator::Json configMap(const std::string& name) {
    return {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}}}};
  }

  explicit ClusterTest(simulator::EmbeddedOptions options = {});

  // A request of the user; `body` null: none.
  simulator::ExchangeResponse send(const std::string& method, const std::string& path,
                                   const simulator::Json& body = nullptr,
                                   const std::string& contentType = {});
  // Its answer, which must have that status.
  simulator::Json expect(int status, const std::string& method, const std::string& path,
                         const simulator::Json& body = nullptr, const std::string& contentType = {});
  // Lets the controllers work for so long.
  void pass(std::chrono::milliseconds time);
  void createNamespace(const std::string& name);
  uint64_t version();  // of what is stored
  bool isEmpty(const kube::GroupResource& type, std::string_view namespaceName);
  // A ValidatingWebhookConfiguration or MutatingWebhookConfiguration, and its only webhook, both of that
  // name: for operations ("DELETE", "*") on a resource, whatever its group ("configmaps", "*/*").
  void createWebhook(const std::string& kind, const std::string& name,
                     const std::vector<std::string>& operations, const std::string& resource);

  simulator::EmbeddedCluster cluster;
  simulator::UserInfo user = simulator::adminUser();
  std::chrono::milliseconds now{0};
};

}  // namespace lastout::testing
