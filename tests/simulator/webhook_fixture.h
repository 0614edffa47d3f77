// An embedded cluster whose webhooks are functions of this process.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "tests/simulator/cluster_fixture.h"

namespace lastout::testing {

class WebhookClusterTest : public ClusterTest {
 public:
  // Answers the `request` of a review with its `response`, to which the uid is added.
  using Asked = std::function<simulator::Json(const simulator::Json& request)>;

  // Its callWebhook is this test's.
  explicit WebhookClusterTest(simulator::EmbeddedOptions options = {});

  // A webhook for one resource, whatever its group ("configmaps", "deployments/scale"); the operation: "*",
  // "CREATE", ...
  void validate(const std::string& resource, const std::string& operation, Asked asked);
  void mutate(const std::string& resource, const std::string& operation, Asked asked);

  // Defines Widgets of example.com/v1, in namespaces, with that schema.
  void createWidgets(const simulator::Json& schema);

  static simulator::Json allow();
  static simulator::Json deny(const std::string& why);
  static simulator::Json patch(const simulator::Json& operations);  // allows, too

 private:
  void put(const std::string& kind, const std::string& resource, const std::string& operation, Asked asked);
  std::map<std::string, Asked> asked_;
};

}  // namespace lastout::testing
