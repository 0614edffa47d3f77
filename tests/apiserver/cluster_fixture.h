// An embedded cluster without sockets, on virtual time, for tests that read as a client's session.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "apiserver/embedded_cluster.h"

namespace lastout::testing {

// Answers every webhook call; the default allows.
apiserver::CallWebhook noWebhook();

class ClusterTest : public ::testing::Test {
 public:
  explicit ClusterTest(apiserver::EmbeddedOptions options = {});

  // A request of the admin; `body` null: none.
  apiserver::HttpResponse send(const std::string& method, const std::string& path,
                               const apiserver::Json& body = nullptr, const std::string& contentType = {});
  // Its answer, which must have that status.
  apiserver::Json expect(int status, const std::string& method, const std::string& path,
                         const apiserver::Json& body = nullptr, const std::string& contentType = {});
  // Lets the controllers work for so long.
  void pass(std::chrono::milliseconds time);
  void createNamespace(const std::string& name);

  apiserver::EmbeddedCluster cluster;
  std::chrono::milliseconds now{0};
};

}  // namespace lastout::testing
