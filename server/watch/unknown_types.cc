#include "server/watch/unknown_types.h"

#include "admission/explain.h"
#include "kube/messages.h"

namespace lastout::server {
namespace {

using graph::Knowledge;

constexpr size_t kMostJoined = 3;

// What is worst comes first.
struct WayNotToKnow {
  Knowledge knowledge;
  const char* reason;
  std::optional<bool> lasts;
};
constexpr WayNotToKnow kWaysNotToKnow[] = {{Knowledge::Forbidden, "TypeForbidden", true},
                                           {Knowledge::Unserved, "TypeUnserved", true},
                                           {Knowledge::Stale, "TypeStale", true},
                                           {Knowledge::Unknown, "TypeNotListed", std::nullopt}};

}  // namespace

std::optional<UnknownTypes> unknownTypesAmong(const graph::Graph& graph,
                                              const std::set<kube::GroupResource>& types) {
  std::optional<UnknownTypes> found;
  std::vector<std::string> why;
  for (const WayNotToKnow& way : kWaysNotToKnow) {
    for (const kube::GroupResource& type : types) {
      if (knowledgeOf(graph, type) != way.knowledge) continue;
      if (!found) found = {way.lasts, way.reason, ""};
      why.push_back(admission::whyUnknown(graph, type));
    }
  }
  if (found) found->message = joinedForPeople(why);
  return found;
}

std::string joinedForPeople(const std::vector<std::string>& parts) {
  return kube::joinedClauses(parts, kMostJoined);
}

}  // namespace lastout::server
