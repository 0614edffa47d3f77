#include "server/review/policy_reads.h"

#include <chrono>
#include <utility>

namespace lastout::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Fails once it is too late.
RequestResult<ObjectClient> clientUntil(client::ApiServer& server, TimePoint deadline) {
  const auto left = std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now());
  if (left <= milliseconds(0)) return tl::unexpected(NotDone{0, "reading it took too long"});
  return ObjectClient(server, left, kMostReviewPageBytes);
}

}  // namespace

kube::Result<std::optional<kube::Object>> PolicyReads::get(const kube::ResourceType& type,
                                                           const std::string& name,
                                                           TimePoint deadline) const {
  const auto client = clientUntil(*server_, deadline);
  RequestResult<std::optional<kube::Object>> object = std::nullopt;
  if (client) object = client->getServed(type, {type.type, "", name});
  const NotDone* refusal = !client ? &client.error() : !object ? &object.error() : nullptr;
  if (refusal != nullptr) return tl::unexpected(kube::Error{refusal->why, {}, {}});
  return std::move(*object);
}

RequestResult<bool> PolicyReads::list(const kube::ResourceType& type, const Listing& listing,
                                      TimePoint deadline,
                                      const std::function<bool(kube::Object object)>& take) const {
  const ObjectClient::Listing asked{client::collectionPath(type, listing.namespaceName),
                                    listing.withContent ? client::Content::Whole : client::Content::Metadata,
                                    kPageOfObjects, listing.labelSelector};
  std::string token;
  size_t seen = 0;
  do {
    const auto client = clientUntil(*server_, deadline);
    if (!client) return tl::unexpected(client.error());
    bool goesOn = true;
    auto next = client->page(asked, token, [&](client::StreamedObject object) {
      ++seen;
      goesOn = goesOn && take(client::toObject(std::move(object), type));
    });
    if (!next) return tl::unexpected(std::move(next.error()));
    if (!goesOn) return true;
    token = std::move(*next);
    if (!token.empty() && seen >= listing.most) return false;
  } while (!token.empty());
  return true;
}

}  // namespace lastout::server
