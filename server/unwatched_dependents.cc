#include "server/unwatched_dependents.h"

#include <utility>
#include <vector>

#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"
#include "manifestwork/ordering.h"

namespace lastout::server {
namespace {

class Inside {
 public:
  Inside(UnwatchedReader& reader, const kube::ObjectKey& object, admission::KnownCluster& cluster)
      : reader_(reader), object_(object), cluster_(cluster) {}

  void look() {
    if (object_.type == kube::kCustomResourceDefinitions) {
      if (const auto* type = cluster_.types.find(kube::definedBy(object_.name))) addAll(*type, {});
    } else if (object_.type == kube::kNamespaces) {
      for (const kube::ResourceType& type : cluster_.types.types()) {
        if (type.namespaced) addAll(type, object_.name);
      }
    } else if (object_.type == manifestwork::manifestWorkType() ||
               object_.type == manifestwork::appliedManifestWorkType()) {
      addNotes();
    }
  }

 private:
  void addAll(const kube::ResourceType& type, const std::string& space) {
    if (graph::isBelievable(cluster_.graph, type.type)) return;
    for (const kube::Object& object : reader_.list(type, space, client::Content::Metadata).objects)
      cluster_.graph.upsert(cluster_.graph.internType(type.type), object.meta);
  }

  // A work on the hub goes after the notes of what was applied for it, and these after all that they note.
  void addNotes() {
    const auto* type = cluster_.types.find(manifestwork::appliedManifestWorkType());
    if (type == nullptr) return;
    std::vector<manifestwork::AppliedManifestWork> notes;
    for (const kube::Object& object : reader_.list(*type, {}, client::Content::Whole).objects) {
      auto note = manifestwork::parseApplied(object);
      if (note) notes.push_back(std::move(*note));
    }
    manifestwork::ManifestWork work;
    work.object.key = object_;
    work.object.meta.name = object_.name;
    const bool isWork = object_.type == manifestwork::manifestWorkType();
    for (const manifestwork::AppliedManifestWork& note : notes) {
      const bool isAppliedFrom = isWork && manifestwork::isAppliedFrom(note, work);
      if (!isAppliedFrom && note.object.key != object_) continue;
      cluster_.graph.upsert(cluster_.graph.internType(type->type), note.object.meta);
      if (isAppliedFrom) {
        for (const auto& one : manifestwork::requirementsOf(work, std::span(&note, 1))) require(one);
      }
      addApplied(note);
    }
  }

  // What the agent has applied, it deletes before its note goes. What is gone holds nothing up.
  void addApplied(const manifestwork::AppliedManifestWork& note) {
    const std::vector<manifestwork::WorkRequirement> all = manifestwork::requirementsOf(note);
    for (size_t i = 0; i < all.size(); ++i) {
      const manifestwork::AppliedResource& resource = note.resources[i];
      const kube::ResourceType* type = cluster_.types.find(resource.key.type);
      if (type != nullptr && isThere(*type, resource)) require(all[i]);
    }
  }

  void require(const manifestwork::WorkRequirement& one) {
    cluster_.graph.require(one.subject, one.condition, one.origin);
  }

  // In the graph, then, too. Who made another one of that name later is not waited for.
  bool isThere(const kube::ResourceType& type, const manifestwork::AppliedResource& resource) {
    if (graph::isBelievable(cluster_.graph, type.type)) return cluster_.graph.find(resource.key).has_value();
    if (++read_ > kMostUnwatched) {
      if (read_ == kMostUnwatched + 1)
        reader_.note(type.type, "there are more than " + std::to_string(kMostUnwatched));
      return false;
    }
    const kube::ObjectKey& key = resource.key;
    const auto read = reader_.client().readMetadata(client::objectPath(type, key.namespaceName, key.name));
    if (!read) reader_.note(type.type, read.error().why);
    if (!read || !*read) return false;
    cluster_.graph.upsert(cluster_.graph.internType(type.type), **read);
    return resource.uid.empty() || resource.uid == (*read)->uid;
  }

  UnwatchedReader& reader_;
  const kube::ObjectKey& object_;
  admission::KnownCluster& cluster_;
  size_t read_ = 0;  // objects, one by one
};

}  // namespace

void addUnwatchedDependents(UnwatchedReader& reader, const kube::ObjectKey& object,
                            admission::KnownCluster& cluster) {
  Inside(reader, object, cluster).look();
}

}  // namespace lastout::server
