#include "server/unwatched_dependents.h"

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "client/metadata_stream.h"
#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"
#include "manifestwork/ordering.h"
#include "server/runtime/object_client.h"

namespace lastout::server {
namespace {

class Inside {
 public:
  Inside(client::ApiServer& server, const kube::ObjectKey& object, admission::KnownCluster& cluster)
      : client_(server, std::nullopt, kMostPageBytes), object_(object), cluster_(cluster) {}

  std::string look() {
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
    if (unread_.empty()) return {};
    return "not all that " + toString(object_) +
           " waits for is known here, as these cannot be read: " + types_ + " (" + why_ + ")";
  }

 private:
  void addAll(const kube::ResourceType& type, const std::string& space) {
    if (graph::isBelievable(cluster_.graph, type.type)) return;
    list(type, space, client::Content::Metadata, [&](const client::StreamedObject& object) {
      cluster_.graph.upsert(cluster_.graph.internType(type.type), object.meta);
    });
  }

  // A work on the hub goes after the notes of what was applied for it, and these after all that they note.
  void addNotes() {
    const auto* type = cluster_.types.find(manifestwork::appliedManifestWorkType());
    if (type == nullptr) return;
    std::vector<manifestwork::AppliedManifestWork> notes;
    list(*type, {}, client::Content::Whole, [&](client::StreamedObject object) {
      auto note = manifestwork::parseApplied(client::toObject(std::move(object), *type));
      if (note) notes.push_back(std::move(*note));
    });
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
    if (++read_ > kMostUnwatchedDependents) {
      if (read_ == kMostUnwatchedDependents + 1)
        note(type, "there are more than " + std::to_string(kMostUnwatchedDependents));
      return false;
    }
    const kube::ObjectKey& key = resource.key;
    const auto read = client_.readMetadata(client::objectPath(type, key.namespaceName, key.name));
    if (!read) note(type, read.error().why);
    if (!read || !*read) return false;
    cluster_.graph.upsert(cluster_.graph.internType(type.type), **read);
    return resource.uid.empty() || resource.uid == (*read)->uid;
  }

  // What is not served is not there, and what cannot be listed holds nothing up.
  void list(const kube::ResourceType& type, const std::string& space, client::Content content,
            const client::ListStream::TakeObject& take) {
    auto page = client_.page({client::collectionPath(type, space), content, kMostUnwatchedDependents});
    if (!page && (page.error().code == 404 || page.error().code == 405)) return;
    if (!page) return note(type, page.error().why);
    for (client::StreamedObject& object : page->objects) take(std::move(object));
    if (!page->continueToken.empty())
      note(type, "there are more than " + std::to_string(kMostUnwatchedDependents));
  }

  void note(const kube::ResourceType& type, std::string why) {
    if (!unread_.insert(type.type).second) return;
    types_ += (types_.empty() ? "" : ", ") + toString(type.type);
    if (why_.empty()) why_ = std::move(why);
  }

  const ObjectClient client_;
  const kube::ObjectKey& object_;
  admission::KnownCluster& cluster_;
  size_t read_ = 0;  // objects, one by one
  std::set<kube::GroupResource> unread_;
  std::string types_;  // these, in words
  std::string why_;    // of the first of them
};

}  // namespace

std::string addUnwatchedDependents(client::ApiServer& server, const kube::ObjectKey& object,
                                   admission::KnownCluster& cluster) {
  return Inside(server, object, cluster).look();
}

}  // namespace lastout::server
