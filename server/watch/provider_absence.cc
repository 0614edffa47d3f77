#include "server/watch/provider_absence.h"

#include "server/runtime/object_client.h"

namespace lastout::server {

bool isGone(client::ApiServer& server, const LiveView& view, const kube::ObjectKey& object,
            std::chrono::milliseconds patience) {
  const auto type = view.find(object.type);
  if (!type) return view.knowledge(object.type) == graph::Knowledge::Absent;
  const auto meta = ObjectClient(server, patience).getMetadata(*type, object.namespaceName, object.name);
  return meta && !*meta;
}

}  // namespace lastout::server
