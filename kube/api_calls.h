// Whom an API server calls to answer requests: the webhooks of configurations, the conversion webhooks of
// CRDs, and the servers behind APIServices.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/kubernetes_version.h"
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
  bool onStatus = false;  // the UPDATE of its status
  bool onDelete = false;
  // The UPDATEs by which the controller of its type takes its own finalizer off: `namespaces/finalize` of a
  // Namespace, `customresourcedefinitions/status` of a CRD, `services/status` of a Service (the cloud's
  // controller), `jobs/status` before it of the Pods of a Job, and of any other object the UPDATE of itself;
  // of an AppliedManifestWork that of the status before it, too.
  bool onCleanup = false;
  // Of a PersistentVolume: the UPDATE of `persistentvolumes/status` by which it is released, once the claim
  // to which it is bound is gone. Without that, pv-protection does not let it go (kube::isReleased()).
  bool onVolumeRelease = false;
  bool onStart = false;  // of a Pod: the CREATE of `pods/binding` or of `serviceaccounts/token`, or the
                         // UPDATE of `pods/status`
  // Of a Pod: the UPDATE of `pods/status` by which its node says that it has stopped, or the DELETE after it.
  bool onStop = false;
  // Of a ServiceAccount: the CREATE of `serviceaccounts/token`. Controllers need such a token to act as it.
  bool onToken = false;
  // Returns true if it is asked about the object itself.
  bool any() const {
    return onCreate || onUpdate || onDelete || onCleanup || onVolumeRelease || onStart || onStop;
  }
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

// Returns true if the finalizer is taken off objects of that type by an UPDATE of their status
// (ReviewedOperations::onCleanup): a cloud's controller does so with Services.
bool isRemovedByStatus(const GroupResource& type, std::string_view finalizer);

// Returns the versions in which API servers serve the type, as far as that is known; empty: in any. `crd`:
// that of the type; nullptr: there is none.
std::vector<std::string> servedVersions(const GroupResource& type, const Value* crd,
                                        KubernetesVersion kubernetes = kNewestKubernetes);

// Returns the address of the CRD's conversion webhook; nullopt: it has none.
std::optional<CallAddress> conversionOf(const Value& crd);
// Returns the same where it is called; nullopt also: all objects are stored in the only version that is
// served, so that nothing is converted.
std::optional<CallAddress> calledConversionOf(const Value& crd);

// Returns the version in which the CRD's objects are stored; empty: it names none.
std::string_view storageVersionOf(const Value& crd);

// True if the clean-up of the deleted CRD may have to convert objects: it reads them in the storage version,
// and by status.storedVersions some may be stored in another one.
bool cleanupConverts(const Value& crd);

// True if a DELETE or an UPDATE in the version that clients are to prefer may have to convert objects: that
// is not the storage version, or some may be stored in another one. The namespace controller and the garbage
// collector use that version, and so do clients that do not name one.
bool preferredVersionConverts(const Value& crd);

// Returns the address of the API server behind the APIService; nullopt: the asked API server serves it
// itself.
std::optional<CallAddress> aggregatedServerOf(const Value& apiService);

// True if it is headless: clusterIP is None.
bool isHeadless(const Value& service);
// Returns why an API server cannot call that port of the Service, whoever is behind it: "has no port 8443",
// to be read after its name; empty: it can. Of one whose manifest has no list of ports, it has each of them.
std::string whyUnreachable(const Value& service, int64_t port);

// Returns the Service's ports that API servers can call (over TCP) by their numbers, each with
// targetPortName().
std::map<int64_t, std::string> calledPortsOf(const Value& service);
// Returns the name by which that port of the Service names the port of its Pods (targetPort); empty: it gives
// a number.
std::string targetPortName(const Value& service, int64_t port);
// Why nobody is behind that port: no Pod of the Service has a port of that name. As whyUnreachable().
std::string lacksTargetPort(const std::string& name);

// Returns true if that entry of a slice's endpoints is Ready, or its conditions do not say.
bool isReadyEndpoint(const Value& endpoint);
// Returns true if calls get to that entry: it is Ready, or it still serves while it terminates. kube-proxy
// uses such an endpoint if no other is left.
bool mayAnswer(const Value& endpoint);
// True if the Service's EndpointSlice has endpoints for that port: they have a port of the same name.
bool hasEndpointPort(const Value& slice, const Value& service, int64_t port);
// True if the EndpointSlice says that it is of this Service.
bool isSliceOf(const Object& slice, const ObjectKey& service);
// True if calls to that port of the Service get to an endpoint of the object, as an EndpointSlice of the
// Service.
bool hasAnsweringEndpoint(const Object& slice, const Object& service, int64_t port);

// How a Service gets its endpoints.
enum class EndpointSource : uint8_t {
  Pods,      // those that its selector matches
  ByHand,    // it has no selector: somebody writes its endpoints
  External,  // it is a name outside of the cluster (ExternalName)
};
EndpointSource endpointSourceOf(const Value& service);

}  // namespace lastout::kube
