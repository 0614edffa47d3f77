#include "server/consistent_reader.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "client/fetch.h"
#include "client/metadata_stream.h"
#include "client/status.h"

namespace lastout::server {
namespace {

using graph::Condition;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr size_t kPage = 500;
constexpr int kMostLooks = 5;                    // until the watch knows of as many objects
constexpr milliseconds kLongestSilence{10'000};  // of an answer
constexpr size_t kMostRefusalBytes = 4'096;

kube::Error unread(std::string why) { return {std::move(why), {}, {}}; }

std::string tookTooLong(const kube::GroupResource& type) {
  return "reading " + toString(type) + " took too long";
}

client::ApiRequest requestFor(std::string target, std::string_view accept, TimePoint deadline) {
  client::ApiRequest request;
  request.target = std::move(target);
  request.accept = accept;
  const auto left = std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now());
  request.patience = std::clamp(left, milliseconds(1), kLongestSilence);
  return request;
}

bool holds(const Condition& condition, const kube::ObjectMeta& meta) {
  if (condition.kind == Condition::Kind::Finalizer) return kube::hasFinalizer(meta, condition.finalizer);
  return condition.uid.empty() || condition.uid == meta.uid;
}

}  // namespace

// What a page says of the others.
struct ConsistentReader::Page {
  std::string continueToken;        // empty: it was the last
  std::optional<uint64_t> objects;  // of the first page: how many there are on all
};

ConsistentReader::ConsistentReader(const std::shared_ptr<client::Access>& access, const LiveView& view)
    : server_(access->newServer()), view_(view) {}

kube::Result<void> ConsistentReader::readAll(const Conditions& conditions, TimePoint deadline,
                                             const Found& found) const {
  const Condition& first = *conditions.begin();
  const auto type = view_.find(first.type);
  if (!type) return readUnserved(first.type, deadline);
  if (first.kind == Condition::Kind::Object) return readObject(*type, first, deadline, found);
  Conditions sought = conditions;
  std::string token;
  do {
    auto page = seekOnPage(*type, token, sought, deadline, found);
    if (!page) return tl::unexpected(std::move(page.error()));
    token = std::move(page->continueToken);
  } while (!token.empty() && !sought.empty());
  return {};
}

kube::Result<void> ConsistentReader::readAgain(const Conditions& conditions, TimePoint deadline,
                                               const Found& found) const {
  const auto type = view_.find(conditions.begin()->type);
  if (!type) return readUnserved(conditions.begin()->type, deadline);
  Conditions sought = conditions;
  for (int look = 0; look < kMostLooks; ++look) {
    const auto page = seekOnPage(*type, {}, sought, deadline, found);
    if (!page) return tl::unexpected(page.error());
    if (page->continueToken.empty() || sought.empty()) return {};
    if (page->objects == view_.objectCount(type->type)) return {};
  }
  return tl::unexpected(unread("the watch of " + toString(type->type) + " is behind the API server"));
}

kube::Result<std::vector<kube::Object>> ConsistentReader::readObjects(const kube::GroupResource& type,
                                                                      TimePoint deadline) const {
  std::vector<kube::Object> objects;
  // What cannot be read may be so because there can be none.
  const auto failed = [&](kube::Error why) -> kube::Result<std::vector<kube::Object>> {
    const auto defined = isDefined(type, deadline);
    if (defined && !*defined) return std::vector<kube::Object>();
    return tl::unexpected(std::move(why));
  };
  const auto served = view_.find(type);
  if (!served) return failed(unread("the API server does not serve " + toString(type)));
  std::string token;
  do {
    auto page =
        readPage(*served, client::Content::Whole, token, deadline, [&](client::StreamedObject object) {
          objects.push_back(client::toObject(std::move(object), *served));
          return true;
        });
    if (!page) return failed(std::move(page.error()));
    token = std::move(page->continueToken);
  } while (!token.empty());
  return objects;
}

// Nothing of a type is there when its CRD is not.
kube::Result<void> ConsistentReader::readUnserved(const kube::GroupResource& type, TimePoint deadline) const {
  if (view_.knowledge(type) != graph::Knowledge::Absent && !view_.wasDefined(type))
    return tl::unexpected(unread("the API server does not serve " + toString(type)));
  const auto defined = isDefined(type, deadline);
  if (!defined) return tl::unexpected(defined.error());
  if (*defined)
    return tl::unexpected(unread("the API server does not serve " + toString(type) + ", whose CRD is there"));
  return {};
}

// What is answered where the type is not served. Its CRD may have gone so lately that discovery, or the
// watch, has not told.
bool ConsistentReader::isUndefined(const kube::GroupResource& type, int status, TimePoint deadline) const {
  if (status != 404 || !view_.wasDefined(type)) return false;
  const auto defined = isDefined(type, deadline);
  return defined && !*defined;
}

// Whether its CRD is there.
kube::Result<bool> ConsistentReader::isDefined(const kube::GroupResource& type, TimePoint deadline) const {
  const auto definitions = view_.find(kube::crdType());
  if (!definitions) return tl::unexpected(unread("the API server does not serve CRDs"));
  Condition definition;
  definition.type = kube::crdType();
  definition.name = kube::crdKey(type).name;
  bool isThere = false;
  const auto read =
      readObject(*definitions, definition, deadline, [&](const auto&, const auto&) { isThere = true; });
  if (!read) return tl::unexpected(read.error());
  return isThere;
}

kube::Result<void> ConsistentReader::readObject(const kube::ResourceType& type, const Condition& condition,
                                                TimePoint deadline, const Found& found) const {
  const auto request = requestFor(client::objectPath(type, condition.namespaceName, condition.name),
                                  client::kAcceptMetadata, deadline);
  const auto whole = client::fetch(*server_, request);
  if (!whole) return tl::unexpected(whole.error());
  if (steady_clock::now() > deadline) return tl::unexpected(unread(tookTooLong(type.type)));
  if (whole->answer.status == 200) {
    auto object = client::decodeObject(whole->body, client::Content::Metadata);
    if (!object) return tl::unexpected(std::move(object.error()));
    if (holds(condition, object->meta)) found(condition, {type.type, std::move(object->meta)});
    return {};
  }
  const auto status = client::statusOfAnswer(*whole);
  if (status.code == 404 && client::isAboutObject(status, condition.name)) return {};
  if (isUndefined(type.type, whole->answer.status, deadline)) return {};
  return tl::unexpected(unread("reading " + toString(type.type) + ": " + toString(status)));
}

// What is found is sought no longer; when nothing is sought any more the page is not read to its end.
kube::Result<ConsistentReader::Page> ConsistentReader::seekOnPage(const kube::ResourceType& type,
                                                                  const std::string& continueToken,
                                                                  Conditions& sought, TimePoint deadline,
                                                                  const Found& found) const {
  return readPage(type, client::Content::Metadata, continueToken, deadline,
                  [&](const client::StreamedObject& object) {
                    std::erase_if(sought, [&](const Condition& condition) {
                      if (!holds(condition, object.meta)) return false;
                      found(condition, {type.type, object.meta});
                      return true;
                    });
                    return !sought.empty();
                  });
}

// All pages of one list are of one moment.
kube::Result<ConsistentReader::Page> ConsistentReader::readPage(const kube::ResourceType& type,
                                                                client::Content content,
                                                                const std::string& continueToken,
                                                                TimePoint deadline, const Take& take) const {
  uint64_t objects = 0;
  bool wantsMore = true;
  client::ListStream list(content, [&](client::StreamedObject object) {
    ++objects;
    if (wantsMore) wantsMore = take(std::move(object));
  });
  kube::Result<void> pushed;
  std::string refusal;
  const std::string path = client::collectionPath(type) + "?limit=" + std::to_string(kPage);
  const auto request = requestFor(
      continueToken.empty() ? path : path + "&continue=" + client::percentEncoded(continueToken),
      content == client::Content::Whole ? "application/json" : client::kAcceptMetadataList, deadline);
  const auto answer = server_->exchange(request, [&](int status, std::string_view piece) {
    if (status == 200) pushed = list.push(piece);
    if (status != 200 && refusal.size() < kMostRefusalBytes) refusal.append(piece);
    return pushed && wantsMore && steady_clock::now() <= deadline;
  });
  if (!wantsMore) return Page();
  if (!pushed) return tl::unexpected(std::move(pushed.error()));
  if (!answer) return tl::unexpected(answer.error());
  if (steady_clock::now() > deadline) return tl::unexpected(unread(tookTooLong(type.type)));
  if (isUndefined(type.type, answer->status, deadline)) return Page();
  if (answer->status != 200)
    return tl::unexpected(unread("reading " + toString(type.type) + ": " +
                                 toString(client::statusOfAnswer(answer->status, refusal))));
  auto end = list.finish();
  if (!end) return tl::unexpected(std::move(end.error()));
  Page page{std::move(end->continueToken), {}};
  if (end->remaining && *end->remaining >= 0) page.objects = objects + static_cast<uint64_t>(*end->remaining);
  return page;
}

}  // namespace lastout::server
