// The sentinel: a Lease of lastout's own that it tries to delete, by dry runs alone. An API server that goes
// by lastout's webhook configuration asks lastout first, which refuses and names that configuration by its
// fingerprint. docs/decisions/enforced-probe.md says why it is made like this.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "client/api_server.h"
#include "net/http_message.h"

namespace lastout::server {

// Where the webhook for the sentinel calls: this, and then the fingerprint of the configuration it is part
// of.
inline constexpr std::string_view kProbePath = "/probe/";

// The webhook that asks about the sentinel, and about nothing else: the parts that set it apart.
struct SentinelWebhook {
  nlohmann::json rule;
  nlohmann::json namespaceSelector;
  nlohmann::json objectSelector;
};
SentinelWebhook sentinelWebhook();
inline constexpr const char* kSentinelWebhookName = "sentinel.lastout.dev";

// Answers a review of the sentinel: denies every dry run with the fingerprint from the path and the
// listener's name (hexadecimal digits that each process makes for itself), and allows everything else.
// Answers 400 or 413 to a body that is no review, and 404 to a path without a fingerprint.
net::HttpResponse answerProbe(const net::HttpRequest& request, std::string_view listener);

std::string sentinelPath();
client::ApiRequest requestToProbe();
// The sentinel goes with its owner, the CustomResourceDefinition of CriticalServices with that uid; empty:
// where that is served without one, nobody owns it.
client::ApiRequest requestToCreateSentinel(const std::string& ownerUid);
// Puts back the label by which the webhook knows it.
client::ApiRequest requestToLabelSentinel();

struct ProbeAnswer {
  enum class Kind : uint8_t { Denied, Allowed, Missing, Failed };
  Kind kind = Kind::Failed;
  std::string fingerprint;    // Denied: of the configuration that the API server goes by
  std::string why;            // Failed: one line
  std::string listener = {};  // Denied: who answered; empty: it did not say
  // Failed: the API server took the request, and failed: it may not have reached a listener.
  bool hasServerFailed = false;
};
// Reads the API server's answer to requestToProbe(). Denied: lastout itself denied it; Missing: there is no
// sentinel.
ProbeAnswer probeAnswer(const client::WholeAnswer& whole);

}  // namespace lastout::server
