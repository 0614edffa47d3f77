// ControllerNeeds: what the controllers of a scenario must find beside their Pods, object by object: what the
// scenario says, and what follows from bindings and from spec.serviceAccountName. Internal to replay/.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "cluster/model.h"
#include "criticalservice/writing_rights.h"
#include "replay/scenario.h"

namespace lastout::replay {

// Returns what keeps the controller from removing its finalizer from the object, if these objects are all
// that there are: "needs secrets/a/b, and there is none", "waits for configmaps/a/c".
std::vector<std::string> whatLacks(const ScenarioController& controller, const kube::Object& object,
                                   const std::vector<const kube::Object*>& objects);

class ControllerNeeds {
 public:
  using ByObject = std::unordered_map<cluster::Slot, cluster::RemovalNeeds>;

  // Keeps references. `manifests`: of all objects that are there or may come; of one name the first counts.
  ControllerNeeds(const cluster::Model& model, const std::vector<const kube::Object*>& manifests);

  // For each object from which the controller may remove its finalizer. Appends a warning for each need that
  // nothing in the scenario is.
  ByObject of(const ScenarioController& controller, cluster::Slot runsIn, const std::string& file,
              kube::Errors& warnings) const;

  // True if the manifests have roles or bindings, and none of them lets the ServiceAccount as which the Pods
  // in `runsIn` run take the finalizer off the object, whoever is deleted.
  bool lacksRights(cluster::Slot runsIn, const kube::ObjectKey& object, const std::string& finalizer) const;

  // Returns the ServiceAccounts in the object's namespace by which the controller acts on it, and that no
  // binding ever lets write there. Empty also if the manifests have neither roles nor bindings.
  std::vector<kube::ObjectKey> actingWithoutRights(const ScenarioController& controller,
                                                   const kube::ObjectKey& object) const;

 private:
  std::vector<kube::ObjectPattern> wanted(const ControllerNeed& need, const kube::ObjectKey& object) const;
  std::vector<cluster::Slot> matches(const kube::ObjectPattern& pattern, cluster::Slot but) const;
  std::vector<std::string> namesAt(const kube::ObjectKey& object, const kube::FieldPath& path) const;
  std::vector<std::vector<cluster::Slot>> slotsOf(const criticalservice::WritingRights::Ways& ways) const;
  std::optional<criticalservice::WritingRights::Account> accountOf(cluster::Slot runsIn) const;
  // As of criticalservice::updatedToRemove().
  kube::ObjectKey updated(const kube::ObjectKey& object, const std::string& finalizer) const;
  void addRights(cluster::Slot runsIn, const kube::ObjectKey& object, cluster::RemovalNeeds& out) const;
  // The ServiceAccounts by which the controller acts on the object; where `actsAs` is not written, those that
  // are in the scenario.
  std::vector<kube::ObjectKey> actingAccounts(const ScenarioController& controller,
                                              const kube::ObjectKey& object) const;
  // Returns false if a ServiceAccount that `actsAs` names is not in the scenario.
  bool addActing(const ScenarioController& controller, const kube::ObjectKey& object,
                 cluster::RemovalNeeds& out) const;

  const cluster::Model& model_;
  std::unordered_map<kube::ObjectKey, const kube::Object*> manifests_;
  criticalservice::WritingRights rights_;
};

}  // namespace lastout::replay
