// An embedded cluster with the guard of `lastout up --guard inside`: lastout serves beside it by real TLS,
// while its controllers live in virtual time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "cmd/guard_inside.h"
#include "simulator/webhook_client.h"
#include "tests/simulator/cluster_fixture.h"

namespace lastout::testing {

class GuardedClusterTest : public ClusterTest {
 public:
  // Its callWebhook is this test's.
  explicit GuardedClusterTest(simulator::EmbeddedOptions options = {});

  // All CriticalServices and DeletionPolicies are enforced as they stand now.
  void settle();
  // What waiting for that comes to; "": all are.
  std::string problemWithSettling();
  // Asks until the answer has that status, and these words: lastout knows by watches what was written a
  // moment ago.
  simulator::Json eventually(int status, const std::string& method, const std::string& path,
                             const simulator::Json& body = nullptr, const std::string& contentType = {},
                             const std::string& words = "");
  // Asks by dry runs until a DELETE is denied with that code, in a message that has these words, and then
  // without: the denial.
  simulator::Json denied(const std::string& path, int code = 403, const std::string& words = "");
  // A mutating webhook, answered in this process, of which the patch is made from the object that it is
  // shown.
  using Patch = std::function<simulator::Json(const simulator::Json& object)>;
  void mutate(const std::string& resource, const std::string& operation, Patch patch);

 private:
  simulator::CallWebhook callWebhook();

  simulator::WebhookClient client_{{}};
  std::map<std::string, Patch> patches_;  // by the webhook's name
  std::unique_ptr<cmd::GuardInside> guard_;
};

}  // namespace lastout::testing
