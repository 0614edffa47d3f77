// WebhookClient: posts AdmissionReviews over HTTPS as the API server does. It is no client::ApiServer, of
// which silence is limited, each by one address and in lastout's words: a webhook's timeout is that of the
// whole call, a service's name is not where it listens, and what fails is told in the words of Go's net/http,
// which people see.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "simulator/admission_review.h"
#include "simulator/webhooks.h"

namespace lastout::simulator {

// Where the services of the cluster really listen: "namespace/name" to "address:port" ("127.0.0.1:9443").
using ServiceAddresses = std::map<std::string, std::string, std::less<>>;

// Whether the cluster has the Service of that namespace and name. Called by several threads at once.
using HasService = std::function<bool(const std::string& namespaceName, const std::string& name)>;

// Safe for any number of threads. Connections are kept and used again.
class WebhookClient {
 public:
  // `hasService` tells a Service without an address in `services` from one that is not there.
  explicit WebhookClient(
      ServiceAddresses services,
      HasService hasService = [](const std::string&, const std::string&) { return false; });
  ~WebhookClient();
  WebhookClient(const WebhookClient&) = delete;
  WebhookClient& operator=(const WebhookClient&) = delete;

  // The answer, whatever its status. Everything together (connecting, TLS, sending, receiving) takes no
  // longer than the webhook's timeout; only looking up a host's name may add to it. The certificate has to
  // come from the webhook's authorities and to name its host (a service: <name>.<namespace>.svc). Fails, in
  // the words of rest/102 and 110, when there is no answer, and when it is longer than 3 MiB; where a Service
  // is there without an address, in words that say how to give it one. A host that
  // cannot be reached is reported as one that refuses the connection: cpp-httplib does not tell them apart.
  tl::expected<WebhookResponse, std::string> post(const Webhook& webhook, const std::string& body);

 private:
  class Connections;
  std::unique_ptr<Connections> connections_;
  ServiceAddresses services_;
  HasService hasService_;
};

}  // namespace lastout::simulator
