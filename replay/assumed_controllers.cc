// Assumptions about controllers that remove finalizers, inside and outside of the files.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "criticalservice/default_roles.h"
#include "criticalservice/dependencies.h"
#include "kube/value.h"
#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"
#include "replay/assumption_notes.h"
#include "replay/controller_needs.h"

namespace lastout::replay {

namespace {

using cluster::kNone;
using cluster::Slot;
using cluster::SlotInfo;

// As spec.managedBy of a Job names Kubernetes' own controller.
constexpr std::string_view kJobController = "kubernetes.io/job-controller";

class Removers {
 public:
  explicit Removers(AssumptionNotes& notes) : notes_(notes), model_(notes.model) {}

  void find() {
    for (const Slot slot : notes_.compiled.goal) addOutside(slot);
    addControllers();
    addJobManagers();
    addAgent();
    if (notes_.hasGoal(cluster::SlotKind::ManifestWorkReplicaSet))
      addWhatRunsIn(manifestwork::kHubNamespace, "the hub finishes its ManifestWorkReplicaSets");
  }

 private:
  void addControllers() {
    criticalservice::DependencyFinder finder;
    std::vector<const kube::Object*> manifests;
    for (const auto& [key, source] : notes_.manifests) {
      finder.put(*source);
      manifests.push_back(source);
    }
    const ControllerNeeds needs(model_, manifests);
    for (uint32_t number = 0; number < notes_.scenario.controllers.size(); ++number) {
      if (workOf(number).empty()) continue;
      const cluster::FinalizerController& controller = model_.controllers[number];
      if (isOutside(number)) {
        addUsageRemover(number);
        continue;
      }
      const std::string name = "controller " + controller.name;
      const std::string& evidence = notes_.scenario.controllers[number].evidence;
      const std::string claim =
          name +
          (isOneOfSeveral(number) ? " may be the one that removes finalizer " : " removes finalizer ") +
          controller.finalizer + " from " + toString(controller.from) +
          kube::inWords(controller.scope, kube::kMostNamedNamespaces);
      if (!evidence.empty()) notes_.add(model_.slots[controller.runsIn].key, claim + ": " + evidence, claim);
      const std::string outside = name + " always works: it runs outside of the files";
      if (controller.runsIn == kNone)
        notes_.addOf(name, outside);
      else
        addRights(finder, name, model_.slots[controller.runsIn].key);
      if (controller.runsIn != kNone) addJob(name, controller.runsIn);
      if (controller.runsIn != kNone) addMissingRights(needs, number);
      addActingWithoutRights(needs, number);
    }
  }

  // Adds the objects from which Kubernetes removes a finalizer once nothing uses them: what does is not
  // followed.
  void addUsageRemover(uint32_t number) {
    const cluster::FinalizerController& controller = model_.controllers[number];
    if (!kube::isUsageFinalizer(controller.from, controller.finalizer)) return;
    for (const Slot slot : workOf(number))
      notes_.add(model_.slots[slot].key, "Kubernetes removes finalizer " + controller.finalizer + " from " +
                                             notes_.names.of(slot) +
                                             " once nothing uses it: whether something does is not followed");
  }

  // Adds a controller that runs in a Job: it works only while that runs.
  void addJob(const std::string& name, Slot runsIn) {
    const SlotInfo& info = model_.slots[runsIn];
    if (info.kind != cluster::SlotKind::Job && info.kind != cluster::SlotKind::CronJob) return;
    notes_.add(info.key, name + " has done its work before " + notes_.nameOf(info.key) +
                             " ends: when that is, the files do not say");
  }

  // Adds the account, bindings and roles of a controller that are in no file: the machine takes them as
  // present.
  void addRights(const criticalservice::DependencyFinder& finder, const std::string& name,
                 const kube::ObjectKey& workload) {
    for (const criticalservice::Dependency& right : finder.rightsOf(workload)) {
      if (model_.find(right.object) || criticalservice::isDefaultRole(right.object)) continue;
      const bool isAccount = right.object.type == kube::kServiceAccounts;
      notes_.add(right.object,
                 name + " has the rights that it needs: " + notes_.nameOf(right.object) +
                     (isAccount ? ", as which it runs, is not in the files"
                                : ", which a binding of its ServiceAccount names, is not in the files"));
    }
  }

  // Adds what no binding in the files lets the controller update: the right may come from elsewhere, or not
  // exist.
  void addMissingRights(const ControllerNeeds& needs, uint32_t number) {
    const cluster::FinalizerController& controller = model_.controllers[number];
    std::vector<Slot> lacking = workOf(number);
    std::erase_if(lacking, [&](Slot slot) {
      return !needs.lacksRights(controller.runsIn, model_.slots[slot].key, controller.finalizer);
    });
    if (lacking.empty()) return;
    notes_.add(model_.slots[controller.runsIn].key,
               "controller " + controller.name + " may take finalizer " + controller.finalizer + " off " +
                   notes_.names.list(lacking) + ": no binding in the files lets its ServiceAccount update " +
                   (lacking.size() == 1 ? "it" : "them"));
  }

  // Does the same for the ServiceAccounts as which it acts.
  void addActingWithoutRights(const ControllerNeeds& needs, uint32_t number) {
    std::map<kube::ObjectKey, std::vector<Slot>> lacking;
    for (const Slot slot : workOf(number)) {
      for (const kube::ObjectKey& account :
           needs.actingWithoutRights(notes_.scenario.controllers[number], model_.slots[slot].key))
        lacking[account].push_back(slot);
    }
    for (const auto& [account, objects] : lacking)
      notes_.add(account, "controller " + model_.controllers[number].name + " may do its work for " +
                              notes_.names.list(objects) + " as " + notes_.nameOf(account) +
                              ": no binding in the files lets that ServiceAccount write in its namespace");
  }

  // Adds a finalizer that a controller outside of the files removes: it is on the object, or that controller
  // will put it there.
  void addOutside(Slot slot) {
    const SlotInfo& info = model_.slots[slot];
    const kube::Object* source = notes_.object(info.key);
    if (source == nullptr) return;
    const kube::Value& content = source->content;
    const std::string& driver = kube::textAt(content, {"spec", "csi", "driver"});
    if (info.key.type == kube::kServices)
      addOutside(slot, "the cloud", kube::kLoadBalancerFinalizer,
                 kube::textAt(content, {"spec", "type"}) == "LoadBalancer"
                     ? "which its controller puts on a Service of type LoadBalancer"
                     : "");
    if (info.key.type == kube::kPersistentVolumes)
      addOutside(
          slot, "the provisioner" + (driver.empty() ? driver : " of " + driver), kube::kProvisionerFinalizer,
          !driver.empty() && kube::textAt(content, {"spec", "persistentVolumeReclaimPolicy"}) == "Delete"
              ? "which it puts on a volume that it is to delete"
              : "");
    for (const std::string& finalizer : info.finalizers)
      if (finalizer.starts_with(kube::kAttacherFinalizerPrefix))
        addOutside(slot, "the attacher of its CSI driver", finalizer, "");
  }

  // `gets`: why an object gets it that does not carry it; empty: it does not.
  void addOutside(Slot slot, const std::string& who, std::string_view finalizer, const std::string& gets) {
    const SlotInfo& info = model_.slots[slot];
    const std::string claim = who + " lets " + notes_.nameOf(info.key) + " go";
    const bool isRemoved = std::ranges::any_of(info.removals, [&](const cluster::Removal& removal) {
      return isOutside(removal.controller) && model_.controllers[removal.controller].finalizer == finalizer;
    });
    const bool carries = std::ranges::find(info.finalizers, finalizer) != info.finalizers.end();
    if (isRemoved)
      notes_.add(info.key,
                 claim + ": no file has the controller that removes finalizer " + std::string(finalizer),
                 claim);
    else if (!carries && !gets.empty())
      notes_.add(info.key,
                 claim + ": finalizer " + std::string(finalizer) + ", " + gets + ", is not in the files",
                 claim);
  }

  // Returns true if findOutsideRemovers() found the controller.
  bool isOutside(uint32_t controller) const {
    return controller < notes_.scenario.controllers.size() &&
           model_.controllers[controller].runsIn == kNone &&
           !notes_.scenario.controllers[controller].evidence.empty();
  }

  // Returns true if others may be the ones that remove its finalizer, and nothing tells which it is.
  bool isOneOfSeveral(uint32_t number) const {
    return std::ranges::any_of(model_.controllers[number].needs,
                               [](const auto& one) { return one.second.candidates.size() > 1; });
  }

  // Returns the objects of the goal from which the controller may remove its finalizer.
  std::vector<Slot> workOf(uint32_t number) const {
    std::vector<Slot> work;
    for (const Slot slot : notes_.compiled.goal) {
      const bool isRemoved =
          std::ranges::any_of(model_.slots[slot].removals, [&](const cluster::Removal& removal) {
            return removal.controller == number && removal.isCandidate();
          });
      if (isRemoved) work.push_back(slot);
    }
    return work;
  }

  // Adds what the agent of ManifestWorks needs and clients delete: in the machine the agent always works.
  void addAgent() {
    std::set<std::string> spaces;  // of works
    bool works = false;
    for (const Slot slot : notes_.compiled.goal) {
      const SlotInfo& info = model_.slots[slot];
      works = works || info.work != kNone;
      if (info.kind == cluster::SlotKind::ManifestWork) spaces.insert(info.key.namespaceName);
    }
    if (!works) return;
    for (const cluster::Work& work : model_.works) addWorkOfHub(work);
    const std::string claim = "the agent finishes its ManifestWorks";
    addWhatRunsIn(manifestwork::kAgentNamespace, claim);
    for (const Slot slot : notes_.compiled.goal) {
      const kube::ObjectKey& key = model_.slots[slot].key;
      if (key.type == kube::kRoleBindings && spaces.contains(key.namespaceName)) addWithout(claim, key);
    }
  }

  // Adds the work of an AppliedManifestWork that is in no file: its agent applies again what a work says.
  void addWorkOfHub(const cluster::Work& work) {
    const kube::ObjectKey& key = model_.slots[work.manifestWork].key;
    const SlotInfo& applied = model_.slots[work.applied];
    const bool concerns =
        notes_.isGoal(work.applied) ||
        std::ranges::any_of(applied.dependents, [this](Slot slot) { return notes_.isGoal(slot); });
    if (model_.slots[work.manifestWork].presentAtStart || !concerns) return;
    notes_.add(applied.key,
               "the hub has deleted ManifestWork " + key.name + ", of " + notes_.nameOf(applied.key) +
                   ": no file has it, and as long as it is there, the agent applies its objects again");
  }

  // Adds the namespace and what is in it, but for what other objects of it make.
  void addWhatRunsIn(std::string_view space, const std::string& claim) {
    for (const Slot slot : notes_.compiled.goal) {
      const SlotInfo& info = model_.slots[slot];
      const kube::ObjectKey& key = info.key;
      if (info.kind != cluster::SlotKind::Pod && info.kind != cluster::SlotKind::ReplicaSet &&
          kube::isPartOfNamespace(space, key.type, key.namespaceName, key.name))
        addWithout(claim, key);
    }
  }

  void addWithout(const std::string& claim, const kube::ObjectKey& key) {
    notes_.add(key, claim + " without " + notes_.nameOf(key) + ": what it needs is not followed");
  }

  // Adds a Job that somebody else than Kubernetes' own controller manages, and whose Pods are to go.
  void addJobManagers() {
    for (const auto& [key, job] : notes_.manifests) {
      const auto slot = model_.find(key);
      const std::string& manager = kube::textAt(job->content, {"spec", "managedBy"});
      if (key.type != kube::kJobs || !slot || manager.empty() || manager == kJobController) continue;
      std::vector<Slot> pods = model_.slots[*slot].dependents;
      std::erase_if(pods, [this](Slot pod) {
        return model_.slots[pod].kind != cluster::SlotKind::Pod || !notes_.isGoal(pod);
      });
      if (!pods.empty())
        notes_.add(key, manager + ", which manages " + notes_.nameOf(key) + ", takes finalizer " +
                            std::string(kube::kJobTrackingFinalizer) + " off " + notes_.names.list(pods) +
                            ": while the Job is there, Kubernetes leaves that to it");
    }
  }

  AssumptionNotes& notes_;
  const cluster::Model& model_;
};

}  // namespace

void assumeOfControllers(AssumptionNotes& notes) { Removers(notes).find(); }

}  // namespace lastout::replay
