#include "server/spec_snapshot.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "admission/spec_blockers.h"
#include "criticalservice/critical_service.h"
#include "criticalservice/finalizer_removers.h"
#include "graph/edges.h"
#include "kube/api_calls.h"
#include "kube/crd.h"
#include "kube/pods.h"
#include "kube/well_known.h"

namespace lastout::server {
namespace {

using client::Content;

class SpecReader {
 public:
  SpecReader(UnwatchedReader& reader, const kube::ObjectKey& asked, admission::KnownCluster& cluster)
      : reader_(reader), asked_(asked), cluster_(cluster) {}

  void run() {
    const kube::Object* object = get(asked_);
    if (object == nullptr) return;
    readContent();
    readStorage(*object);
    readNodes();
    readCallers();
    readControllers();  // of all that was read
    std::vector<const kube::Object*> all;
    for (const kube::Object& one : objects_) all.push_back(&one);
    const auto isUnknown = [this](const kube::ObjectKey& key) {
      return unknown_.contains(key) || (key.type == kube::kNamespaces && found(key) == nullptr);
    };
    cluster_.specs = admission::findInSpecs(all, cluster_.types, {true, isUnknown, knowsControllers_});
    addToGraph();
    admission::requireSpecBlockers(cluster_.graph, cluster_.specs.blockers);
  }

 private:
  // Reads the whole object once; nullptr: it is not there, or cannot be read.
  const kube::Object* get(const kube::ObjectKey& key) {
    if (!seen_.insert(key).second) return found(key);
    const kube::ResourceType* type = cluster_.types.find(key.type);
    if (type == nullptr) return nullptr;
    auto read = reader_.client().get(*type, key);
    if (!read) {
      reader_.note(key.type, read.error().why);
      unknown_.insert(key);
    }
    if (!read || !*read) return nullptr;
    return add(std::move(**read));
  }

  const kube::Object* add(kube::Object object) {
    objects_.push_back(std::move(object));
    return byKey_[objects_.back().key] = &objects_.back();
  }

  const kube::Object* found(const kube::ObjectKey& key) const {
    const auto found = byKey_.find(key);
    return found == byKey_.end() ? nullptr : found->second;
  }

  // Lists a type; one that is not served has no objects. Returns true if all of it was read.
  bool list(const kube::GroupResource& name, const std::string& space, Content content,
            const std::string& selector = {}) {
    const kube::ResourceType* type = cluster_.types.find(name);
    if (type == nullptr) return true;
    const UnwatchedReader::Listed& listed = reader_.list(*type, space, content, selector);
    for (const kube::Object& object : listed.objects)
      if (seen_.insert(object.key).second) add(object);
    return listed.isComplete;
  }

  // Where controllers run, and what they may do.
  static const std::vector<kube::GroupResource>& controllerTypes() {
    static const std::vector<kube::GroupResource> kTypes = {
        criticalservice::criticalServiceType(),
        kube::kDeployments,
        kube::kStatefulSets,
        kube::kDaemonSets,
        kube::kClusterRoles,
        kube::kClusterRoleBindings,
        kube::kRoles,
        kube::kRoleBindings,
    };
    return kTypes;
  }

  // Whose contents are looked at, and not its labels alone.
  static bool isReadWhole(const kube::GroupResource& type) {
    return type == kube::kPods || type == kube::kServices || type == kube::kEndpointSlices ||
           std::ranges::find(controllerTypes(), type) != controllerTypes().end();
  }

  static bool hasForeignFinalizer(const kube::Object& one) {
    return criticalservice::hasForeignFinalizer(one.meta);
  }

  // Lists the labels, by which webhooks may select; where an object has a finalizer of somebody else, all:
  // who set it stands in its managedFields. Nobody needs the data of Secrets.
  void listContent(const kube::GroupResource& name, const std::string& space) {
    const kube::ResourceType* type = cluster_.types.find(name);
    if (type == nullptr) return;
    bool isWhole = isReadWhole(name);
    if (!isWhole && name != kube::kSecrets)
      isWhole =
          std::ranges::any_of(reader_.list(*type, space, Content::Metadata).objects, hasForeignFinalizer);
    list(name, space, isWhole ? Content::Whole : Content::Metadata);
  }

  // Reads what is in a Namespace, or a CRD's instances.
  void readContent() {
    if (asked_.type == kube::kCustomResourceDefinitions) {
      listContent(kube::definedBy(asked_.name), {});
      list(kube::kNamespaces, {}, Content::Metadata);
      return;
    }
    if (asked_.type != kube::kNamespaces) {
      if (!asked_.namespaceName.empty()) get(kube::namespaceKey(asked_.namespaceName));
      readCrd(asked_.type);
      return;
    }
    const auto space = cluster_.graph.find(asked_);
    std::set<kube::GroupResource> types;
    if (space) {
      for (graph::OutEdges edge(cluster_.graph, graph::vertexOf(*space)); !edge.atEnd(); edge.next()) {
        if (edge.kind() == graph::EdgeKind::Content)
          types.insert(cluster_.graph.key(graph::objectOf(edge.target())).type);
      }
    }
    for (const kube::GroupResource& type : types) {
      listContent(type, asked_.name);
      readCrd(type);
    }
  }

  void readCrd(const kube::GroupResource& type) {
    const kube::ObjectKey crd = kube::crdKey(type);
    if (cluster_.graph.find(crd)) get(crd);
  }

  // Whose finalizers they may be, and by which rights they are removed.
  void readControllers() {
    if (std::ranges::none_of(objects_, hasForeignFinalizer)) return;
    knowsControllers_ = true;
    for (const kube::GroupResource& type : controllerTypes())
      knowsControllers_ = list(type, {}, Content::Whole) && knowsControllers_;
  }

  void readStorage(const kube::Object& object) {
    if (!object.meta.deletionTimestamp) return;
    if (asked_.type == kube::kPersistentVolumeClaims) readPods(asked_);
    if (asked_.type != kube::kPersistentVolumes) return;
    list(kube::kVolumeAttachments, {}, Content::Whole);
    const auto claim = kube::claimOf(object.content);
    if (!claim || get(*claim) == nullptr) return;
    get(kube::namespaceKey(claim->namespaceName));
    readPods(*claim);
  }

  void readPods(const kube::ObjectKey& claim) { list(kube::kPods, claim.namespaceName, Content::Whole); }

  void readNodes() {
    std::set<std::string> nodes;
    for (const kube::Object& one : objects_) {
      if (one.key.type == kube::kPods) nodes.insert(kube::nodeThatEnds(one));
    }
    nodes.erase(std::string());
    for (const std::string& node : nodes) get({kube::kNodes, "", node});
  }

  // Whom the API server calls, and who is behind that.
  void readCallers() {
    list(kube::kValidatingWebhookConfigurations, {}, Content::Whole);
    list(kube::kMutatingWebhookConfigurations, {}, Content::Whole);
    if (asked_.type == kube::kNamespaces) list(kube::kApiServices, {}, Content::Whole);
    std::set<kube::ObjectKey> services;
    const auto add = [&](const std::optional<kube::CallAddress>& address) {
      if (address && !address->isUrl()) services.insert(address->service);
    };
    for (const kube::Object& one : objects_) {
      for (const kube::CalledWebhook& webhook : kube::webhooksOf(one.key.type, one.content)) {
        if (!webhook.failureIsIgnored) add(webhook.address);
      }
      if (one.key.type == kube::kCustomResourceDefinitions) add(kube::calledConversionOf(one.content));
      if (one.key.type == kube::kApiServices) add(kube::aggregatedServerOf(one.content));
    }
    for (const kube::ObjectKey& service : services) readService(service);
  }

  void readService(const kube::ObjectKey& service) {
    if (get(service) == nullptr) return;
    const bool isRead = cluster_.types.find(kube::kEndpointSlices) != nullptr &&
                        list(kube::kEndpointSlices, service.namespaceName, Content::Whole,
                             std::string(kube::kServiceNameLabel) + "=" + service.name);
    if (!isRead) unknown_.insert(service);
  }

  // What no watch follows, and is the middle of a chain.
  void addToGraph() {
    for (const auto& [object, blockers] : cluster_.specs.blockers) {
      for (const admission::SpecBlocker& blocker : blockers) {
        for (const kube::ObjectKey& other : blocker.objects) addToGraph(other);
      }
      addToGraph(object);
    }
  }

  void addToGraph(const kube::ObjectKey& key) {
    const kube::Object* object = found(key);
    if (object == nullptr || cluster_.graph.find(key)) return;
    cluster_.graph.upsert(cluster_.graph.internType(key.type), object->meta);
  }

  UnwatchedReader& reader_;
  const kube::ObjectKey& asked_;
  admission::KnownCluster& cluster_;
  std::deque<kube::Object> objects_;  // that were read; pointers to them stay
  std::map<kube::ObjectKey, const kube::Object*> byKey_;
  std::set<kube::ObjectKey> seen_;     // that were read, or looked for
  std::set<kube::ObjectKey> unknown_;  // that could not be read
  bool knowsControllers_ = false;      // all that readControllers() lists was read
};

}  // namespace

void addSpecBlockers(UnwatchedReader& reader, const kube::ObjectKey& object,
                     admission::KnownCluster& cluster) {
  SpecReader(reader, object, cluster).run();
}

}  // namespace lastout::server
