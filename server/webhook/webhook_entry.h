// WebhookEntry: what sets one webhook of lastout's configuration apart from the others.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace lastout::server {

inline constexpr const char* kNameOfNamespace = "kubernetes.io/metadata.name";  // a label of every Namespace

struct WebhookEntry {
  std::string name;
  nlohmann::json rules;
  nlohmann::json namespaceSelector;
  std::string condition = {};  // in CEL; empty: none
  nlohmann::json objectSelector = nlohmann::json::object();
  bool failsClosed = true;  // failurePolicy: Fail
  bool operator==(const WebhookEntry&) const = default;
};

}  // namespace lastout::server
