#include "server/look_inside.h"

#include <set>
#include <utility>
#include <vector>

#include "client/fetch.h"
#include "client/metadata_stream.h"
#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"
#include "manifestwork/ordering.h"
#include "server/watch/ignorance.h"

namespace lastout::server {
namespace {

class Inside {
 public:
  Inside(client::ApiServer& server, const kube::ObjectKey& object, admission::KnownCluster& cluster)
      : server_(server), object_(object), cluster_(cluster) {}

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
    if (admission::believable(knowledgeOf(cluster_.graph, type.type))) return;
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
      const bool carriesOut = isWork && manifestwork::carriesOut(note, work);
      if (!carriesOut && note.object.key != object_) continue;
      cluster_.graph.upsert(cluster_.graph.internType(type->type), note.object.meta);
      if (carriesOut) {
        for (const auto& one : manifestwork::requirementsOf(work, std::span(&note, 1))) require(one);
      }
      addApplied(note);
    }
  }

  // What the agent has applied, it deletes before its note goes. What is gone holds nothing up.
  void addApplied(const manifestwork::AppliedManifestWork& note) {
    const std::vector<manifestwork::Requirement> all = manifestwork::requirementsOf(note);
    for (size_t i = 0; i < all.size(); ++i) {
      const manifestwork::AppliedResource& resource = note.resources[i];
      const kube::ResourceType* type = cluster_.types.find(resource.key.type);
      if (type != nullptr && isThere(*type, resource)) require(all[i]);
    }
  }

  void require(const manifestwork::Requirement& one) {
    const graph::ConditionId condition = cluster_.graph.addCondition(one.condition);
    cluster_.graph.require(one.subject, condition, one.origin);
    cluster_.graph.releaseCondition(condition);
  }

  // In the graph, then, too. Who made another one of that name later is not waited for.
  bool isThere(const kube::ResourceType& type, const manifestwork::AppliedResource& resource) {
    if (admission::believable(knowledgeOf(cluster_.graph, type.type)))
      return cluster_.graph.find(resource.key).has_value();
    if (++read_ > kMostInside) {
      if (read_ == kMostInside + 1) note(type, "there are more than " + std::to_string(kMostInside));
      return false;
    }
    const auto read = readMetadata(server_, type, resource.key);
    if (!read) {
      if (read.error().code != 404) note(type, read.error().why);
      return false;
    }
    cluster_.graph.upsert(cluster_.graph.internType(type.type), *read);
    return resource.uid.empty() || resource.uid == read->uid;
  }

  // What is not served is not there, and what cannot be listed holds nothing up.
  void list(const kube::ResourceType& type, const std::string& space, client::Content content,
            const client::ListStream::TakeObject& take) {
    client::ApiRequest request;
    request.target = client::collectionPath(type, space) + "?limit=" + std::to_string(kMostInside);
    request.accept = content == client::Content::Whole ? "application/json" : client::kAcceptMetadataList;
    const auto whole = client::fetch(server_, request);
    if (!whole) return note(type, whole.error().message);
    const int status = whole->answer.status;
    if (status == 404 || status == 405) return;
    if (status != 200) return note(type, toString(client::statusOfAnswer(*whole)));
    client::ListStream stream(content, take);
    if (const auto pushed = stream.push(whole->body); !pushed) return note(type, pushed.error().message);
    const auto end = stream.finish();
    if (!end) return note(type, end.error().message);
    if (!end->continueToken.empty()) note(type, "there are more than " + std::to_string(kMostInside));
  }

  void note(const kube::ResourceType& type, std::string why) {
    if (!unread_.insert(type.type).second) return;
    types_ += (types_.empty() ? "" : ", ") + toString(type.type);
    if (why_.empty()) why_ = std::move(why);
  }

  client::ApiServer& server_;
  const kube::ObjectKey& object_;
  admission::KnownCluster& cluster_;
  int read_ = 0;  // objects, one by one
  std::set<kube::GroupResource> unread_;
  std::string types_;  // these, in words
  std::string why_;    // of the first of them
};

}  // namespace

Answered<kube::ObjectMeta> readMetadata(client::ApiServer& server, const kube::ResourceType& type,
                                        const kube::ObjectKey& key) {
  client::ApiRequest request;
  request.target = client::objectPath(type, key.namespaceName, key.name);
  request.accept = client::kAcceptMetadata;
  const auto whole = client::fetch(server, request);
  if (!whole) return tl::unexpected(NotDone{0, whole.error().message});
  const int status = whole->answer.status;
  if (status != 200) return tl::unexpected(NotDone{status, toString(client::statusOfAnswer(*whole))});
  auto object = client::decodeObject(whole->body, client::Content::Metadata);
  if (!object) return tl::unexpected(NotDone{0, object.error().message});
  return std::move(object->meta);
}

std::string lookInside(client::ApiServer& server, const kube::ObjectKey& object,
                       admission::KnownCluster& cluster) {
  return Inside(server, object, cluster).look();
}

}  // namespace lastout::server
