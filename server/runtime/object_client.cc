#include "server/runtime/object_client.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/value_picker.h"
#include "client/writes.h"
#include "kube/encoding.h"
#include "kube/status_reason.h"

namespace lastout::server {
namespace {

constexpr int kMostAttempts = 4;
constexpr std::chrono::milliseconds kAttemptPause{1'000};
constexpr std::chrono::milliseconds kLongestAttemptPause{30'000};
constexpr int kMostBeginnings = 20;  // of one list

bool mayPass(int code) { return code == 0 || code == kube::kTooManyRequests || code >= 500; }

NotDone notDone(const client::WholeAnswer& whole) {
  client::ServerStatus refusal = client::statusOfAnswer(whole);
  std::string why = toString(refusal);
  return {whole.answer.status, std::move(why), std::move(refusal), whole.answer.retryAfter};
}

// A failure that is no answer, or none that can be understood.
tl::unexpected<NotDone> failed(const kube::Error& error) { return tl::unexpected(NotDone{0, error.message}); }

std::string pathOf(const kube::ResourceType& type, const kube::ObjectMeta& meta) {
  return client::objectPath(type, meta.namespaceName, meta.name);
}

client::ApiRequest requestFor(std::string target, std::string_view accept = "application/json") {
  client::ApiRequest request;
  request.target = std::move(target);
  request.accept = accept;
  return request;
}

RequestResult<std::optional<kube::Object>> asObject(const kube::ResourceType& type,
                                                    std::optional<kube::Value> content) {
  if (!content) return std::nullopt;
  const kube::Value* metadata = content->find("metadata");
  if (metadata == nullptr) return tl::unexpected(NotDone{0, "the answer is no object"});
  auto meta = kube::parseMeta(*metadata, "");
  if (!meta) return failed(meta.error());
  client::StreamedObject streamed{{}, {}, std::move(*meta), std::move(*content)};
  return client::toObject(std::move(streamed), type);
}

}  // namespace

ObjectClient::ObjectClient(client::ApiServer& server, const Patience& patience)
    : server_(server), patience_(&patience), mostBytes_(kMostPageBytes) {}

ObjectClient::ObjectClient(client::ApiServer& server, std::optional<std::chrono::milliseconds> longest,
                           size_t mostBytes)
    : server_(server), patience_(nullptr), longest_(longest), mostBytes_(mostBytes) {}

RequestResult<client::WholeAnswer> ObjectClient::ask(client::ApiRequest request) const {
  if (longest_) request.patience = *longest_;
  for (int attempt = 1;; ++attempt) {
    auto whole = client::fetch(server_, request, mostBytes_);
    const int code = whole ? whole->answer.status : 0;
    if (whole && code < 300) return std::move(*whole);
    if (patience_ == nullptr || attempt == kMostAttempts || !mayPass(code)) {
      if (!whole) return failed(whole.error());
      return tl::unexpected(notDone(*whole));
    }
    const std::chrono::milliseconds asked =
        whole ? client::retryPauseOf(whole->answer) : std::chrono::seconds(0);
    if (asked > kLongestAttemptPause) return tl::unexpected(notDone(*whole));
    const std::chrono::milliseconds pause = std::max(asked, kAttemptPause);
    patience_->pause(pause);
  }
}

RequestResult<kube::Value> ObjectClient::askForObject(const client::ApiRequest& request) const {
  const auto whole = ask(request);
  if (!whole) return tl::unexpected(whole.error());
  auto object = client::pickValue(whole->body, client::Pick::All, {});
  if (!object) return failed(object.error());
  return std::move(*object);
}

RequestResult<kube::ObjectMeta> ObjectClient::askForMetadata(std::string path) const {
  const auto whole = ask(requestFor(std::move(path), client::kAcceptMetadata));
  if (!whole) return tl::unexpected(whole.error());
  auto object = client::decodeObject(whole->body, client::Content::Metadata);
  if (!object) return failed(object.error());
  return std::move(object->meta);
}

// --- one object, by its path

RequestResult<std::optional<kube::Value>> ObjectClient::read(const std::string& path) const {
  return change(requestFor(path));
}

RequestResult<std::optional<kube::ObjectMeta>> ObjectClient::readMetadata(const std::string& path) const {
  auto meta = askForMetadata(path);
  if (meta) return std::move(*meta);
  if (meta.error().code == 404) return std::nullopt;
  return tl::unexpected(std::move(meta.error()));
}

RequestResult<bool> ObjectClient::write(const client::ApiRequest& request) const {
  const auto whole = ask(request);
  if (whole) return true;
  if (whole.error().code == 404) return false;
  return tl::unexpected(whole.error());
}

RequestResult<std::optional<kube::Value>> ObjectClient::change(const client::ApiRequest& request) const {
  auto object = askForObject(request);
  if (object) return std::move(*object);
  if (object.error().code == 404) return std::nullopt;
  return tl::unexpected(std::move(object.error()));
}

// --- one object, by its key

RequestResult<std::optional<kube::Object>> ObjectClient::get(const kube::ResourceType& type,
                                                             const kube::ObjectKey& key) const {
  auto found = read(client::objectPath(type, key.namespaceName, key.name));
  if (!found) return tl::unexpected(std::move(found.error()));
  return asObject(type, std::move(*found));
}

RequestResult<std::optional<kube::Object>> ObjectClient::getServed(const kube::ResourceType& type,
                                                                   const kube::ObjectKey& key) const {
  const auto whole = ask(requestFor(client::objectPath(type, key.namespaceName, key.name)));
  if (!whole && client::isAboutObject(whole.error().refusal, key.name)) return std::nullopt;
  if (!whole) return tl::unexpected(whole.error());
  auto object = client::decodeObject(whole->body, client::Content::Whole);
  if (!object) return failed(object.error());
  return client::toObject(std::move(*object), type);
}

RequestResult<std::optional<kube::ObjectMeta>> ObjectClient::getMetadata(const kube::ResourceType& type,
                                                                         std::string_view namespaceName,
                                                                         std::string_view name) const {
  auto meta = askForMetadata(client::objectPath(type, type.namespaced ? namespaceName : "", name));
  if (meta) return std::move(*meta);
  if (client::isAboutObject(meta.error().refusal, name)) return std::nullopt;
  return tl::unexpected(std::move(meta.error()));
}

RequestResult<std::optional<kube::Object>> ObjectClient::change(const kube::ResourceType& type,
                                                                const client::ApiRequest& request) const {
  auto changed = change(request);
  if (!changed) return tl::unexpected(std::move(changed.error()));
  return asObject(type, std::move(*changed));
}

RequestResult<std::optional<kube::Object>> ObjectClient::patch(const kube::ResourceType& type,
                                                               const kube::ObjectMeta& read,
                                                               nlohmann::json change,
                                                               std::string_view subresource) const {
  change["metadata"]["uid"] = read.uid;
  change["metadata"]["resourceVersion"] = read.resourceVersion;
  std::string path = pathOf(type, read);
  if (!subresource.empty()) path.append("/").append(subresource);
  return this->change(type, client::mergePatch(std::move(path), change));
}

RequestResult<std::optional<kube::Object>> ObjectClient::setFinalizers(
    const kube::ResourceType& type, const kube::ObjectMeta& read,
    const std::vector<std::string>& finalizers) const {
  return change(type, client::finalizersPatch(pathOf(type, read), read, finalizers));
}

RequestResult<bool> ObjectClient::remove(const kube::ResourceType& type, const kube::ObjectKey& key,
                                         const std::string& uid, const std::string& resourceVersion) const {
  return write(client::deletion(client::objectPath(type, key.namespaceName, key.name), uid, resourceVersion));
}

// --- collections

RequestResult<std::string> ObjectClient::page(const Listing& listing, const std::string& token,
                                              const TakeObject& take, std::string* unread) const {
  std::string target = listing.collection + "?" + client::pageQuery(listing.most, token);
  if (!listing.selector.empty()) target += "&labelSelector=" + kube::percentEncoded(listing.selector);
  const bool isWhole = listing.content == client::Content::Whole;
  const auto whole =
      ask(requestFor(std::move(target), isWhole ? "application/json" : client::kAcceptMetadataList));
  if (!whole) return tl::unexpected(whole.error());
  std::string left;
  client::ListStream stream(listing.content, [&](client::StreamedObject object) {
    if (object.unread.empty())
      take(std::move(object));
    else
      left = whyUnread(object);
  });
  if (const auto pushed = stream.push(whole->body); !pushed) return failed(pushed.error());
  auto end = stream.finish();
  if (!end) return failed(end.error());
  if (unread == nullptr && !left.empty()) return tl::unexpected(NotDone{0, std::move(left)});
  if (unread != nullptr) *unread = std::move(left);
  return std::move(end->continueToken);
}

RequestResult<ObjectClient::Page> ObjectClient::page(const Listing& listing, const std::string& token) const {
  Page page;
  const auto take = [&page](client::StreamedObject object) { page.objects.push_back(std::move(object)); };
  auto next = this->page(listing, token, take, &page.unread);
  if (!next) return tl::unexpected(std::move(next.error()));
  page.continueToken = std::move(*next);
  return page;
}

RequestResult<void> ObjectClient::list(const Listing& listing, const TakePage& take) const {
  std::string token;
  std::string unread;
  for (int beginnings = 1;;) {
    auto page = this->page(listing, token);
    if (!page && page.error().code == 404) return {};
    const bool isForgotten = !page && page.error().code == 410 && !token.empty();
    if (!page && (!isForgotten || beginnings == kMostBeginnings)) return tl::unexpected(page.error());
    if (isForgotten) {
      ++beginnings;
      token.clear();
      continue;
    }
    take(page->objects);
    if (!page->unread.empty()) unread = std::move(page->unread);
    token = std::move(page->continueToken);
    if (token.empty() && !unread.empty()) return tl::unexpected(NotDone{0, std::move(unread)});
    if (token.empty()) return {};
  }
}

RequestResult<std::vector<kube::Object>> ObjectClient::list(const kube::ResourceType& type,
                                                            std::string_view namespaceName,
                                                            client::Content content) const {
  std::map<std::string, kube::Object> byUid;  // an object may come twice
  const auto listed = list({client::collectionPath(type, namespaceName), content},
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

}  // namespace lastout::server
