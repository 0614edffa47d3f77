// The webhooks of lastout's configuration that ask for reviews: which rules, selectors and conditions name
// the objects. Pure: without addresses and policies, which all of them share.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "server/reviewed_objects.h"

namespace lastout::server {

// What sets one webhook apart from the others.
struct WebhookEntry {
  std::string name;
  nlohmann::json rules;
  nlohmann::json namespaceSelector;
  std::string condition = {};  // in CEL; empty: none
};

// An expression may be of 100,000 characters; what is longer is divided among webhooks.
inline constexpr size_t kMostConditionBytes = 90'000;

// By the names of the objects; exact.
std::vector<WebhookEntry> entriesByObject(const ReviewedObjects& objects, const std::string& ownNamespace);
// What is in namespaces by these and its types, the rest by name.
std::vector<WebhookEntry> entriesByNamespace(const ReviewedObjects& objects, const std::string& ownNamespace);
// By types.
std::vector<WebhookEntry> entriesByType(const ReviewedObjects& objects, const std::string& ownNamespace);

// The literal of a string in CEL, whatever it holds (UTF-8).
std::string celLiteral(std::string_view text);

}  // namespace lastout::server
