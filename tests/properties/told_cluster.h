// ToldCluster: what lastout was told of a cluster, as plain lists, and what follows from that by the words of
// docs/verdicts.md ("The table", "When a criterion is understood") and docs/concepts.md ("Dependencies").
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "client/reflector.h"
#include "criticalservice/critical_service.h"
#include "tests/support/by_the_document.h"

namespace lastout::testing {

// The last report of the watch of a type.
struct ToldReading {
  client::SyncStatus::State state = client::SyncStatus::State::NeverSynced;
  client::TimePoint asOf;
  friend bool operator==(const ToldReading&, const ToldReading&) = default;
};

// A Pod template of a Deployment: the ConfigMap that its Pods mount, and whether any may still run by it.
struct ToldTemplate {
  std::string config;
  bool hasPods = true;
};

struct ToldCluster {
  std::set<kube::GroupResource> definitions = {};  // types whose CRD is there
  bool knowsDefinitions = false;                   // these are all
  std::set<kube::GroupResource> served = {};       // as discovery said last, built-in types not counted
  std::string gap = {};                            // the group that could not be asked then; empty: none
  std::map<kube::GroupResource, ToldReading> readings = {};  // of the types that are followed
  std::set<kube::GroupResource> refused = {};  // by the last reading, whether or not they are followed still
  std::vector<PlainObject> objects = {};       // built-in types' too; not CRDs
  std::map<std::string, criticalservice::CriticalService> services = {};
  std::map<kube::ObjectKey, std::vector<ToldTemplate>> templates =
      {};  // of Deployments: the present one last
  client::TimePoint now;

  // What it remembers of types:
  std::set<kube::GroupResource> wereDefined = {};  // it saw a CRD of them
  std::set<kube::GroupResource> wereServed = {};   // without a CRD, ever
  // By name of the CriticalService: the types that its status.seenTypes has to list.
  std::map<std::string, std::set<kube::GroupResource>> seenBy = {};
};

// After anything was told: what is remembered from now on.
void remember(ToldCluster& told);
// After discovery: forgets the types that nothing leads to any more.
void forgetTypes(ToldCluster& told);

// The type's CRD was there, is not, and nothing else serves the type: nothing of it is left.
bool isGoneWithItsCrd(const ToldCluster& told, const kube::GroupResource& type);
// "No instances" is to be believed of the type.
bool isBelieved(const ToldCluster& told, const kube::GroupResource& type);

// What the provider of a CriticalService needs.
std::vector<criticalservice::Dependency> needsByTheDocument(const ToldCluster& told,
                                                            const criticalservice::CriticalService& service);
PlainCluster plainOf(const ToldCluster& told);

}  // namespace lastout::testing
