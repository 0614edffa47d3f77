#include "server/controllers/owned_object.h"

#include <algorithm>
#include <vector>

#include "admission/delete_when_free.h"
#include "control/owner_now.h"
#include "kube/well_known.h"
#include "server/runtime/object_client.h"

namespace lastout::server {
namespace {

using control::OwnerNow;

bool has(const std::vector<std::string>& texts, std::string_view text) {
  return std::ranges::find(texts, text) != texts.end();
}

// A kind that nobody serves may be served again: what was of it is not known.
tl::expected<OwnerNow, std::string> readOwner(const ObjectReads& reads, const kube::OwnerReference& owner,
                                              const std::string& namespaceName) {
  const std::string failing = "its owner, " + owner.kind + " " + owner.name + ", cannot be read: ";
  const auto type = reads.kind(kube::groupOf(owner.apiVersion), owner.kind);
  if (!type) return tl::unexpected(failing + "the API server serves no such kind");
  // Nor does the garbage collector find it.
  if (type->namespaced && namespaceName.empty()) return control::ownerNow({.isTypeBelieved = false});
  const auto meta = reads.metadata(*type, namespaceName, owner.name);
  if (!meta) return tl::unexpected(failing + meta.error());
  if (!*meta || (*meta)->uid != owner.uid) return control::ownerNow({.isThere = false});
  return control::ownerNow({.isThere = true,
                            .terminates = (*meta)->deletionTimestamp.has_value(),
                            .orphans = control::orphansDependents((*meta)->finalizers)});
}

// It is read where the view has seen it terminate: that of the object, which was read before, may be another
// of that name.
tl::expected<bool, std::string> terminates(const ObjectReads& reads, const std::string& namespaceName) {
  const kube::ObjectKey key = kube::namespaceKey(namespaceName);
  const auto type = reads.type(key.type);
  if (!type || !reads.isSeenToTerminate(key)) return false;
  const auto meta = reads.metadata(*type, "", namespaceName);
  if (!meta) return tl::unexpected("its namespace, " + namespaceName + ", cannot be read: " + meta.error());
  return *meta && (*meta)->deletionTimestamp;
}

}  // namespace

tl::expected<OwnedObject, std::string> readOwnedObject(const DeferredDeletionEntry& entry,
                                                       const ObjectReads& reads) {
  const kube::ObjectKey& key = entry.deletion.object;
  const auto type = reads.type(key.type);
  if (!type) {
    if (reads.isKnownToBeAbsent(key.type)) return OwnedObject();
    return tl::unexpected("the API server does not serve " + toString(key.type));
  }
  const auto meta = reads.metadata(*type, key.namespaceName, key.name);
  if (!meta) return tl::unexpected(meta.error());
  OwnedObject object;
  if (!*meta || (*meta)->uid != entry.deletion.uid || (*meta)->deletionTimestamp) return object;
  object.isThere = true;
  object.resourceVersion = (*meta)->resourceVersion;
  object.facts.proof = entry.proof;
  object.facts.isInDoubt = entry.neededBy.has_value();
  if (const auto annotated = admission::annotatedBy(**meta)) object.annotation = annotated->value;
  if (entry.proof == control::RequestProof::OfPerson) return object;
  const auto spaceTerminates = terminates(reads, key.namespaceName);
  if (!spaceTerminates) return tl::unexpected(spaceTerminates.error());
  object.facts.spaceTerminates = *spaceTerminates;
  if (*spaceTerminates) return object;
  for (const kube::OwnerReference& owner : (*meta)->ownerReferences)
    object.facts.adopted = object.facts.adopted || !has(entry.deletion.owners, owner.uid);
  if (object.facts.adopted) return object;
  for (const kube::OwnerReference& owner : (*meta)->ownerReferences) {
    const auto now = readOwner(reads, owner, key.namespaceName);
    if (!now) return tl::unexpected(now.error());
    object.facts.owners.add(*now);
    if (control::keepsDependents(*now))
      object.heldBackBy = "its owner, " + owner.kind + " " + owner.name +
                          (*now == OwnerNow::Staying ? ", is there, and nobody deletes it"
                                                     : ", is being deleted so that what it owns stays");
  }
  return object;
}

OwnedObjects::OwnedObjects(client::ApiServer& server, const LiveView& view,
                           std::chrono::milliseconds patience)
    : reads_{.type = [&view](const kube::GroupResource& type) { return view.find(type); },
             .kind =
                 [&view](std::string_view group, std::string_view kind) {
                   std::optional<kube::ResourceType> type;
                   view.inspect([&](const admission::ClusterView&, const kube::ResourceMap& types) {
                     if (const auto* found = types.findKind(group, kind)) type = *found;
                   });
                   return type;
                 },
             .isKnownToBeAbsent =
                 [&view](const kube::GroupResource& type) {
                   return view.knowledge(type) == graph::Knowledge::Absent;
                 },
             .isSeenToTerminate =
                 [&view](const kube::ObjectKey& space) {
                   bool isSeen = false;
                   view.inspect([&](const admission::ClusterView& cluster, const kube::ResourceMap&) {
                     const auto found = cluster.graph().find(space);
                     isSeen = found && cluster.graph().isTerminating(*found);
                   });
                   return isSeen;
                 },
             .metadata =
                 [&server, patience](const kube::ResourceType& type, const std::string& namespaceName,
                                     const std::string& name) {
                   return ObjectClient(server, patience)
                       .getMetadata(type, namespaceName, name)
                       .map_error([](const NotDone& refusal) { return refusal.why; });
                 }} {}

}  // namespace lastout::server
