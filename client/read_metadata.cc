#include "client/read_metadata.h"

#include "client/fetch.h"
#include "client/metadata_stream.h"

namespace lastout::client {

namespace {

constexpr size_t kMostMetadataBytes = size_t{4} << 20;

}  // namespace

tl::expected<std::optional<kube::ObjectMeta>, std::string> readMetadata(ApiServer& server,
                                                                        const kube::ResourceType& type,
                                                                        std::string_view namespaceName,
                                                                        std::string_view name,
                                                                        std::chrono::milliseconds patience) {
  ApiRequest request;
  request.target = objectPath(type, type.namespaced ? namespaceName : "", name);
  request.accept = kAcceptMetadata;
  request.patience = patience;
  const auto whole = fetch(server, request, kMostMetadataBytes);
  if (!whole) return tl::unexpected(whole.error().message);
  if (whole->answer.status != 200) {
    const ServerStatus refusal = statusOfAnswer(*whole);
    if (whole->answer.status == 404 && isAboutObject(refusal, name)) return std::nullopt;
    return tl::unexpected(toString(refusal));
  }
  auto object = decodeObject(whole->body, Content::Metadata);
  if (!object) return tl::unexpected(object.error().message);
  return std::move(object->meta);
}

}  // namespace lastout::client
