#include "server/review/policy_reads.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "client/fetch.h"
#include "client/status.h"
#include "kube/encoding.h"

namespace lastout::server {
namespace {

using std::chrono::steady_clock;

constexpr size_t kLargestPageBytes = size_t{32} << 20;

tl::unexpected<kube::Error> unreadable(std::string why) {
  return tl::unexpected(kube::Error{std::move(why), {}, {}});
}

// Fails once it is too late.
kube::Result<client::WholeAnswer> ask(client::ApiServer& server, std::string target, std::string_view accept,
                                      TimePoint deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - steady_clock::now());
  if (left <= std::chrono::milliseconds(0)) return unreadable("reading it took too long");
  client::ApiRequest request;
  request.target = std::move(target);
  request.accept = accept;
  request.patience = left;
  return client::fetch(server, request, kLargestPageBytes);
}

}  // namespace

kube::Result<std::optional<kube::Object>> PolicyReads::get(const kube::ResourceType& type,
                                                           const std::string& name,
                                                           TimePoint deadline) const {
  const auto whole = ask(*server_, client::objectPath(type, "", name), "application/json", deadline);
  if (!whole) return tl::unexpected(whole.error());
  if (whole->answer.status >= 300) {
    const client::ServerStatus status = client::statusOfAnswer(*whole);
    if (status.code == 404 && client::isAboutObject(status, name)) return std::nullopt;
    return unreadable(toString(status));
  }
  auto object = client::decodeObject(whole->body, client::Content::Whole);
  if (!object) return tl::unexpected(std::move(object.error()));
  return client::toObject(std::move(*object), type);
}

kube::Result<bool> PolicyReads::list(const kube::ResourceType& type, const Listing& listing,
                                     TimePoint deadline,
                                     const std::function<bool(kube::Object object)>& take) const {
  const std::string first =
      client::collectionPath(type, listing.namespaceName) + "?limit=" + std::to_string(kPageOfObjects) +
      (listing.labelSelector.empty() ? "" : "&labelSelector=" + kube::percentEncoded(listing.labelSelector));
  const client::Content content = listing.withContent ? client::Content::Whole : client::Content::Metadata;
  const std::string_view accept = listing.withContent ? "application/json" : client::kAcceptMetadataList;
  std::string token;
  size_t seen = 0;
  do {
    const auto whole =
        ask(*server_, token.empty() ? first : first + "&continue=" + kube::percentEncoded(token), accept,
            deadline);
    if (!whole) return tl::unexpected(whole.error());
    if (whole->answer.status >= 300) return unreadable(toString(client::statusOfAnswer(*whole)));
    bool goesOn = true;
    client::ListStream stream(content, [&](client::StreamedObject object) {
      ++seen;
      goesOn = goesOn && take(client::toObject(std::move(object), type));
    });
    if (const auto pushed = stream.push(whole->body); !pushed) return tl::unexpected(pushed.error());
    auto end = stream.finish();
    if (!end) return tl::unexpected(std::move(end.error()));
    if (!goesOn) return true;
    token = std::move(end->continueToken);
    if (!token.empty() && seen >= listing.most) return false;
  } while (!token.empty());
  return true;
}

}  // namespace lastout::server
