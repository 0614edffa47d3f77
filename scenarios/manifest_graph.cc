#include "scenarios/manifest_graph.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <utility>

#include "criticalservice/validation.h"
#include "manifestwork/ordering.h"

namespace lastout::scenarios {
namespace {

class Builder {
 public:
  explicit Builder(const Manifests& manifests) : manifests_(manifests) {}

  tl::expected<ManifestGraph, kube::Errors> build() {
    addObjects();
    addCriticalServices();
    setKnowledge();
    if (!errors_.empty()) return tl::unexpected(std::move(errors_));
    return std::move(result_);
  }

 private:
  void upsert(const kube::Object& object) {
    if (!seen_.insert(object.key).second) return;  // an object by itself counts before one inside a work
    result_.graph.upsert(result_.graph.internType(object.key.type), object.meta);
    if (object.key.type == criticalservice::criticalServiceType()) services_.push_back(&object);
  }

  void require(const std::vector<manifestwork::Requirement>& requirements) {
    for (const manifestwork::Requirement& requirement : requirements) {
      const graph::ConditionId condition = result_.graph.addCondition(requirement.condition);
      result_.graph.require(requirement.subject, condition, requirement.origin);
      result_.graph.releaseCondition(condition);
    }
  }

  void addObjects() {
    for (const kube::Object& object : manifests_.objects) upsert(object);
    for (const manifestwork::AppliedManifestWork& applied : manifests_.applied) {
      upsert(applied.object);
      require(manifestwork::requirementsOf(applied));
    }
    for (const manifestwork::ManifestWork& work : manifests_.works) addWork(work);
  }

  void addWork(const manifestwork::ManifestWork& work) {
    upsert(work.object);
    for (const kube::Object& manifest : work.manifests) upsert(manifest);
    require(manifestwork::requirementsOf(work, manifests_.applied));
    const auto carriesOut = [&](const manifestwork::AppliedManifestWork& applied) {
      return manifestwork::carriesOut(applied, work);
    };
    if (std::any_of(manifests_.applied.begin(), manifests_.applied.end(), carriesOut)) return;
    const manifestwork::AppliedManifestWork applied = manifestwork::appliedBy(work);
    upsert(applied.object);
    require(manifestwork::requirementsOf(applied));
  }

  void addCriticalServices() {
    const auto inNamespace = [&](const kube::GroupResource& type, std::string_view namespaceName) {
      return std::any_of(seen_.begin(), seen_.end(), [&](const kube::ObjectKey& key) {
        return key.type == type && key.namespaceName == namespaceName;
      });
    };
    for (const kube::Object* object : services_) {
      auto service = criticalservice::parse(*object, manifests_.types);
      if (!service) {
        std::move(service.error().begin(), service.error().end(), std::back_inserter(errors_));
        continue;
      }
      kube::Errors warnings = criticalservice::warnings(*service, manifests_.types, inNamespace);
      for (kube::Error& warning : warnings) {
        if (warning.file.empty()) warning.file = object->file;
        if (warning.position.line == 0) warning.position = object->content.position;
        result_.warnings.push_back(std::move(warning));
      }
      result_.guards.put(result_.graph, *service, manifests_.types);
      types_.insert(service->provider.type);
      for (const criticalservice::Criterion& criterion : service->criteria) {
        types_.insert(criticalservice::typeOf(criterion));
      }
    }
  }

  // There is nothing but the manifests, so all of every type is known.
  void setKnowledge() {
    for (const kube::ResourceType& type : manifests_.types.types()) types_.insert(type.type);
    for (const kube::ObjectKey& key : seen_) types_.insert(key.type);
    for (const kube::GroupResource& type : types_) {
      const bool known = manifests_.types.find(type) != nullptr;
      result_.graph.setKnowledge(result_.graph.internType(type),
                                 known ? graph::Knowledge::Synced : graph::Knowledge::Absent);
    }
  }

  const Manifests& manifests_;
  ManifestGraph result_;
  kube::Errors errors_;
  std::unordered_set<kube::ObjectKey> seen_;
  std::unordered_set<kube::GroupResource> types_;
  std::vector<const kube::Object*> services_;
};

}  // namespace

tl::expected<ManifestGraph, kube::Errors> graphOf(const Manifests& manifests) {
  return Builder(manifests).build();
}

admission::Decision verdict(const ManifestGraph& graph, const kube::ObjectKey& key) {
  return admission::decide(admission::GraphFacts(graph.graph, graph.guards), graph.guards.rules(),
                           graph.guards.stakes(key));
}

}  // namespace lastout::scenarios
