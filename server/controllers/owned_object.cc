#include "server/controllers/owned_object.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "admission/delete_when_free.h"
#include "control/owner_now.h"
#include "kube/well_known.h"
#include "server/runtime/object_client.h"

namespace lastout::server {
namespace {

using admission::OwnerNow;

bool has(const std::vector<std::string>& texts, std::string_view text) {
  return std::ranges::find(texts, text) != texts.end();
}

}  // namespace

// A kind that nobody serves may be served again: what was of it is not known.
tl::expected<OwnerNow, std::string> OwnedObjects::readOwner(const kube::OwnerReference& owner,
                                                            const std::string& namespaceName) const {
  const std::string failing = "its owner, " + owner.kind + " " + owner.name + ", cannot be read: ";
  std::optional<kube::ResourceType> type;
  view_.inspect([&](const admission::ClusterView&, const kube::ResourceMap& types) {
    if (const auto* found = types.findKind(kube::groupOf(owner.apiVersion), owner.kind)) type = *found;
  });
  if (!type) return tl::unexpected(failing + "the API server serves no such kind");
  if (type->namespaced && namespaceName.empty()) return OwnerNow::Staying;  // nor does the collector find it
  const auto meta = ObjectClient(server_, patience_).getMetadata(*type, namespaceName, owner.name);
  if (!meta) return tl::unexpected(failing + meta.error().why);
  if (!*meta || (*meta)->uid != owner.uid) return control::ownerNow({.isThere = false});
  return control::ownerNow({.isThere = true,
                            .terminates = (*meta)->deletionTimestamp.has_value(),
                            .orphans = control::orphansDependents((*meta)->finalizers)});
}

// It is read where the view has seen it terminate: that of the object, which was read before, may be another
// of that name.
tl::expected<bool, std::string> OwnedObjects::terminates(const std::string& namespaceName) const {
  const kube::ObjectKey key = kube::namespaceKey(namespaceName);
  bool isSeen = false;
  view_.inspect([&](const admission::ClusterView& view, const kube::ResourceMap&) {
    const auto space = view.graph().find(key);
    isSeen = space && view.graph().isTerminating(*space);
  });
  const auto type = view_.find(key.type);
  if (!isSeen || !type) return false;
  const auto meta = ObjectClient(server_, patience_).getMetadata(*type, "", namespaceName);
  if (!meta)
    return tl::unexpected("its namespace, " + namespaceName + ", cannot be read: " + meta.error().why);
  return *meta && (*meta)->deletionTimestamp;
}

tl::expected<OwnedObject, std::string> OwnedObjects::read(const criticalservice::DeferredDeletion& deletion,
                                                          admission::Proof proof) const {
  const kube::ObjectKey& key = deletion.object;
  const auto type = view_.find(key.type);
  if (!type) {
    if (view_.knowledge(key.type) == graph::Knowledge::Absent) return OwnedObject();
    return tl::unexpected("the API server does not serve " + toString(key.type));
  }
  const auto meta = ObjectClient(server_, patience_).getMetadata(*type, key.namespaceName, key.name);
  if (!meta) return tl::unexpected(meta.error().why);
  OwnedObject object;
  if (!*meta || (*meta)->uid != deletion.uid || (*meta)->deletionTimestamp) return object;
  object.isThere = true;
  object.resourceVersion = (*meta)->resourceVersion;
  object.facts.proof = proof;
  admission::AnnotatedObjects annotated;
  admission::note(annotated, key, **meta);
  if (const auto found = annotated.find(key); found != annotated.end())
    object.annotation = found->second.value;
  if (proof == admission::Proof::OfPerson) return object;
  const auto spaceTerminates = terminates(key.namespaceName);
  if (!spaceTerminates) return tl::unexpected(spaceTerminates.error());
  object.facts.spaceTerminates = *spaceTerminates;
  if (*spaceTerminates) return object;
  for (const kube::OwnerReference& owner : (*meta)->ownerReferences)
    object.facts.adopted = object.facts.adopted || !has(deletion.owners, owner.uid);
  if (object.facts.adopted) return object;
  for (const kube::OwnerReference& owner : (*meta)->ownerReferences) {
    const auto now = readOwner(owner, key.namespaceName);
    if (!now) return tl::unexpected(now.error());
    object.facts.owners.add(*now);
    if (*now == OwnerNow::Staying || *now == OwnerNow::Orphaning)
      object.heldBackBy = "its owner, " + owner.kind + " " + owner.name +
                          (*now == OwnerNow::Staying ? ", is there, and nobody deletes it"
                                                     : ", is being deleted so that what it owns stays");
  }
  return object;
}

}  // namespace lastout::server
