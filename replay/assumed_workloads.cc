// Assumptions about the workloads in which a controller runs, or that API servers call.
#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "cluster/unwritten.h"
#include "criticalservice/pod_needs.h"
#include "criticalservice/readiness.h"
#include "kube/pods.h"
#include "kube/well_known.h"
#include "replay/assumption_notes.h"

namespace lastout::replay {

namespace {

using cluster::kNone;
using cluster::Slot;
using cluster::SlotInfo;
using cluster::SlotKind;

constexpr const char* kEnforce = "pod-security.kubernetes.io/enforce";

class NeededWorkloads {
 public:
  explicit NeededWorkloads(AssumptionNotes& notes)
      : notes_(notes), model_(notes.model), needed_(notes.needed()) {}

  void find() {
    for (const Slot slot : needed_) {
      addStatus(slot);
      addPaused(slot);
      addClassesOfPods(slot);
      addAccounts(slot);
      addNetworkPolicies(slot);
      addLeases(slot);
      if (const std::string pods = newPodsOf(slot); !pods.empty()) addNewPods(slot, pods);
    }
    for (const auto& [key, manifest] : notes_.manifests)
      if (key.type == kube::kNodes) addNode(*manifest);
    for (const Slot slot : notes_.compiled.goal) {
      addVolumePlugin(slot);
      addFileServers(slot);
    }
  }

 private:
  // Adds a workload that is not Ready by its status: the machine follows only a Pod that has ended, and a
  // scale of 0.
  void addStatus(Slot slot) {
    const SlotInfo& info = model_.slots[slot];
    const kube::Object* source = notes_.object(info.key);
    const kube::Value* status = source == nullptr ? nullptr : source->content.at({"status"});
    const bool isTold = status != nullptr && status->asMap() != nullptr && !status->asMap()->empty();
    const bool isFollowed = info.kind == SlotKind::Pod ? info.hasStoppedAtStart : info.valueAtCreation == 0;
    if (!isTold || isFollowed) return;
    const criticalservice::Readiness readiness = criticalservice::readinessOf(info.key.type, source->content);
    if (readiness.ready.value_or(false)) return;
    notes_.add(info.key, notes_.names.of(slot) + " becomes Ready: by its status " + readiness.message);
  }

  // Adds a Deployment that is paused: it gets no new ReplicaSet, and the machine makes one where no file has
  // it.
  void addPaused(Slot slot) {
    const SlotInfo& info = model_.slots[slot];
    const kube::Object* source = info.kind == SlotKind::Deployment ? notes_.object(info.key) : nullptr;
    const kube::Value* paused = source == nullptr ? nullptr : source->content.at({"spec", "paused"});
    const bool isPaused = paused != nullptr && paused->asBool() != nullptr && *paused->asBool();
    const auto isGiven = [this](Slot child) { return notes_.object(model_.slots[child].key) != nullptr; };
    if (isPaused && std::ranges::none_of(info.children, isGiven))
      notes_.add(info.key,
                 notes_.names.of(slot) + " has Pods: it is paused, and no file has a ReplicaSet of it");
  }

  // Returns the Pod template of the object's manifest, or a Pod itself; nullptr: there is none.
  const kube::Value* podTemplateOf(const kube::ObjectKey& key) const {
    const kube::Object* source = notes_.object(key);
    return source == nullptr ? nullptr : criticalservice::podTemplateOf(*source);
  }

  // Returns the classes that the Pods name: API servers refuse a Pod whose class is not there.
  static std::vector<kube::ObjectKey> classesOf(const kube::Value& made) {
    std::vector<kube::ObjectKey> classes;
    for (const auto& [type, field] : {std::pair(&kube::kPriorityClasses, "priorityClassName"),
                                      std::pair(&kube::kRuntimeClasses, "runtimeClassName")}) {
      const std::string& name = kube::textAt(made, {"spec", field});
      if (!name.empty()) classes.push_back({*type, "", name});
    }
    return classes;
  }

  void addClassesOfPods(Slot slot) {
    const kube::Value* made = podTemplateOf(model_.slots[slot].key);
    if (made == nullptr) return;
    for (const kube::ObjectKey& key : classesOf(*made))
      if (notes_.isGoal(key))
        notes_.add(key, notes_.names.of(slot) + " needs no new Pod without " + notes_.nameOf(key) +
                            ", which its Pods name");
  }

  // Returns the Pods that a workload has still to get, in words; empty: none, as far as it is known.
  std::string newPodsOf(Slot slot) const {
    std::vector<Slot> replaced;
    for (const WatchedEvent& gone : notes_.compiled.replaced)
      if (isBelow(slot, gone.slot)) replaced.push_back(gone.slot);
    if (!replaced.empty())
      return "the Pods by which " + notes_.names.of(slot) + " replaces " + notes_.names.list(replaced);
    const SlotInfo& info = model_.slots[slot];
    const bool isChanged = std::ranges::any_of(info.steps, [this](uint32_t step) {
      return model_.steps[step].verb != cluster::ClientStep::Verb::Delete;
    });
    return !info.presentAtStart || isChanged ? "the Pods that " + notes_.names.of(slot) + " gets"
                                             : std::string();
  }

  // Adds what admits new Pods, and places them: what there is room for is not followed.
  void addNewPods(Slot slot, const std::string& pods) {
    const kube::ObjectKey& workload = model_.slots[slot].key;
    bool hasNodes = false;
    for (const auto& [key, manifest] : notes_.manifests) {
      hasNodes = hasNodes || key.type == kube::kNodes;
      if (key.namespaceName == workload.namespaceName &&
          (key.type == kube::kResourceQuotas || key.type == kube::kLimitRanges))
        notes_.add(key, notes_.nameOf(key) + " admits " + pods);
    }
    if (hasNodes) notes_.add(workload, "a Node takes " + pods + ": which Nodes fit is not followed");
    if (const kube::Object* space = notes_.object(kube::namespaceKey(workload.namespaceName)))
      addPodSecurity(*space, pods);
    if (const kube::Value* made = podTemplateOf(workload)) {
      addWhatNewPodsName(workload, *made, pods);
      addWhatNewPodsNeed(*notes_.object(workload), *made, pods);
    }
  }

  // Adds what a kubelet waits for before it starts the Pods, and no file has.
  void addWhatNewPodsNeed(const kube::Object& workload, const kube::Value& made, const std::string& pods) {
    for (const criticalservice::Dependency& need : criticalservice::podNeeds(workload, made)) {
      const auto& [type, space, name] = need.object;
      const bool isMade = (type == kube::kConfigMaps && name == kube::kRootCaConfigMap) ||
                          (type == kube::kServiceAccounts && name == criticalservice::kDefaultAccount);
      if (!isMade && !model_.find(need.object))
        notes_.add(need.object, notes_.nameOf(need.object) + " is there for " + pods + ": no file has it");
    }
  }

  void addPodSecurity(const kube::Object& space, const std::string& pods) {
    const auto level = space.meta.labels.find(kEnforce);
    if (level != space.meta.labels.end() && level->second != "privileged")
      notes_.add(space.key, "Pod Security admission lets in " + pods + ": " + notes_.nameOf(space.key) +
                                " enforces the level " + level->second);
  }

  void addWhatNewPodsName(const kube::ObjectKey& workload, const kube::Value& made, const std::string& pods) {
    addTokens(workload, made, pods);
    const std::string& scheduler = kube::textAt(made, {"spec", "schedulerName"});
    if (!scheduler.empty() && scheduler != "default-scheduler")
      notes_.add(workload, "scheduler " + scheduler + " places " + pods);
    for (const kube::ObjectKey& key : classesOf(made))
      // API servers make "system-node-critical" and the like.
      if (!key.name.starts_with("system-") && notes_.object(key) == nullptr)
        notes_.add(key, notes_.nameOf(key) + " is there for " + pods + ": no file has it");
  }

  // Adds Secrets with tokens of ServiceAccounts that may be deleted: Kubernetes deletes such a Secret, too.
  void addTokens(const kube::ObjectKey& workload, const kube::Value& made, const std::string& pods) {
    for (const kube::Value& volume : kube::listAt(made, {"spec", "volumes"})) {
      const kube::Object* secret = notes_.object(
          {kube::kSecrets, workload.namespaceName, kube::textAt(volume, {"secret", "secretName"})});
      if (secret == nullptr ||
          kube::textAt(secret->content, {"type"}) != "kubernetes.io/service-account-token")
        continue;
      const auto named = secret->meta.annotations.find("kubernetes.io/service-account.name");
      if (named == secret->meta.annotations.end()) continue;
      const kube::ObjectKey account{kube::kServiceAccounts, workload.namespaceName, named->second};
      if (notes_.isGoal(account))
        notes_.add(secret->key, notes_.nameOf(secret->key) + " is there for " + pods +
                                    ": Kubernetes deletes it with " + notes_.nameOf(account));
    }
  }

  // Adds a ServiceAccount that may terminate for long: API servers refuse its tokens after a minute.
  void addAccounts(Slot slot) {
    for (const cluster::Ways& ways : model_.slots[slot].rights) {
      if (ways.size() != 1) continue;  // the account itself is no choice
      for (const Slot account : ways.front()) {
        const SlotInfo& info = model_.slots[account];
        if (info.key.type == kube::kServiceAccounts && notes_.isGoal(account) && !info.finalizers.empty())
          notes_.add(info.key, notes_.names.of(slot) + " goes on while " + notes_.names.of(account) +
                                   " terminates: API servers refuse its tokens after a minute");
      }
    }
  }

  // Those of network plug-ins, too: ciliumclusterwidenetworkpolicies.cilium.io and the like.
  void addNetworkPolicies(Slot slot) {
    const std::string& space = model_.slots[slot].key.namespaceName;
    for (const auto& [key, manifest] : notes_.manifests)
      if (key.type.resource.ends_with("networkpolicies") &&
          (key.namespaceName.empty() || key.namespaceName == space))
        notes_.add(key, notes_.names.of(slot) +
                            " can be reached, and reaches API servers, with and without " +
                            notes_.nameOf(key) + ": NetworkPolicies are not followed");
  }

  // Adds a Lease that may be deleted, by which the replicas of a workload elect the one that works.
  void addLeases(Slot slot) {
    const SlotInfo& workload = model_.slots[slot];
    if (notes_.isGoal(slot) || notes_.isGoal({kube::kNamespaces, "", workload.key.namespaceName})) return;
    for (const Slot lease : notes_.compiled.goal) {
      const kube::ObjectKey& key = model_.slots[lease].key;
      if (key.type == kube::kLeases && key.namespaceName == workload.key.namespaceName)
        notes_.add(key, notes_.names.of(slot) + " creates " + notes_.names.of(lease) +
                            " again: its replicas may elect by it the one that works");
    }
  }

  // Adds a CSI driver's plugin that may go before Pods with volumes: a kubelet ends these once it has
  // unmounted the volumes, by the plugin.
  void addVolumePlugin(Slot plugin) {
    const SlotInfo& info = model_.slots[plugin];
    const kube::Value* made = info.kind == SlotKind::DaemonSet ? podTemplateOf(info.key) : nullptr;
    if (made == nullptr) return;
    const auto isOfPlugins = [](const kube::Value& volume) {
      return kube::textAt(volume, {"hostPath", "path"}).starts_with("/var/lib/kubelet/plugins");
    };
    if (std::ranges::none_of(kube::listAt(*made, {"spec", "volumes"}), isOfPlugins)) return;
    std::vector<Slot> users;
    for (const Slot slot : notes_.compiled.goal)
      if (mountsVolumes(model_.slots[slot].key)) users.push_back(slot);
    if (!users.empty())
      notes_.add(info.key, notes_.names.of(plugin) + " unmounts the volumes of " + notes_.names.list(users) +
                               " before it goes: a kubelet ends no Pod whose volumes are mounted");
  }

  bool mountsVolumes(const kube::ObjectKey& key) const {
    const kube::Value* pod = podTemplateOf(key);
    return pod != nullptr &&
           std::ranges::any_of(kube::listAt(*pod, {"spec", "volumes"}), [](const auto& volume) {
             return volume.find("persistentVolumeClaim") != nullptr || volume.find("csi") != nullptr ||
                    volume.find("ephemeral") != nullptr;
           });
  }

  // Adds the NFS servers in the cluster that may go before a Pod that mounts a volume of theirs.
  void addFileServers(Slot client) {
    const kube::ObjectKey& key = model_.slots[client].key;
    const kube::Value* made = podTemplateOf(key);
    if (made == nullptr) return;
    for (const std::string& server : fileServersOf(client, *made))
      for (const auto& [name, service] : notes_.manifests)
        if (name.type == kube::kServices && isReachedAs(*service, server) && mayGo(*service))
          notes_.add(key, notes_.nameOf(name) + " reaches an NFS server until " + notes_.names.of(client) +
                              " is gone: a kubelet ends no Pod whose volumes are mounted");
  }

  // Returns the addresses of the NFS servers whose volumes the Pods mount, themselves or by their claims.
  std::set<std::string> fileServersOf(Slot client, const kube::Value& made) const {
    std::set<std::string> servers;
    for (const kube::Value& volume : kube::listAt(made, {"spec", "volumes"}))
      servers.insert(kube::textAt(volume, {"nfs", "server"}));
    for (const SlotInfo& volume : model_.slots) {
      const kube::Object* source =
          volume.kind == SlotKind::PersistentVolume ? notes_.object(volume.key) : nullptr;
      if (source == nullptr ||
          std::ranges::none_of(volume.children, [&](Slot claim) { return isUserOf(client, claim); }))
        continue;
      servers.insert(kube::textAt(source->content, {"spec", "nfs", "server"}));
      servers.insert(kube::textAt(source->content, {"spec", "csi", "volumeAttributes", "server"}));
    }
    servers.erase("");
    return servers;
  }

  // Returns true if Pods of the client mount the claim.
  bool isUserOf(Slot client, Slot claim) const {
    return std::ranges::any_of(model_.slots[claim].children,
                               [&](Slot pod) { return pod == client || isBelow(client, pod); });
  }

  // `address`: "nfs.storage.svc.cluster.local", or the Service's clusterIP.
  static bool isReachedAs(const kube::Object& service, const std::string& address) {
    const std::string name = service.key.name + "." + service.key.namespaceName;
    return address == name || address.starts_with(name + ".") ||
           address == kube::textAt(service.content, {"spec", "clusterIP"});
  }

  // Returns true if the Service may be deleted, or something whose Pods it selects.
  bool mayGo(const kube::Object& service) const {
    return notes_.isGoal(service.key) || std::ranges::any_of(notes_.manifests, [&](const auto& one) {
             return notes_.isGoal(one.first) && criticalservice::isBehind(service, *one.second);
           });
  }

  // Adds a Node that has to say that its Pods have stopped, that runs needed Pods, or that may be deleted.
  void addNode(const kube::Object& node) {
    std::vector<Slot> going;
    std::vector<Slot> needed;
    std::vector<Slot> bare;
    std::vector<Slot> replaced;
    for (const auto& [slot, pod] : podsOn(node.key.name)) {
      const bool isNeeded = runsNeeded(slot);
      if (notes_.isGoal(slot) && !kube::nodeThatEnds(*pod).empty()) going.push_back(slot);
      if (isNeeded) needed.push_back(slot);
      if (isNeeded) (model_.slots[slot].owners.empty() ? bare : replaced).push_back(slot);
    }
    const bool isNotReady = !kube::notReadyStatus(node.content).empty();
    const std::vector<Slot> unplaced = unplacedWorkloads();
    const std::string name = "node " + node.key.name;
    if (isNotReady && !kube::isOutOfService(node.content) && !going.empty())
      notes_.add(node.key, name + " stops " + notes_.names.list(going) + ": its condition Ready is not True");
    if (isNotReady && !needed.empty())
      notes_.add(node.key, name + " runs " + notes_.names.list(needed) + ": its condition Ready is not True");
    if (isNotReady && !unplaced.empty())
      notes_.add(node.key, "another Node than " + node.key.name + " runs the Pods of " +
                               notes_.names.list(unplaced) +
                               ": its condition Ready is not True, and no file says where they run");
    if (notes_.isGoal(node.key)) addNodeThatGoes(node.key, name, bare, replaced);
  }

  // `bare`: needed Pods on it without a workload; `replaced`: those of workloads.
  void addNodeThatGoes(const kube::ObjectKey& node, const std::string& name, const std::vector<Slot>& bare,
                       const std::vector<Slot>& replaced) {
    if (!replaced.empty())
      notes_.add(node, "another Node takes the Pods that replace " + notes_.names.list(replaced) +
                           " without " + name);
    if (const std::vector<Slot> unplaced = unplacedWorkloads(); !unplaced.empty())
      notes_.add(node, "the Pods of " + notes_.names.list(unplaced) + " can run without " + name +
                           ": no file says where they run");
    if (!bare.empty())
      notes_.add(node, notes_.names.list(bare) + (bare.size() == 1 ? " stays" : " stay") + " without " +
                           name +
                           ": Kubernetes deletes the Pods of a Node that is gone, and no "
                           "workload makes them again");
  }

  std::vector<std::pair<Slot, const kube::Object*>> podsOn(const std::string& node) const {
    std::vector<std::pair<Slot, const kube::Object*>> pods;
    for (Slot slot = 0; slot < model_.slots.size(); ++slot) {
      if (model_.slots[slot].kind != SlotKind::Pod) continue;
      const kube::Object* pod = notes_.object(model_.slots[slot].key);
      if (pod != nullptr && kube::nodeOf(*pod) == node) pods.emplace_back(slot, pod);
    }
    return pods;
  }

  // Returns the needed workloads none of whose Pods has a Node in the files.
  std::vector<Slot> unplacedWorkloads() const {
    std::vector<Slot> unplaced;
    std::ranges::copy_if(needed_, std::back_inserter(unplaced),
                         [this](Slot workload) { return !isPlaced(workload); });
    return unplaced;
  }
  bool isPlaced(Slot slot) const {
    const kube::Object* pod =
        model_.slots[slot].kind == SlotKind::Pod ? notes_.object(model_.slots[slot].key) : nullptr;
    return (pod != nullptr && !kube::nodeOf(*pod).empty()) ||
           std::ranges::any_of(model_.slots[slot].children, [this](Slot child) { return isPlaced(child); });
  }

  // Returns true if the Pod is needed, or belongs to a needed workload.
  bool runsNeeded(Slot pod) const {
    return needed_.contains(pod) ||
           std::ranges::any_of(needed_, [&](Slot slot) { return isBelow(slot, pod); });
  }
  bool isBelow(Slot workload, Slot pod) const {
    return std::ranges::any_of(model_.slots[workload].children,
                               [&](Slot child) { return child == pod || isBelow(child, pod); });
  }

  AssumptionNotes& notes_;
  const cluster::Model& model_;
  const std::set<Slot> needed_;
};

}  // namespace

void assumeOfNeededWorkloads(AssumptionNotes& notes) { NeededWorkloads(notes).find(); }

}  // namespace lastout::replay
