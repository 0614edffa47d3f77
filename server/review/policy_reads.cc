#include "server/review/policy_reads.h"

#include <chrono>
#include <utility>

#include "server/runtime/object_client.h"

namespace lastout::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

tl::unexpected<kube::Error> unreadable(std::string why) {
  return tl::unexpected(kube::Error{std::move(why), {}, {}});
}

// Fails once it is too late.
kube::Result<ObjectClient> clientUntil(client::ApiServer& server, TimePoint deadline) {
  const auto left = std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now());
  if (left <= milliseconds(0)) return unreadable("reading it took too long");
  return ObjectClient(server, left, kMostReviewPageBytes);
}

}  // namespace

kube::Result<std::optional<kube::Object>> PolicyReads::get(const kube::ResourceType& type,
                                                           const std::string& name,
                                                           TimePoint deadline) const {
  const auto client = clientUntil(*server_, deadline);
  if (!client) return tl::unexpected(client.error());
  auto object = client->getServed(type, {type.type, "", name});
  if (!object) return unreadable(std::move(object.error().why));
  return std::move(*object);
}

kube::Result<bool> PolicyReads::list(const kube::ResourceType& type, const Listing& listing,
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
    if (!next) return unreadable(std::move(next.error().why));
    if (!goesOn) return true;
    token = std::move(*next);
    if (!token.empty() && seen >= listing.most) return false;
  } while (!token.empty());
  return true;
}

}  // namespace lastout::server
