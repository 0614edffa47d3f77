// What the namespace controller, the CRD controllers and the aggregator create and write.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kube/object_key.h"
#include "simulator/json.h"
#include "simulator/status.h"

namespace lastout::simulator {

// --- Namespaces
// What every new Namespace is given. Recorded in admission/02 and 25.
Json defaultServiceAccount(std::string_view namespaceName);
Json rootCertificates(std::string_view namespaceName, std::string_view certificates);  // PEM

// What is left of a terminating Namespace's content.
struct NamespaceContent {
  struct Resources {
    kube::GroupResource type;
    int64_t count = 0;
  };
  struct Finalizer {
    std::string name;
    int64_t count = 0;  // objects that carry it
  };
  std::vector<Resources> remaining;
  std::vector<Finalizer> finalizers;
  std::vector<std::string> failures;  // what the API server said to deletions that failed
  // The groups and versions that discovery did not get, each with its error.
  std::vector<std::string> undiscovered = {};
};
// The Namespace with its five conditions (rest/093, admission/26).
Json terminatingNamespace(Json object, const NamespaceContent& content, std::string_view now);
// The update of its subresource `finalize` that lets it go (admission/27).
Json finalizedNamespace(Json object);

// --- CustomResourceDefinitions
Json acceptedCrd(Json crd, std::string_view now);  // its names are, it is about to be served (admission/30)
Json crdWithTakenName(Json crd, const StatusCause& taken,
                      std::string_view now);           // another one has a name of it
Json establishedCrd(Json crd, std::string_view now);   // it is served (rest/011)
Json crdInCleanup(Json crd, std::string_view now);     // its instances are being deleted (rest/084)
Json crdAfterCleanup(Json crd, std::string_view now);  // there are none any more, and no finalizer

// --- APIServices
// That of a CRD's version (admission/29).
Json apiServiceOf(std::string_view group, std::string_view version);
// With its condition Available by the Service behind it (nullptr: there is none) and whether a Pod that this
// selects is Ready, in the words of kube-aggregator.
Json observedApiService(Json apiService, const Json* service, bool hasReadyPod, std::string_view now);

}  // namespace lastout::simulator
