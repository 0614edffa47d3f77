#include "server/look_inside.h"

#include <utility>
#include <vector>

#include "client/fetch.h"
#include "client/metadata_stream.h"
#include "manifestwork/manifest_work.h"
#include "manifestwork/ordering.h"
#include "server/ignorance.h"

namespace lastout::server {
namespace {

class Inside {
 public:
  Inside(client::ApiServer& server, const kube::ObjectKey& object, admission::KnownCluster& cluster)
      : server_(server), object_(object), cluster_(cluster) {}

  std::string look() {
    if (object_.type == kube::crdType()) {
      if (const auto* type = cluster_.types.find(kube::definedBy(object_.name))) addAll(*type, {});
    } else if (object_.type == kube::GroupResource{"", "namespaces"}) {
      for (const kube::ResourceType& type : cluster_.types.types()) {
        if (type.namespaced) addAll(type, object_.name);
      }
    } else if (object_.type == manifestwork::manifestWorkType()) {
      addNotes();
    }
    if (unread_.empty()) return {};
    return "not all that " + toString(object_) +
           " waits for is known here, as these cannot be read: " + unread_ + " (" + why_ + ")";
  }

 private:
  void addAll(const kube::ResourceType& type, const std::string& space) {
    if (admission::believable(knowledgeOf(cluster_.graph, type.type))) return;
    list(type, space, client::Content::Metadata, [&](const client::StreamedObject& object) {
      cluster_.graph.upsert(cluster_.graph.internType(type.type), object.meta);
    });
  }

  // The work on the hub goes after them.
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
    for (const manifestwork::AppliedManifestWork& note : notes) {
      if (!manifestwork::carriesOut(note, work)) continue;
      cluster_.graph.upsert(cluster_.graph.internType(type->type), note.object.meta);
      for (const manifestwork::Requirement& one : manifestwork::requirementsOf(work, std::span(&note, 1))) {
        const graph::ConditionId condition = cluster_.graph.addCondition(one.condition);
        cluster_.graph.require(one.subject, condition, one.origin);
        cluster_.graph.releaseCondition(condition);
      }
    }
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
    unread_ += (unread_.empty() ? "" : ", ") + toString(type.type);
    if (why_.empty()) why_ = std::move(why);
  }

  client::ApiServer& server_;
  const kube::ObjectKey& object_;
  admission::KnownCluster& cluster_;
  std::string unread_;  // types
  std::string why_;     // of the first of them
};

}  // namespace

std::string lookInside(client::ApiServer& server, const kube::ObjectKey& object,
                       admission::KnownCluster& cluster) {
  return Inside(server, object, cluster).look();
}

}  // namespace lastout::server
