// The HTTP exchanges that were recorded on a real control plane, as values.
#pragma once

#include <string>
#include <vector>

#include "simulator/json.h"

namespace lastout::fidelity {

using simulator::Json;

// The folders of tests/recordings.
inline constexpr const char* kKubernetes126 = "kubernetes-1.26";
inline constexpr const char* kKubernetes136 = "kubernetes-1.36";

struct RestExchange {
  std::string recording;  // its folder
  std::string name;       // "099-delete-webhook-403"
  std::string method;
  std::string path;  // percent-encoded, with the query
  std::string accept;
  std::string contentType;
  std::string body;
  Json webhookAnswer;  // what the webhook that was asked answered; null: none was asked
  // {"status", "headers", "body"}; of a watch "events" instead of the body. Of the headers only those that
  // clients go by.
  Json answer;

  std::string number() const { return name.substr(0, 3); }
};

// Exchanges that are not made, each with the reason, for docs/fidelity.md.
struct LeftOut {
  std::string recording;
  std::string exchange;  // its number
  std::string reason;
};
const std::vector<LeftOut>& leftOut();

// Those of tests/recordings/<recording>/rest but for what is left out, in the order in which they were made,
// which is that of their numbers but for watches: each is opened where its number is.
std::vector<RestExchange> recordedExchanges(const std::string& recording);

}  // namespace lastout::fidelity
