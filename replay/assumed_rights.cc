// Assumptions about rights that go: those of aggregated API servers, of the control plane and of network
// plug-ins.
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "criticalservice/default_roles.h"
#include "criticalservice/dependencies.h"
#include "criticalservice/granted_rights.h"
#include "criticalservice/pod_needs.h"
#include "kube/well_known.h"
#include "replay/assumption_notes.h"

namespace lastout::replay {

namespace {

using cluster::kNone;
using cluster::Slot;
using cluster::SlotInfo;
using cluster::SlotKind;
using Account = criticalservice::GrantedRights::Account;

// From there a kubelet runs network plug-ins, and reads which.
constexpr std::array<std::string_view, 2> kNetworkPluginPaths{"/etc/cni/net.d", "/opt/cni/bin"};

class GoingRights {
 public:
  explicit GoingRights(AssumptionNotes& notes) : notes_(notes), model_(notes.model) {
    for (const auto& [key, source] : notes_.manifests) {
      finder_.put(*source);
      if (criticalservice::GrantedRights::isAbout(key.type)) granted_.put(*source);
      const kube::Value* made = criticalservice::podTemplateOf(*source);
      if (made != nullptr) used_.emplace(key.namespaceName, criticalservice::serviceAccountOf(*made));
    }
  }

  void find() {
    if (notes_.hasGoal(SlotKind::Namespace))
      for (const cluster::Interception& call : model_.namespaceCalls)
        if (call.webhook.empty()) addApiService(call);
    for (const Slot slot : notes_.compiled.goal) addControlPlane(model_.slots[slot].key);
    for (const auto& [key, source] : notes_.manifests)
      if (isNetworkPlugin(*source)) addNetworkPlugin(key);
  }

 private:
  // Adds what the Pods of an aggregated API server act through: without it, that server may refuse each
  // request. Pods that go themselves are followed.
  void addApiService(const cluster::Interception& apiService) {
    for (const Slot workload : notes_.behind(apiService)) {
      if (notes_.isGoal(workload)) continue;
      for (const criticalservice::Dependency& right : finder_.rightsOf(model_.slots[workload].key))
        if (notes_.isGoal(right.object))
          notes_.add(right.object, notes_.names.of(apiService.configuration) + " answers without " +
                                       notes_.nameOf(right.object) + ", by which " +
                                       notes_.names.of(workload) + " acts");
    }
  }

  // Adds a role by which a part of Kubernetes itself works, or its binding, which has the name of the role.
  void addControlPlane(const kube::ObjectKey& key) {
    static const std::set<std::string> kOwn{"system:kube-controller-manager",
                                            "system:kube-scheduler",
                                            "system:volume-scheduler",
                                            "system:node",
                                            "system:node-proxier",
                                            "system:discovery"};
    const bool isOwn = kOwn.contains(key.name) || key.name.starts_with("system:controller:") ||
                       key.name.starts_with("system::leader-locking-");
    if (isOwn && criticalservice::GrantedRights::isAbout(key.type))
      notes_.add(key, "Kubernetes works without " + notes_.nameOf(key) +
                          ", by which it acts: an API server makes it again only when it starts");
  }

  static bool isNetworkPlugin(const kube::Object& object) {
    const kube::Value* made =
        object.key.type == kube::kDaemonSets ? criticalservice::podTemplateOf(object) : nullptr;
    if (made == nullptr) return false;
    return std::ranges::any_of(kube::listAt(*made, {"spec", "volumes"}), [](const kube::Value& volume) {
      const std::string& path = kube::textAt(volume, {"hostPath", "path"});
      return std::ranges::any_of(kNetworkPluginPaths,
                                 [&](std::string_view of) { return path.starts_with(of); });
    });
  }

  // Adds a network plug-in that may go before Pods, or its rights: a kubelet ends no Pod whose network the
  // plug-in does not take down.
  void addNetworkPlugin(const kube::ObjectKey& plugin) {
    const std::vector<Slot> pods = podsWithNetworks(plugin);
    if (pods.empty()) return;
    for (const kube::ObjectKey& key : needsOf(plugin))
      if (notes_.isGoal(key))
        notes_.add(key, "the network plug-in " + notes_.nameOf(plugin) + " takes down the networks of " +
                            notes_.names.list(pods) + (key == plugin ? " before it goes" : " without ") +
                            (key == plugin ? std::string() : notes_.nameOf(key)) +
                            ": a kubelet ends no Pod before that");
  }

  // Returns the plug-in itself, and what it acts through. What it puts on a Node may act by another account
  // of its namespace, as which no Pods run.
  std::vector<kube::ObjectKey> needsOf(const kube::ObjectKey& plugin) const {
    std::set<Account> accounts{
        {plugin.namespaceName,
         criticalservice::serviceAccountOf(*criticalservice::podTemplateOf(*notes_.object(plugin)))}};
    for (const auto& [key, source] : notes_.manifests)
      if (key.type == kube::kServiceAccounts && key.namespaceName == plugin.namespaceName &&
          !used_.contains({key.namespaceName, key.name}))
        accounts.emplace(key.namespaceName, key.name);
    std::vector<kube::ObjectKey> needs{plugin};
    for (const Account& account : accounts) {
      if (account.second != criticalservice::kDefaultAccount)
        needs.push_back({kube::kServiceAccounts, account.first, account.second});
      for (const criticalservice::Granted& right : granted_.of(account)) needs.push_back(right.object);
    }
    return needs;
  }

  // Returns the Pods of the goal for which the plug-in made a network.
  std::vector<Slot> podsWithNetworks(const kube::ObjectKey& plugin) const {
    std::vector<Slot> pods;
    for (const Slot slot : notes_.compiled.goal) {
      if (model_.slots[slot].kind != SlotKind::Pod) continue;
      const kube::Object* source = madeFrom(slot);
      const kube::Value* made = source == nullptr ? nullptr : criticalservice::podTemplateOf(*source);
      const kube::Value* host = made == nullptr ? nullptr : made->at({"spec", "hostNetwork"});
      const bool isOfHost = host != nullptr && host->asBool() != nullptr && *host->asBool();
      if (!isOfHost && (source == nullptr || source->key != plugin)) pods.push_back(slot);
    }
    return pods;
  }

  // Returns the object's manifest, or else that of its controller; nullptr: neither has one.
  const kube::Object* madeFrom(Slot slot) const {
    const SlotInfo& info = model_.slots[slot];
    if (const kube::Object* source = notes_.object(info.key)) return source;
    const auto owner = std::ranges::find_if(info.owners, &cluster::OwnerLink::controller);
    return owner == info.owners.end() || owner->owner == kNone ? nullptr : madeFrom(owner->owner);
  }

  AssumptionNotes& notes_;
  const cluster::Model& model_;
  criticalservice::DependencyFinder finder_;
  criticalservice::GrantedRights granted_;
  std::set<Account> used_;  // as which Pods of workloads in the files run
};

}  // namespace

void assumeOfRights(AssumptionNotes& notes) { GoingRights(notes).find(); }

}  // namespace lastout::replay
