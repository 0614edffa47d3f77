// AssumptionNotes: where the finders of assumptions write what they find, with what all of them look at.
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
  // The same of what is no object, by its name.
  void addOf(const std::string& about, const std::string& text) { found.push_back({about, text, text}); }

  const Scenario& scenario;
  const Compiled& compiled;
  const cluster::Model& model;
  const Names names;
  // Each object by its name; if several manifests have one name, the one that counts.
  std::map<kube::ObjectKey, const kube::Object*> manifests;
  std::vector<Assumption> found;
};

// About webhooks, conversion webhooks, APIServices and admission policies: that they answer, and allow.
void assumeOfCalls(AssumptionNotes& notes);
// About controllers that remove finalizers, and about the agent of ManifestWorks: that they can and do.
void assumeOfControllers(AssumptionNotes& notes);
// About the workloads in which a controller runs, or that a webhook's Service selects. The machine does not
// follow their status, their Nodes, the classes that their Pods name, and the quotas that count these.
void assumeOfNeededWorkloads(AssumptionNotes& notes);

}  // namespace lastout::replay
