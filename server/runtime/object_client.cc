#include "server/runtime/object_client.h"

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/writes.h"

namespace lastout::server {
namespace {

constexpr size_t kObjectPage = 500;

std::string pathOf(const kube::ResourceType& type, const kube::ObjectMeta& meta) {
  return client::objectPath(type, meta.namespaceName, meta.name);
}

Answered<std::optional<kube::Object>> asObject(const kube::ResourceType& type,
                                               std::optional<kube::Value> content) {
  if (!content) return std::nullopt;
  const kube::Value* metadata = content->find("metadata");
  if (metadata == nullptr) return tl::unexpected(NotDone{0, "the answer is no object"});
  auto meta = kube::parseMeta(*metadata, "");
  if (!meta) return tl::unexpected(NotDone{0, meta.error().message});
  client::StreamedObject streamed{{}, {}, std::move(*meta), std::move(*content)};
  return client::toObject(std::move(streamed), type);
}

}  // namespace

Answered<std::optional<kube::Object>> ObjectClient::get(const kube::ResourceType& type,
                                                        const kube::ObjectKey& key) const {
  auto read = requests_.read(client::objectPath(type, key.namespaceName, key.name));
  if (!read) return tl::unexpected(read.error());
  return asObject(type, std::move(*read));
}

Answered<std::vector<kube::Object>> ObjectClient::list(const kube::ResourceType& type,
                                                       std::string_view namespaceName,
                                                       client::Content content) const {
  std::map<std::string, kube::Object> byUid;  // an object may come twice
  const auto listed = requests_.list(client::collectionPath(type, namespaceName), content, kObjectPage,
                                     [&](const std::vector<client::StreamedObject>& page) {
                                       for (const client::StreamedObject& one : page)
                                         byUid.insert_or_assign(one.meta.uid, client::toObject(one, type));
                                     });
  if (!listed) return tl::unexpected(listed.error());
  std::vector<kube::Object> objects;
  objects.reserve(byUid.size());
  for (auto& [uid, object] : byUid) objects.push_back(std::move(object));
  return objects;
}

Answered<std::optional<kube::Object>> ObjectClient::change(const kube::ResourceType& type,
                                                           const client::ApiRequest& request) const {
  auto changed = requests_.change(request);
  if (!changed) return tl::unexpected(changed.error());
  return asObject(type, std::move(*changed));
}

Answered<std::optional<kube::Object>> ObjectClient::patch(const kube::ResourceType& type,
                                                          const kube::ObjectMeta& read, nlohmann::json change,
                                                          std::string_view subresource) const {
  change["metadata"]["uid"] = read.uid;
  change["metadata"]["resourceVersion"] = read.resourceVersion;
  std::string path = pathOf(type, read);
  if (!subresource.empty()) path.append("/").append(subresource);
  return this->change(type, client::mergePatch(std::move(path), change));
}

Answered<std::optional<kube::Object>> ObjectClient::setFinalizers(
    const kube::ResourceType& type, const kube::ObjectMeta& read,
    const std::vector<std::string>& finalizers) const {
  return change(type, client::finalizersPatch(pathOf(type, read), read, finalizers));
}

Answered<bool> ObjectClient::remove(const kube::ResourceType& type, const kube::ObjectKey& key,
                                    const std::string& uid, const std::string& resourceVersion) const {
  return requests_.write(
      client::deletion(client::objectPath(type, key.namespaceName, key.name), uid, resourceVersion));
}

}  // namespace lastout::server
