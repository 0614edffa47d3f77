// Whom an API server calls to answer requests: the webhooks of configurations, the conversion webhooks of
// CRDs, and the servers behind APIServices.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kube/match_resources.h"
#include "kube/object.h"
#include "kube/object_key.h"
#include "kube/value.h"

namespace lastout::kube {

// How an API server reaches somebody.
struct CallAddress {
  ObjectKey service;  // without a name: by a URL
  int64_t port = 443;
  bool isUrl() const { return service.name.empty(); }
  friend bool operator==(const CallAddress&, const CallAddress&) = default;
};

// The requests for one object about which a webhook is asked.
struct ReviewedOperations {
  bool onCreate = false;
  bool onUpdate = false;  // a patch, too, and with it the removal of a finalizer
  bool onDelete = false;
  // The UPDATE by which Kubernetes takes its own finalizer off: `namespaces/finalize` of a Namespace,
  // `customresourcedefinitions/status` of a CRD, and of any other object the UPDATE of itself.
  bool onCleanup = false;
  bool onStart = false;  // of a Pod: the CREATE of `pods/binding`, or the UPDATE of `pods/status`
  bool any() const { return onCreate || onUpdate || onDelete || onCleanup || onStart; }
};

// One webhook of a ValidatingWebhookConfiguration or MutatingWebhookConfiguration.
struct CalledWebhook {
  std::string name;
  CallAddress address;
  MatchResources matches;
  bool failureIsIgnored = false;
  bool hasMatchConditions = false;
  bool matchesExactly = false;  // matchPolicy: Exact
  bool isOfLastout() const { return name.ends_with(".lastout.dev"); }
};

// Returns the webhooks of a configuration, as far as they can be understood: a selector that cannot be read
// selects everything. Empty for an object of another type.
std::vector<CalledWebhook> webhooksOf(const GroupResource& type, const Value& configuration);

// Returns the requests for the object about which the webhook is asked, whatever its matchConditions say and
// whichever of `versions` (as of servedVersions()) the request has. `namespaceLabels`: of the object's
// namespace, or a Namespace's own; nullptr: they are not known, and match.
ReviewedOperations reviewedOperations(const CalledWebhook& webhook, const ObjectKey& object,
                                      const Labels& labels, const Labels* namespaceLabels,
                                      const std::vector<std::string>& versions);

// Returns the versions in which requests for objects of the type may come, as far as that is known; empty:
// in any. `crd`: that of the type; nullptr: there is none.
std::vector<std::string> servedVersions(const GroupResource& type, const Value* crd);

// Returns the address of the CRD's conversion webhook; nullopt: it has none.
std::optional<CallAddress> conversionOf(const Value& crd);
// Returns the same where it is called; nullopt also: all objects are stored in the only version that is
// served, so that nothing is converted.
std::optional<CallAddress> calledConversionOf(const Value& crd);

// Returns the address of the API server behind the APIService; nullopt: the asked API server serves it
// itself.
std::optional<CallAddress> aggregatedServerOf(const Value& apiService);

// Returns the numbers of the Service's ports at which it can be called; nullopt: any, as it leads out of the
// cluster, or its manifest has no list of ports.
std::optional<std::set<int64_t>> calledPortsOf(const Value& service);
// True if one of them is that number.
bool hasPort(const Value& service, int64_t port);

// How a Service gets its endpoints.
enum class EndpointSource : uint8_t {
  Pods,      // those that its selector matches
  ByHand,    // it has no selector: somebody writes its endpoints
  External,  // it is a name outside of the cluster (ExternalName)
};
EndpointSource endpointSourceOf(const Value& service);

}  // namespace lastout::kube
