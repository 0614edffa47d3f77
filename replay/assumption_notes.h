// AssumptionNotes: what the finders of assumptions look at, and the list in which they write what they find.
// Internal to replay/.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "replay/assumptions.h"
#include "replay/names.h"

namespace lastout::replay {

struct AssumptionNotes {
  AssumptionNotes(const Scenario& ofScenario, const Compiled& ofCompiled);

  // Returns the manifest of that name; nullptr: there is none.
  const kube::Object* object(const kube::ObjectKey& key) const;
  std::string nameOf(const kube::ObjectKey& key) const;
  bool isGoal(cluster::Slot slot) const;
  bool isGoal(const kube::ObjectKey& key) const;

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

// Adds that webhooks, conversion webhooks and APIServices answer, and that webhooks and policies allow.
void assumeOfCalls(AssumptionNotes& notes);
// Adds that controllers remove finalizers and may do so, and that the agent of ManifestWorks works.
void assumeOfControllers(AssumptionNotes& notes);
// Adds what the machine does not follow of workloads in which a controller runs, or that a webhook's Service
// selects: their status and Nodes, what their new Pods need, and NetworkPolicies.
void assumeOfNeededWorkloads(AssumptionNotes& notes);

}  // namespace lastout::replay
