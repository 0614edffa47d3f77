// ReviewedObjects: the objects whose deletion lastout is to be asked about, as the CriticalServices that
// there are make them; and WebhookEntry, which sets one webhook of the configuration apart from the others.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "admission/guards.h"
#include "criticalservice/critical_service.h"
#include "kube/object_key.h"

namespace lastout::server {

struct WebhookEntry {
  std::string name;
  nlohmann::json rules;
  nlohmann::json namespaceSelector;
  std::string condition = {};  // in CEL; empty: none
  nlohmann::json objectSelector = nlohmann::json::object();
  bool failsClosed = true;  // failurePolicy: Fail
  bool operator==(const WebhookEntry&) const = default;
};

// A type in a namespace (or, of a cluster-scoped type, everywhere): an ObjectKey without a name.
using Places = std::set<kube::ObjectKey>;
kube::ObjectKey placeOf(const kube::ObjectKey& object);
// Returns what names the object in an expression in CEL: "'app/secret'".
std::string literalOf(const kube::ObjectKey& object);

// So many bytes of the webhook configuration are for the names of what one CriticalService guards.
inline constexpr size_t kMostNamedBytes = 10'000;

// CriticalServices are not among them: every one is reviewed, whatever is done to it.
struct ReviewedObjects {
  std::set<kube::ObjectKey> deleted;        // whose DELETE is reviewed, whether they exist or not
  std::set<kube::ObjectKey> scaled;         // providers whose UPDATE and scaling is reviewed, too
  std::set<kube::GroupResource> providers;  // the types of the providers among them
  std::string ownNamespaceUid = {};  // of lastout's Namespace, which owns the configuration; empty: none does
  std::vector<WebhookEntry> policies = {};  // what DeletionPolicies have reviewed, as of policyEntries()
  Places crowded = {};  // that a CriticalService fills beyond kMostNamedBytes, the largest it has
  bool operator==(const ReviewedObjects&) const = default;

  // Adds what the CriticalService guards, whose provider needs these dependencies: nothing where it gives its
  // provider up (OrphanResources), but lastout's own namespace (empty: it runs outside the cluster), which
  // stays while there is any CriticalService. As of admission::guardsOf(). Leaves out what cannot exist,
  // since no API server accepts its name: a Pod template may name anything.
  void add(const criticalservice::CriticalService& service, const kube::ResourceMap& types,
           const admission::Dependencies& dependencies, std::string_view ownNamespace);
  // Returns the places with further ones, to be reviewed as a whole, so that the names of the rest take at
  // least so many bytes less: the crowded ones, and then the largest, those in no namespace last. The same
  // places: that is not possible.
  Places wider(Places whole, size_t bytes) const;
  // True if all that is `wanted` is reviewed.
  bool covers(const ReviewedObjects& wanted) const;
  // Returns the objects that are reviewed by both.
  ReviewedObjects common(const ReviewedObjects& other) const;
  // Returns "deployments.apps", the types of the providers, or with what these need.
  std::string toString() const;
};

}  // namespace lastout::server
