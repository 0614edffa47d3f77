// AssumptionNotes: what the finders of assumptions look at, and the list in which they write what they find.
// Internal to replay/.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "kube/api_calls.h"
#include "replay/assumptions.h"
#include "replay/names.h"

namespace lastout::replay {

struct AssumptionNotes {
  AssumptionNotes(const Scenario& ofScenario, const Compiled& ofCompiled);

  // Returns the manifest of that name; nullptr: there is none.
  const kube::Object* object(const kube::ObjectKey& key) const;
  std::string nameOf(const kube::ObjectKey& key) const;
  // Returns the versions in which API servers serve the type, as far as the manifests tell (as of
  // kube::servedVersions()).
  std::vector<std::string> servedVersionsOf(const kube::GroupResource& type) const;
  // Returns the Namespace by whose labels webhooks select the object: its own, if it is one; kNone: none.
  cluster::Slot spaceOf(cluster::Slot slot) const;
  bool isGoal(cluster::Slot slot) const;
  bool isGoal(const kube::ObjectKey& key) const;
  // Returns true if some object of the goal is of that kind.
  bool hasGoal(cluster::SlotKind kind) const;
  // Returns the calls by way of a Service on which the goal depends: of the webhooks and conversions of its
  // objects, and, if a Namespace is to end, Model::namespaceCalls.
  std::vector<const cluster::Interception*> calls() const;
  // Returns what runs whoever answers the call: workloads, Pods, and the controllers of these.
  std::set<cluster::Slot> behind(const cluster::Interception& call) const;
  // Returns the workloads and Pods on which the goal depends: controllers that remove finalizers run in them,
  // or calls() reach them.
  std::set<cluster::Slot> needed() const;

  // --- replay/assumption_endpoints.cc: who is behind an address that API servers call

  // Returns how it is reached, if the machine cannot tell whether anybody answers there: "it is reached by
  // URL"; empty: it can tell.
  std::string reachedBy(const kube::CallAddress& address) const;
  bool hasPodsBehind(const kube::CallAddress& address) const;
  // Returns true if its Service is in no file, or may be deleted, or what is behind it.
  bool mayNotAnswer(const kube::CallAddress& address) const;

  void add(const kube::ObjectKey& about, const std::string& text) { add(about, text, text); }
  void add(const kube::ObjectKey& about, std::string text, std::string claim);
  // Does the same for something that is no object, by its name.
  void addOf(const std::string& about, const std::string& text) { found.push_back({about, text, text}); }

  const Scenario& scenario;
  const Compiled& compiled;
  const cluster::Model& model;
  const Names names;
  // Each object by its name; if several manifests have one name, the one that counts.
  std::map<kube::ObjectKey, const kube::Object*> manifests;
  std::vector<Assumption> found;
};

// replay/policy_requests.cc: what admission policies match, in the form in which that of a webhook is kept.
// Returns what spec.matchConstraints of a ValidatingAdmissionPolicy or a MutatingAdmissionPolicy matches.
// What cannot be understood is left out.
kube::CalledWebhook requestsOfPolicy(const kube::Object& policy);
// Returns what spec.matchResources of its binding matches; everything, where that has no rules.
kube::CalledWebhook requestsOfBinding(const kube::Object& binding);

// Adds that webhooks, conversion webhooks and APIServices answer, and that webhooks and policies allow.
void assumeOfCalls(AssumptionNotes& notes);
// Adds what somebody writes into the cluster later: finalizers, webhooks that enforce policies, certificates,
// and hooks of Helm.
void assumeOfRunTime(AssumptionNotes& notes);
// Adds that controllers remove finalizers and may do so, and that the agent of ManifestWorks works.
void assumeOfControllers(AssumptionNotes& notes);
// Adds what the machine does not follow of needed() workloads: their status and Nodes, what their new Pods
// need, and NetworkPolicies.
void assumeOfNeededWorkloads(AssumptionNotes& notes);
// Adds that aggregated API servers, the control plane and network plug-ins work without rights that go.
void assumeOfRights(AssumptionNotes& notes);
// Adds that nothing is there any more that a status tells of, and no file has.
void assumeOfStatuses(AssumptionNotes& notes);
// Adds what the steps of a scenario lead to and the machine does not follow: labels by which webhooks and
// policies select, claims and volumes that Kubernetes deletes.
void assumeOfSteps(AssumptionNotes& notes);

}  // namespace lastout::replay
