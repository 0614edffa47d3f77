#include "server/review/consistent_reader.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "client/api_server.h"
#include "client/metadata_stream.h"
#include "client/status.h"
#include "kube/api_calls.h"
#include "kube/object_references.h"
#include "kube/patterns.h"
#include "kube/value.h"
#include "kube/well_known.h"
#include "server/runtime/object_client.h"

namespace lastout::server {
namespace {

using graph::Condition;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// The first page is small, as a holder is often among the first objects; later ones cost the API server less
// for each object the larger they are.
constexpr size_t kFirstPage = 500;
constexpr size_t kLargestPage = 4'000;
constexpr int kMostLooks = 5;                    // until the watch knows of as many objects
constexpr milliseconds kLongestSilence{10'000};  // of an answer

kube::Error unread(std::string why) { return {std::move(why), {}, {}}; }

std::string tookTooLong(const kube::GroupResource& type) {
  return "reading " + toString(type) + " took too long";
}

milliseconds patienceUntil(TimePoint deadline) {
  const auto left = std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now());
  return std::clamp(left, milliseconds(1), kLongestSilence);
}

bool holds(const Condition& condition, const kube::ObjectMeta& meta) {
  if (condition.kind == Condition::Kind::Finalizer)
    return kube::hasFinalizer(meta, condition.finalizer) &&
           graph::isAbout(condition, {condition.type, meta.namespaceName, meta.name});
  return condition.uid.empty() || condition.uid == meta.uid;
}

// False when an object, by its text alone, holds none of these: most carry no finalizer that is sought, and
// to look for its name costs a small part of reading the object. JSON may write any character as an escape,
// all of which begin with a backslash.
bool mayHold(const ConsistentReader::Conditions& sought, std::string_view object) {
  if (object.find('\\') != std::string_view::npos) return true;
  return std::ranges::any_of(sought, [&](const Condition& condition) {
    std::string_view sign = condition.finalizer;
    if (kube::isWantedReference(sign))
      sign = kube::nameIn(sign);
    else if (kube::isFinalizerPattern(sign))
      sign.remove_suffix(1);
    return condition.kind != Condition::Kind::Finalizer || object.find(sign) != std::string_view::npos;
  });
}

std::set<kube::ReferenceFields> fieldsOf(const ConsistentReader::Conditions& sought) {
  std::set<kube::ReferenceFields> fields;
  for (const Condition& condition : sought)
    if (kube::isWantedReference(condition.finalizer))
      fields.insert(kube::wantedReferenceOf(condition.finalizer).fields);
  return fields;
}

// The namespace whose list has every object that may hold one of the conditions; empty: they may be in any.
std::string namespaceToList(const kube::ResourceType& type, const ConsistentReader::Conditions& conditions) {
  const std::string space = onlyNamespaceOf(*conditions.begin());
  const bool isOfAll = std::ranges::all_of(
      conditions, [&](const Condition& condition) { return onlyNamespaceOf(condition) == space; });
  return type.namespaced && isOfAll ? space : "";
}

}  // namespace

std::string onlyNamespaceOf(const Condition& condition) {
  const kube::NamespaceScope& scope = condition.scope;
  const bool isOne = scope.kind == kube::NamespaceScope::Kind::Within && scope.names.size() == 1;
  return isOne && condition.type != kube::kNamespaces ? *scope.names.begin() : "";
}

// The list that a page is part of, where the page begins, and how many objects it has at most.
struct ConsistentReader::Place {
  std::string namespaceName = {};  // empty: all
  std::string continueToken = {};  // empty: it is the first page
  size_t limit = kFirstPage;
};

// What a page says of the others.
struct ConsistentReader::Page {
  std::optional<Place> next;        // nullopt: it was the last
  std::optional<uint64_t> objects;  // of the first page: how many there are on all
};

ConsistentReader::ConsistentReader(const std::shared_ptr<client::Access>& access, const LiveView& view)
    : server_(access->newServer()), view_(view) {}

kube::Result<void> ConsistentReader::readAll(const Conditions& conditions, TimePoint deadline,
                                             const Found& found) const {
  const Condition& first = *conditions.begin();
  if (kube::isTypePattern(first.type)) return readTypes(first, deadline, found);
  const auto type = view_.find(first.type);
  if (!type) return readUnserved(first.type, deadline);
  if (first.kind == Condition::Kind::Object) return readObject(*type, first, deadline, found);
  Conditions sought = conditions;
  for (std::optional<Place> place = Place{namespaceToList(*type, conditions)}; place && !sought.empty();) {
    auto page = seekOnPage(*type, *place, sought, deadline, found);
    if (!page) return tl::unexpected(std::move(page.error()));
    place = std::move(page->next);
  }
  return sought.empty() ? kube::Result<void>() : checkLeftOut(sought, deadline);
}

// After the objects were read: what a selector leaves out by what the watch has told must not match by now.
kube::Result<void> ConsistentReader::checkLeftOut(const Conditions& conditions, TimePoint deadline) const {
  std::map<std::string, std::set<std::string>> leftOutBy;  // selectors, by the namespace
  for (const Condition& condition : conditions)
    for (const std::string& name : condition.scope.names)
      if (!condition.scope.selector.empty()) leftOutBy[name].insert(condition.scope.selector);
  if (leftOutBy.empty()) return {};
  const auto type = view_.find(kube::kNamespaces);
  if (!type) return tl::unexpected(unread("the API server does not serve namespaces"));
  bool isBehind = false;
  const Reading labels{client::Content::Metadata, false, [](std::string_view) { return true; },
                       [&](const client::StreamedObject& object) {
                         const kube::ObjectMeta& meta = object.meta;
                         const auto known = leftOutBy.find(meta.name);
                         isBehind = known != leftOutBy.end() &&
                                    std::ranges::any_of(known->second, [&](const std::string& selector) {
                                      return kube::isSelected(selector, meta.name, meta.labels);
                                    });
                         return !isBehind;
                       }};
  if (auto read = readPages(*type, deadline, labels); !read) return read;
  if (isBehind) return tl::unexpected(unread("the watch of namespaces is behind the API server"));
  return {};
}

kube::Result<void> ConsistentReader::readAgain(const Conditions& conditions, TimePoint deadline,
                                               const Found& found) const {
  if (kube::isTypePattern(conditions.begin()->type)) return readTypes(*conditions.begin(), deadline, found);
  const auto type = view_.find(conditions.begin()->type);
  if (!type) return readUnserved(conditions.begin()->type, deadline);
  Conditions sought = conditions;
  const std::string space = namespaceToList(*type, conditions);
  for (int look = 0; look < kMostLooks; ++look) {
    const auto page = seekOnPage(*type, {space}, sought, deadline, found);
    if (!page) return tl::unexpected(page.error());
    if (sought.empty()) return {};
    if (!page->next || page->objects == view_.objectCount(type->type, space))
      return checkLeftOut(sought, deadline);
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
  const Reading all{client::Content::Whole, true, [](std::string_view) { return true; },
                    [&](client::StreamedObject object) {
                      objects.push_back(client::toObject(std::move(object), *served));
                      return true;
                    }};
  if (auto read = readPages(*served, deadline, all); !read) return failed(std::move(read.error()));
  return objects;
}

// A CRD of which the view has not heard holds the condition. Types without one are those of discovery: an API
// server behind the API server can be asked no better.
kube::Result<void> ConsistentReader::readTypes(const Condition& condition, TimePoint deadline,
                                               const Found& found) const {
  const auto definitions = view_.find(kube::kCustomResourceDefinitions);
  if (!definitions) return tl::unexpected(unread("the API server does not serve CRDs"));
  const std::vector<kube::GroupResource> told = view_.wanted();
  bool isUntold = false;
  const Reading names{client::Content::Metadata, false, [](std::string_view) { return true; },
                      [&](client::StreamedObject object) {
                        const kube::GroupResource type = kube::definedBy(object.meta.name);
                        isUntold =
                            kube::meansType(condition.type, type) && !std::ranges::binary_search(told, type);
                        if (isUntold) found(condition, {definitions->type, std::move(object.meta)});
                        return !isUntold;
                      }};
  return readPages(*definitions, deadline, names);
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

// Whether its CRD is there, or, where discovery does not rule that out, an API server behind the API server
// may serve it.
kube::Result<bool> ConsistentReader::isDefined(const kube::GroupResource& type, TimePoint deadline) const {
  const auto definitions = view_.find(kube::kCustomResourceDefinitions);
  if (!definitions) return tl::unexpected(unread("the API server does not serve CRDs"));
  Condition definition;
  definition.type = kube::kCustomResourceDefinitions;
  definition.name = kube::crdKey(type).name;
  bool isThere = false;
  const auto read =
      readObject(*definitions, definition, deadline, [&](const auto&, const auto&) { isThere = true; });
  if (!read) return tl::unexpected(read.error());
  if (isThere || (!view_.gapIn(type.group) && !view_.find(type))) return isThere;
  return isAggregated(type.group, deadline);
}

// Such an API server may answer 404 while it starts.
kube::Result<bool> ConsistentReader::isAggregated(const std::string& group, TimePoint deadline) const {
  const auto type = view_.find(kube::kApiServices);
  if (!type) return false;
  const auto apis = ObjectClient(*server_, patienceUntil(deadline)).list(*type, "", client::Content::Whole);
  if (!apis) return tl::unexpected(unread("reading " + toString(type->type) + ": " + apis.error().why));
  return std::ranges::any_of(*apis, [&](const kube::Object& api) {
    return kube::textAt(api.content, {"spec", "group"}) == group && kube::aggregatedServerOf(api.content);
  });
}

kube::Result<void> ConsistentReader::readObject(const kube::ResourceType& type, const Condition& condition,
                                                TimePoint deadline, const Found& found) const {
  // At the place that the condition names, also where that is none of its type: with a namespace for a
  // cluster-scoped one, or without for another. What is not found elsewhere is not known to be gone.
  auto meta = ObjectClient(*server_, patienceUntil(deadline))
                  .askForMetadata(client::objectPath(type, condition.namespaceName, condition.name));
  if (!meta && meta.error().code == 0) return tl::unexpected(unread(std::move(meta.error().why)));
  if (steady_clock::now() > deadline) return tl::unexpected(unread(tookTooLong(type.type)));
  if (meta) {
    if (holds(condition, *meta)) found(condition, {type.type, std::move(*meta)});
    return {};
  }
  const NotDone& refusal = meta.error();
  if (client::isAboutObject(refusal.refusal, condition.name)) return {};
  if (isUndefined(type.type, refusal.code, deadline)) return {};
  return tl::unexpected(unread("reading " + toString(type.type) + ": " + refusal.why));
}

// What is found is sought no longer; when nothing is sought any more the page is not read to its end.
kube::Result<ConsistentReader::Page> ConsistentReader::seekOnPage(const kube::ResourceType& type,
                                                                  const Place& place, Conditions& sought,
                                                                  TimePoint deadline,
                                                                  const Found& found) const {
  const std::set<kube::ReferenceFields> fields = fieldsOf(sought);
  return readPage(type, place, deadline,
                  {fields.empty() ? client::Content::Metadata : client::Content::Whole, false,
                   [&](std::string_view object) { return mayHold(sought, object); },
                   [&](client::StreamedObject object) {
                     object.meta.references =
                         kube::referencesIn(object.content, object.meta.namespaceName, fields);
                     std::erase_if(sought, [&](const Condition& condition) {
                       if (!holds(condition, object.meta)) return false;
                       found(condition, {type.type, object.meta});
                       return true;
                     });
                     return !sought.empty();
                   }});
}

// The objects of all namespaces, until `reading` has seen enough.
kube::Result<void> ConsistentReader::readPages(const kube::ResourceType& type, TimePoint deadline,
                                               const Reading& reading) const {
  for (std::optional<Place> place = Place(); place;) {
    auto page = readPage(type, *place, deadline, reading);
    if (!page) return tl::unexpected(std::move(page.error()));
    place = std::move(page->next);
  }
  return {};
}

// All pages of one list are of one moment. It is no page of an ObjectClient: what is not sought is passed
// over as it comes, unread and not kept, so that there is no limit to its bytes; it is read no further once
// all that is sought is found; and what counts is the time it takes on all, not the longest silence.
kube::Result<ConsistentReader::Page> ConsistentReader::readPage(const kube::ResourceType& type,
                                                                const Place& place, TimePoint deadline,
                                                                const Reading& reading) const {
  bool wantsMore = true;
  std::string left;  // why an object could not be read
  client::ListStream list(
      reading.content, [&](std::string_view object) { return wantsMore && reading.wants(object); },
      [&](client::StreamedObject object) {
        if (object.unread.empty())
          wantsMore = reading.take(std::move(object));
        else
          left = "reading " + toString(type.type) + ": " + whyUnread(object);
      });
  kube::Result<void> pushed;
  std::string refusal;
  client::ApiRequest request;
  request.target = client::collectionPath(type, place.namespaceName) + "?" +
                   client::pageQuery(place.limit, place.continueToken);
  if (reading.content == client::Content::Metadata) request.accept = client::kAcceptMetadataList;
  request.patience = patienceUntil(deadline);
  const auto answer = server_->exchange(request, [&](int status, std::string_view piece) {
    if (status == 200) pushed = list.push(piece);
    if (status != 200 && refusal.size() < client::kMostRefusalBytes) refusal.append(piece);
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
  if (!left.empty() && !reading.passesOverUnread) return tl::unexpected(unread(std::move(left)));
  Page page;
  if (end->remaining && *end->remaining >= 0)
    page.objects = list.items() + static_cast<uint64_t>(*end->remaining);
  if (!end->continueToken.empty())
    page.next =
        Place{place.namespaceName, std::move(end->continueToken), std::min(2 * place.limit, kLargestPage)};
  return page;
}

}  // namespace lastout::server
